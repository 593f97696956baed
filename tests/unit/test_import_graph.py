"""The imports between the package's files: no circles, and layers as CONTRIBUTING.md lists them."""

import ast
import importlib
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]

Imports = dict[str, set[str]]
"""Each module with the modules it imports."""


@pytest.fixture(scope="module")
def imports() -> Imports:
    """All imports of the package, inside functions and under TYPE_CHECKING too."""
    graph = grimp.build_graph("deskhand", exclude_type_checking_imports=False, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def test_imports_between_files_form_no_circle(imports: Imports) -> None:
    circles = [" -> ".join(circle) for circle in _circles(imports)]
    assert not circles, "files import each other in a circle:\n" + "\n".join(circles)


def test_a_circle_is_shown_module_by_module() -> None:
    imports: Imports = {
        "entry": {"first"},
        "first": {"second", "leaf"},
        "second": {"third"},
        "third": {"first", "leaf"},
        "leaf": set(),
    }
    assert list(_circles(imports)) == [["first", "second", "third", "first"]]


def test_contributing_lists_the_layers_that_are_checked() -> None:
    assert _layers_in_contributing() == _layers_in_pyproject()


def _circles(imports: Imports) -> Iterator[list[str]]:
    """At least one circle where there is any; its first module is named again at the end."""
    remaining = {module: set(imported) for module, imported in imports.items()}
    while leaves := [module for module, imported in remaining.items() if not imported]:
        for leaf in leaves:
            del remaining[leaf]
        for imported in remaining.values():
            imported.difference_update(leaves)

    # What is left lies on a circle or leads to one.
    seen: set[str] = set()
    for module in sorted(remaining):
        way: list[str] = []
        here = module
        while here not in seen:
            seen.add(here)
            way.append(here)
            here = min(remaining[here])
        if here in way:
            yield [*way[way.index(here) :], here]


def _layers_in_pyproject() -> list[list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each["name"] == "Imports flow down only")
    return [_rooms(layer) for layer in layers]


def _layers_in_contributing() -> list[list[str]]:
    """The rooms before each explanation in the block under the heading "Layers"."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    block = text.partition("## Layers")[2].split("```")[1]
    return [_rooms(line.partition("  ")[0]) for line in block.strip().splitlines()]


def _rooms(layer: str) -> list[str]:
    return [room.strip() for room in layer.split("|")]


def test_scripts_import_what_there_is() -> None:
    """They are run now and then only, and no type check reads them: a name that was changed
    elsewhere would break them unseen."""
    missing: list[str] = []
    for file in sorted((ROOT / "scripts").rglob("*.py")):
        for module, name in _imported_names(file):
            if not _is_there(module, name):
                missing.append(f"{file.relative_to(ROOT)}: {module}.{name}")
    assert missing == []


def _imported_names(file: Path) -> Iterator[tuple[str, str]]:
    """The names that a file takes from the package and from the tests."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        if node.module.partition(".")[0] in ("deskhand", "tests"):
            yield from ((node.module, alias.name) for alias in node.names)


def _is_there(module: str, name: str) -> bool:
    with suppress(ModuleNotFoundError):
        if hasattr(importlib.import_module(module), name):
            return True
        importlib.import_module(f"{module}.{name}")
        return True
    return False
