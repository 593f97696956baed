"""The JSON Schema editors use agrees with what load_desk accepts."""

import copy
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from deskhand.conditions import OPERATORS
from deskhand.config.yaml import read_yaml
from tests.shared_schema import shared_schema
from tests.unit.config.conftest import INBOX, Desk

SCHEMA = shared_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
SMALL: dict[str, Any] = {
    "desk": "d",
    "flows": {"main": {"stages": {"work": {"service": "dispatch"}}}},
}


def with_stage(**keys: Any) -> dict[str, Any]:
    data = copy.deepcopy(SMALL)
    data["flows"]["main"]["stages"]["work"].update(keys)
    return data


def test_it_is_a_schema_of_draft_2020_12() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(SCHEMA)


def test_a_full_desk_is_valid(desk: Desk) -> None:
    VALIDATOR.validate(read_yaml(desk(INBOX) / "desk.yaml").data)


@pytest.mark.parametrize(
    "data",
    [
        SMALL,
        {**SMALL, "brain": "llm"},
        {**SMALL, "brain": {"scripted": "rules.yaml"}},
        {**SMALL, "brain": "embedded"},
        {**SMALL, "brain": {"cascade": {"classify": 0.7, "draft": "llm"}, "redact": True}},
        {**SMALL, "brain": {"redact": {"order": "P-[0-9]{4}"}, "signature": "Your shop"}},
        {
            **SMALL,
            "plans": {
                "refund": {
                    "needs": ["order"],
                    "ask": {"order": {"en": "Which?"}},
                    "tell": ["status"],
                }
            },
        },
        with_stage(routes=[{"when": {"a": 1}, "to": "end"}]),
        with_stage(
            routes=[
                {"condition": "a", "value": None, "target": "end"},
                {"condition": "b", "target": "end"},
            ]
        ),
        with_stage(
            routes=[
                {"when": {"any": [{"a": {"is": [1]}}, {"not": {"b": "x"}}]}, "outcome": "terminate"}
            ]
        ),
        with_stage(
            routes=[{"when": {"a": {"at_least": 1, "below": 2}}, "outcome": "clarify", "ask": "?"}]
        ),
    ],
)
def test_valid_desks_are_valid(data: dict[str, Any]) -> None:
    VALIDATOR.validate(data)


@pytest.mark.parametrize(
    "data",
    [
        {"desk": "d"},
        {"flows": SMALL["flows"]},
        {**SMALL, "zebra": 1},
        {**SMALL, "desk": "My Desk"},
        {**SMALL, "flows": {}},
        {**SMALL, "limits": {"zebra": 1}},
        {**SMALL, "limits": {"max_backlog": "5"}},
        {**SMALL, "models": {"fast": "no-provider"}},
        {**SMALL, "models": {"Fast One": "p/m"}},
        {**SMALL, "brain": "embeded"},
        {**SMALL, "brain": {"cascade": {"classify": 1.5}}},
        {**SMALL, "brain": {"redact": {"Order No": "x"}}},
        {**SMALL, "plans": {"refund": {"need": ["order"]}}},
        {**SMALL, "default_flow": None},
        {**SMALL, "flows": {"main": {"stages": {"Bad-Name": {"service": "x"}}}}},
        with_stage(zebra=1),
        with_stage(next=None),
        with_stage(task="clasify"),
        with_stage(routes=[{"when": {"a": 1}}]),
        with_stage(routes=[{"to": "end"}]),
        with_stage(routes=[{"when": {"a": 1}, "to": "end", "zebra": 1}]),
        with_stage(routes=[{"when": {"a": 1}, "target": "end"}]),
        with_stage(routes=[{"condition": "a", "to": "end"}]),
        with_stage(routes=[{"when": {}, "to": "end"}]),
        with_stage(routes=[{"when": {"a": {"atleast": 1}}, "to": "end"}]),
        with_stage(routes=[{"when": {"a": [1]}, "to": "end"}]),
        with_stage(routes=[{"when": {"any": [{"a": {"zebra": 1}}]}, "to": "end"}]),
        with_stage(routes=[{"when": {"a": 1}, "outcome": "zebra"}]),
    ],
)
def test_invalid_desks_are_invalid(data: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(data)


def test_every_key_has_a_description_and_every_section_is_closed() -> None:
    sections = [
        SCHEMA,
        *(node for name, node in SCHEMA["$defs"].items() if name.endswith("Section")),
    ]
    assert len(sections) > 10
    for section in sections:
        assert section["additionalProperties"] is False
        for key, node in section["properties"].items():
            assert node.get("description"), key


def test_editors_know_all_operators() -> None:
    assert set(SCHEMA["$defs"]["Comparison"]["anyOf"][1]["properties"]) == set(OPERATORS)
