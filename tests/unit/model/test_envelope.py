import json
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from deskhand.model.envelope import Ask, Delta, Envelope, ErrorNote, StageResult
from deskhand.model.message import Address, Message
from deskhand.model.outcome import Outcome
from deskhand.model.run import canonical_hash

MESSAGE = Message(
    id="m1",
    conversation="c1",
    sender=Address(address="ann@example.com"),
    body="Hi",
    received_at=datetime.now(UTC),
)

Json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)
Rooms = st.dictionaries(
    st.sampled_from(["a", "b", "c.d", "a.b", "", "outputs.a"]), Json, max_size=4
)
Errors = st.lists(
    st.builds(ErrorNote, stage=st.sampled_from("xy"), message=st.sampled_from("12")), max_size=3
)
Envelopes = st.builds(
    Envelope,
    run_id=st.just("run_1"),
    message=st.just(MESSAGE),
    raw_input=st.sampled_from(["", "Hi", "Hello"]),
    metadata=Rooms,
    outputs=Rooms,
    hops=st.integers(0, 3),
    errors=Errors.map(tuple),
)


def as_json(envelope: Envelope) -> str:
    return canonical_hash(envelope.model_dump(mode="json"))


@given(Envelopes, Envelopes)
def test_applying_the_difference_gives_what_came_after(before: Envelope, after: Envelope) -> None:
    result = before.apply(before.delta_to(after))
    assert result == after
    assert as_json(result) == as_json(after), "equal as JSON, where true is not 1"


@given(Envelopes, Envelopes)
def test_a_difference_survives_its_json(before: Envelope, after: Envelope) -> None:
    stored = before.delta_to(after).model_dump_json()
    assert as_json(before.apply(Delta.model_validate_json(stored))) == as_json(after)


@given(Envelopes)
def test_nothing_changed_is_an_empty_difference(envelope: Envelope) -> None:
    copy = Envelope.model_validate_json(envelope.model_dump_json())
    assert envelope.delta_to(copy) == Delta()


@given(st.lists(Envelopes, min_size=1, max_size=5))
def test_folding_the_differences_gives_the_state_at_any_step(states: list[Envelope]) -> None:
    deltas = [before.delta_to(after) for before, after in pairwise(states)]
    state = states[0]
    for delta, expected in zip(deltas, states[1:], strict=True):
        state = state.apply(delta)
        assert state == expected


@given(Envelopes, Envelopes)
def test_applying_changes_nothing_in_place(before: Envelope, after: Envelope) -> None:
    frozen = before.model_dump_json()
    before.apply(before.delta_to(after)).outputs["new"] = 1
    before.apply(Delta(append={"a.b": [1]}, outputs={"a": {}}))
    assert before.model_dump_json() == frozen


def test_a_change_that_only_json_can_see_is_kept() -> None:
    for old, new in ((True, 1), (0, 0.0), (0.0, -0.0), ([True], [1])):
        before = Envelope(outputs={"a": old, "b": {"c": old}})
        after = Envelope(outputs={"a": new, "b": {"c": new}})
        assert as_json(before.apply(before.delta_to(after))) == as_json(after)


def test_a_growing_mapping_is_stored_as_its_new_fields() -> None:
    before = Envelope(outputs={"slots": {"order": "O-1", "day": 1}})
    after = before.with_output("slots", {"order": "O-1", "day": 2, "size": 3})
    assert before.delta_to(after) == Delta(merge={"slots": {"day": 2, "size": 3}})


def test_a_shrinking_mapping_is_stored_whole() -> None:
    before = Envelope(outputs={"slots": {"order": "O-1", "day": 1}})
    after = before.with_output("slots", {"day": 2})
    assert before.delta_to(after) == Delta(outputs={"slots": {"day": 2}})


def test_growing_lists_are_appended_to() -> None:
    envelope = (
        Envelope()
        .apply(Delta(append={"results.calls": [1]}))
        .apply(Delta(append={"results.calls": [2, 3]}))
    )
    assert envelope.outputs == {"results": {"calls": [1, 2, 3]}}


def test_a_run_keeps_its_message_and_id() -> None:
    envelope = Envelope.of(MESSAGE, run_id="run_1")
    for other in ({"run_id": "run_2"}, {"message": None}):
        with pytest.raises(ValueError, match="keeps its id and its message"):
            envelope.delta_to(envelope.model_copy(update=other))


def test_an_envelope_starts_with_its_message() -> None:
    envelope = Envelope.of(MESSAGE, run_id="run_1", metadata={"a": 1})
    assert (envelope.raw_input, envelope.metadata, envelope.hops, envelope.errors) == (
        "Hi",
        {"a": 1},
        0,
        (),
    )


def test_the_with_methods_give_the_next_envelope() -> None:
    first = Envelope()
    second = first.with_output("a", 1).with_metadata(b=2)
    assert (second.output("a"), second.output("b"), second.metadata) == (1, None, {"b": 2})
    assert first == Envelope()
    with pytest.raises(ValidationError):
        second.hops = 5  # type: ignore[misc]


def test_a_changed_envelope_behaves_like_a_validated_one() -> None:
    changed = Envelope().with_output("a", 1)
    assert changed == Envelope(outputs={"a": 1})
    assert changed.model_dump(exclude_unset=True) == {"outputs": {"a": 1}}
    assert changed.model_copy(update={"hops": 2}).hops == 2


def test_a_stage_result_survives_its_json() -> None:
    result = StageResult(
        outcome=Outcome.CONFIRM,
        delta=Delta(outputs={"a": [1]}, errors=(ErrorNote(stage="x", message="y"),), hops=1),
        ask=Ask(kind="reply", reason="complaint", payload={"reply": {"text": "Hi"}}),
        reason="complaint",
    )
    assert StageResult.model_validate_json(result.model_dump_json()) == result
    assert StageResult.model_validate(json.loads(StageResult().model_dump_json())) == StageResult()


@pytest.mark.parametrize("kind", [Envelope, Delta, StageResult, ErrorNote, Ask])
def test_unknown_fields_are_refused(kind: Any) -> None:
    with pytest.raises(ValidationError):
        kind(unheard_of=1)
