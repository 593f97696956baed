"""Whatever is written into a desk.yaml, it loads or is refused in words; the schema accepts all
that loads."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from deskhand.config.desk import load_desk
from deskhand.config.diagram import flow_mermaid, flow_text
from deskhand.config.yaml import read_yaml
from deskhand.errors import ConfigErrors
from tests.shared_schema import shared_schema
from tests.unit.config.conftest import INBOX, PROMPTS, SERVICES, TOOLS

VALIDATOR = Draft202012Validator(shared_schema())
words = st.sampled_from(
    [
        "classify",
        "end",
        "fast",
        "review",
        "clarify",
        "draft",
        "when",
        "a b",
        "",
        "{{",
        "ü",
        "\u0085",
    ]
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("desk")
    (folder / "prompts").mkdir()
    for name, text in PROMPTS.items():
        (folder / "prompts" / name).write_text(text)
    return folder


def inbox(folder: Path) -> dict[str, Any]:
    (folder / "desk.yaml").write_text(INBOX)
    return read_yaml(folder / "desk.yaml").data


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every key and index of nested data, with what holds it."""
    keys: list[Any] = []
    if isinstance(node, dict):
        keys = list(node)
    elif isinstance(node, list):
        keys = list(range(len(node)))
    return [place for key in keys for place in [(node, key), *places(node[key])]]


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.data())
@pytest.mark.slow
def test_a_desk_with_anything_anywhere_loads_or_is_refused_in_words(
    folder: Path, data: st.DataObject
) -> None:
    check_any_desk(folder, data)


@settings(
    max_examples=1_000, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.data())
@pytest.mark.chaos
def test_a_thousand_such_desks(folder: Path, data: st.DataObject) -> None:
    check_any_desk(folder, data)


def check_any_desk(folder: Path, data: st.DataObject) -> None:
    written = copy.deepcopy(inbox(folder))
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(places(written)))
        match data.draw(st.sampled_from(["replace", "remove", "add"])):
            case "remove":
                del holder[key]
            case "add" if isinstance(holder, dict):
                holder[data.draw(words)] = data.draw(values)
            case _:
                holder[key] = data.draw(values)
    (folder / "desk.yaml").write_text(json.dumps(written))
    spec, problems = None, []
    try:
        spec = load_desk(folder, tools=TOOLS, services=SERVICES)
    except ConfigErrors as error:
        problems = error.problems
    assert all(problem.file and problem.fix and problem.problem for problem in problems)
    if spec is not None:
        VALIDATOR.validate(written)
        assert all(flow_text(flow) and flow_mermaid(flow) for flow in spec.flows.values())
