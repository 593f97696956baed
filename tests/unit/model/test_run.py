import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.model.ids import new_id
from deskhand.model.run import DECISIONS, Decision, EffectKey, ReviewKind, RunStatus, canonical_hash


def test_a_status_is_active_parked_or_final_and_only_one_of_them() -> None:
    for status in RunStatus:
        assert [status.is_active, status.is_parked, status.is_final].count(True) == 1, status
    assert {each for each in RunStatus if each.is_active} == {"queued", "running"}
    assert {each for each in RunStatus if each.is_parked} == {
        "waiting_user",
        "waiting_review",
        "needs_review",
    }
    assert {each for each in RunStatus if each.is_final} == {
        "sent", "answered", "done", "rejected", "failed", "cancelled"
    }  # fmt: skip


def test_every_kind_of_review_has_its_decisions() -> None:
    assert set(DECISIONS) == set(ReviewKind)
    only_time_decides = {Decision.HAND_OVER, Decision.REASSIGN}
    assert {decision for allowed in DECISIONS.values() for decision in allowed} == set(
        Decision
    ) - only_time_decides
    assert Decision.EDIT not in DECISIONS[ReviewKind.TOOL_CALL]


def test_an_effect_key_is_stable_text_and_hashable() -> None:
    key = EffectKey("run_1", 3, 2)
    assert str(key) == "run_1.3.2"
    assert {key: 1}[EffectKey("run_1", 3, 2)] == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        key.seq = 4  # type: ignore[misc]


Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.text(), Json))
def test_the_hash_does_not_depend_on_the_order_of_keys(value: dict[str, Any]) -> None:
    assert canonical_hash(value) == canonical_hash(dict(reversed(value.items())))


def test_the_hash_tells_different_calls_apart() -> None:
    calls: list[Any] = [
        ["a", {}],
        ["a", {"x": 1}],
        ["a", {"x": "1"}],
        ["a", {"x": True}],
        ["ab", {}],
        ["a", {"x": None}],
    ]
    assert len({canonical_hash(call) for call in calls}) == len(calls)
    assert canonical_hash(["a", {"x": "\ud800"}]) != canonical_hash(["a", {"x": "?"}])


def test_ids_sort_by_time_and_do_not_repeat() -> None:
    ids = [new_id("run", at=at) for at in (1.0, 2.0, 1_700_000_000.0, 1_700_000_000.001)]
    assert ids == sorted(ids)
    many = {new_id("run", at=1.0) for _ in range(10_000)}
    assert len(many) == 10_000
    assert all(each.startswith("run_") and len(each) == 24 for each in many)
