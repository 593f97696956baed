import ast
import dataclasses
from pathlib import Path
from typing import Any

import pytest

import deskhand
from deskhand.errors import ConfigError
from deskhand.model.outcome import EffectClass, IdempotencyClass, RiskLevel
from deskhand.tools import Context, Tool, ToolRegistry, tool, tool_probe


async def find_refund(key: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    return None


@tool(effect="read")
async def search_drugs(query: str, limit: int = 5) -> dict[str, Any]:
    """Search the drug database.

    Args:
        query: Name or substance.
    """
    return {}


@tool(effect="keyed", risk="high", timeout=2, name="refund-order", probe=find_refund)
def refund(order: str, ctx: Context) -> None:
    """Refund an order."""


def test_a_tool_says_what_it_is() -> None:
    assert (search_drugs.name, search_drugs.description) == (
        "search_drugs",
        "Search the drug database.",
    )
    assert (search_drugs.effect, search_drugs.risk, search_drugs.timeout) == (
        EffectClass.READ,
        RiskLevel.LOW,
        30.0,
    )
    assert search_drugs.idempotency is IdempotencyClass.SAFE
    assert not search_drugs.changes_something
    assert (refund.name, refund.timeout, refund.probe) == ("refund-order", 2, find_refund)
    assert refund.idempotency is IdempotencyClass.NON_IDEMPOTENT
    assert refund.place.file == __file__


def test_the_spec_is_in_the_openai_function_format() -> None:
    assert search_drugs.spec == {
        "type": "function",
        "function": {
            "name": "search_drugs",
            "description": "Search the drug database.",
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "Name or substance."},
                    "limit": {"type": "integer", "description": "(default: 5)"},
                },
                "required": ["query"],
                "additionalProperties": False,
            },
        },
    }


def test_a_tool_cannot_be_changed_through_its_schema() -> None:
    search_drugs.parameters["properties"].clear()
    search_drugs.spec["function"]["parameters"].clear()
    assert list(search_drugs.parameters["properties"]) == ["query", "limit"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        search_drugs.name = "other"  # type: ignore[misc]


def test_a_tool_cannot_be_called_directly() -> None:
    with pytest.raises(TypeError, match="only the gate may run it"):
        search_drugs("aspirin")


def test_only_the_gate_and_the_registry_touch_handlers() -> None:
    root = Path(deskhand.__file__).parent
    users: dict[str, set[str]] = {}
    for path in root.rglob("*.py"):
        name = path.relative_to(root).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                "deskhand.tools.handlers"
            ):
                users.setdefault(name, set()).update(alias.name for alias in node.names)
            if isinstance(node, ast.ImportFrom) and node.module == "deskhand.tools":
                assert "handlers" not in {alias.name for alias in node.names}, name
            if isinstance(node, ast.Import):
                assert "deskhand.tools.handlers" not in {alias.name for alias in node.names}, name
            if isinstance(node, ast.Attribute | ast.Name):
                word = node.attr if isinstance(node, ast.Attribute) else node.id
                if word in ("handler_of", "keep_handler", "_handlers"):
                    assert name in ("tools/gate.py", "tools/registry.py", "tools/handlers.py"), (
                        f"{name} uses {word}"
                    )
    assert users == {"tools/gate.py": {"handler_of"}, "tools/registry.py": {"keep_handler"}}


def undocumented(value: int) -> None: ...


def only_args(value: int) -> None:
    """Args:
    value: A number.
    """


def untyped(value) -> None:  # type: ignore[no-untyped-def]
    """Does."""


def fine(value: int) -> None:
    """Does."""


def yields() -> Any:
    """Yields."""
    yield 1


def sync_probe(key: str, arguments: dict[str, Any]) -> None: ...


async def short_probe(key: str) -> None: ...


@pytest.mark.parametrize(
    ("function", "settings", "words"),
    [
        (undocumented, {"effect": "read"}, "no docstring"),
        (only_args, {"effect": "read"}, "no docstring"),
        (untyped, {"effect": "read"}, "'value' has no type"),
        (yields, {"effect": "read"}, "yields"),
        (fine, {"effect": "none"}, "one of read, reversible, keyed, irreversible"),
        (fine, {"effect": "read", "risk": "huge"}, "one of low, medium, high, critical"),
        (fine, {"effect": "read", "timeout": 0}, "timeout"),
        (fine, {"effect": "read", "name": "do it"}, "no tool name"),
        (fine, {"effect": "read", "probe": find_refund}, "needs no probe"),
        (fine, {"effect": "keyed", "probe": sync_probe}, "async"),
        (fine, {"effect": "keyed", "probe": short_probe}, "two arguments"),
    ],
)
def test_a_mistake_is_reported_with_file_and_line(
    function: Any, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        tool(**settings)(function)
    assert caught.value.file == __file__
    where = settings["probe"] if words in ("async", "two arguments") else function
    assert caught.value.line == where.__code__.co_firstlineno


def test_a_tool_is_made_of_a_function() -> None:
    with pytest.raises(ConfigError, match="goes on a function"):
        tool(effect="read")(Tool)
    assert tool_probe(find_refund) is find_refund


def test_the_registry_finds_exact_names_only() -> None:
    registry = ToolRegistry([search_drugs, refund])
    assert registry.names == ("search_drugs", "refund-order")
    assert registry.get("search_drugs") is search_drugs
    assert registry.get("search_drug") is None
    assert registry.get("SEARCH_DRUGS") is None
    assert "refund-order" in registry
    assert len(registry) == 2


def test_specs_come_in_the_order_asked_for() -> None:
    registry = ToolRegistry([search_drugs, refund])
    assert registry.specs(["refund-order", "search_drugs"]) == [refund.spec, search_drugs.spec]
    assert registry.specs() == [search_drugs.spec, refund.spec]
    assert registry.specs([]) == []
    with pytest.raises(ConfigError, match="did you mean 'search_drugs'"):
        registry.specs(["serach_drugs"])
    with pytest.raises(ConfigError, match="known tools: search_drugs, refund-order"):
        registry.specs(["zzz"])


def test_a_second_tool_of_the_same_name_is_refused() -> None:
    registry = ToolRegistry([search_drugs])
    with pytest.raises(ConfigError, match="already"):
        registry.register(search_drugs)
    with pytest.raises(ConfigError, match="is not a tool"):
        registry.register(find_refund)  # type: ignore[arg-type]
