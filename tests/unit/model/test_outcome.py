import pytest

from deskhand.model.codes import ErrorCode
from deskhand.model.outcome import EffectClass, IdempotencyClass, Outcome, RiskLevel, ToolStatus


def test_outcomes_fall_into_the_groups_of_the_vocabulary() -> None:
    assert {each for each in Outcome if each.is_terminal} == {
        "error",
        "clarify",
        "confirm",
        "terminate",
    }
    assert {each for each in Outcome if each.is_success} == {"success", "partial", "skip"}
    assert {each for each in Outcome if each.requires_loop} == {"replan", "loop_back"}


def test_every_outcome_is_in_exactly_one_group() -> None:
    for each in Outcome:
        assert [each.is_terminal, each.is_success, each.requires_loop].count(True) == 1, each


@pytest.mark.parametrize("word", ["success", "OK", " Succeeded ", "ok"])
def test_old_words_for_success_are_understood(word: str) -> None:
    assert ToolStatus.parse(word) is ToolStatus.SUCCESS


@pytest.mark.parametrize("word", ["error", "FAILED", "failure"])
def test_old_words_for_an_error_are_understood(word: str) -> None:
    assert ToolStatus.parse(word) is ToolStatus.ERROR


@pytest.mark.parametrize("word", ["", "shipped", "successful!", "okay"])
def test_any_other_word_is_refused_with_the_known_ones(word: str) -> None:
    with pytest.raises(ValueError, match="write 'success' or 'error'"):
        ToolStatus.parse(word)


@pytest.mark.parametrize(
    ("risk", "expected"),
    [
        ("low", "safe"),
        ("medium", "idempotent"),
        ("high", "non_idempotent"),
        ("critical", "non_idempotent"),
    ],
)
def test_idempotency_is_inferred_from_risk(risk: str, expected: str) -> None:
    assert IdempotencyClass.from_risk_level(RiskLevel(risk)) == expected


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        ("read", "safe"),
        ("reversible", "idempotent"),
        ("keyed", "idempotent"),
        ("irreversible", "non_idempotent"),
    ],
)
def test_effects_map_onto_idempotency(effect: str, expected: str) -> None:
    assert EffectClass(effect).idempotency == expected
    assert EffectClass(effect).idempotency_with(None) == expected


def test_a_risk_level_only_makes_it_stricter() -> None:
    order = list(IdempotencyClass)
    for effect in EffectClass:
        for risk in RiskLevel:
            combined = order.index(effect.idempotency_with(risk))
            assert combined == max(
                order.index(effect.idempotency), order.index(IdempotencyClass.from_risk_level(risk))
            )


def test_error_codes_are_unique_and_spelled_like_their_names() -> None:
    assert all(code.value == code.name.lower() for code in ErrorCode)
