"""One reading of what a run's stages found out about its message."""

from typing import Any

import pytest

from deskhand.model.envelope import Envelope
from deskhand.model.understanding import RESERVED_FIELDS, Understanding, wrong_fields


def understood(*outputs: Any) -> Understanding:
    named = {f"stage {number}": output for number, output in enumerate(outputs)}
    return Understanding.of(Envelope(outputs=named))


def test_the_newest_value_counts() -> None:
    understanding = understood(
        {"category": "status", "language": "en"}, {"category": "complaint"}, {"language": "de"}
    )

    assert (understanding.category, understanding.language) == ("complaint", "de")


@pytest.mark.parametrize("nothing", [None, "", 7, ["status"]])
def test_a_later_output_that_names_no_category_changes_nothing(nothing: Any) -> None:
    understanding = understood(
        {"category": "complaint", "confidence": 0.9}, {"category": nothing, "confidence": 0.1}
    )

    assert (understanding.topic, understanding.confidence) == ("complaint", 0.9)


def test_the_intent_goes_before_the_category() -> None:
    understanding = understood({"category": "status"}, {"intent_id": "complaint"})

    assert understanding.topic == "complaint"
    assert understanding.topics == ("complaint", "status")
    assert understood({"intent_id": "refund"}, {"category": "status"}).topic == "refund"
    assert understood({"intent": "refund"}, {"intent_id": "status"}).topic == "status"


def test_what_is_listed_counts_under_either_name() -> None:
    understanding = understood({"category": "complaint"}, {"intent_id": "status"})

    assert understanding.topic_in(["complaint"]) == "complaint"
    assert understanding.topic_in(["status", "complaint"]) == "status"
    assert understanding.topic_in(["refund"]) is None


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        (({"category": "status", "confidence": 0.9}, {"text": "Yes.", "confidence": 0.2}), 0.9),
        (({"category": "status", "confidence": 0.9}, {"category": "status"}), 0.9),
        (({"category": "status", "confidence": 0.9}, {"category": "refund"}), None),
        (({"category": "a", "confidence": 0.9}, {"intent_id": "a", "confidence": 0.99}), 0.9),
        (({"category": "a", "confidence": 0.9}, {"intent_id": "b", "confidence": 0.99}), 0.9),
        (({"category": "a", "confidence": 0.9}, {"intent_id": "b", "confidence": 0.5}), 0.5),
        (({"category": "a", "confidence": 0.9}, {"intent_id": "b"}), 0.9),
        (({"category": "a"}, {"intent_id": "b", "confidence": 0.99}), None),
        (({"intent_id": "b", "confidence": 0.7},), 0.7),
        (({"category": "a", "confidence": True},), None),
        (({"category": "a", "confidence": float("nan")},), None),
        ((), None),
    ],
)
def test_confidence_is_the_lowest_of_what_names_the_topic(
    outputs: tuple[dict[str, Any], ...], expected: float | None
) -> None:
    assert understood(*outputs).confidence == expected


def test_results_come_newest_first_and_slots_bare() -> None:
    understanding = understood(
        {"results": [{"tool": "a"}, {"tool": "b"}], "slots": {"order": {"value": "A1"}, "day": 1}},
        "no mapping",
        {"results": [{"tool": "c"}, "no mapping"], "slots": {"order": None, "day": 2}},
        {"results": "none", "slots": ["none"]},
    )

    assert [result["tool"] for result in understanding.results] == ["c", "b", "a"]
    assert understanding.slots == {"order": "A1", "day": 2}


def test_fields_without_a_reserved_type_are_read_as_they_are() -> None:
    understanding = understood({"ask": "Which order?"}, {"ask": None}, {"threshold": 0.8})

    assert (understanding.newest("ask"), understanding.threshold) == ("Which order?", 0.8)
    assert understanding.newest("context") is None


def test_none_is_allowed_in_every_reserved_field() -> None:
    assert wrong_fields(dict.fromkeys(RESERVED_FIELDS)) == []


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ({"category": 7}, "`category` must be text, not 7"),
        ({"intent_id": ["a"]}, "`intent_id` must be text, not ['a']"),
        ({"confidence": "high"}, "`confidence` must be a number, not 'high'"),
        ({"confidence": True}, "`confidence` must be a number, not True"),
        ({"requires_approval": "no"}, "`requires_approval` must be true or false, not 'no'"),
        ({"results": {"a": 1}}, "`results` must be a list, not {'a': 1}"),
        ({"slots": [1]}, "`slots` must be a mapping, not [1]"),
    ],
)
def test_a_reserved_field_of_another_type_is_named(output: dict[str, Any], problem: str) -> None:
    assert wrong_fields(output) == [problem]
