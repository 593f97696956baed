"""Bounds that may be looked at after every judgement: how often they are wrong, and how soon
they are right."""

from collections.abc import Sequence
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deskhand.trust.evidence import Doubt, exceeds, log_evidence, lower_bound

BAR, ALPHA, AT_LEAST = 0.9, 0.05, 30
LONGEST = 1500


def most_bad(bar: float, alpha: float, longest: int) -> NDArray[np.int64]:
    """For each number of judgements, how many bad ones the bar still allows; -1 where none."""
    allowed = np.full(longest + 1, -1)
    bad = -1
    for judged in range(AT_LEAST, longest + 1):
        while exceeds(judged - bad - 1, bad + 1, bar, alpha):
            bad += 1
        allowed[judged] = bad
    return allowed


def promoted_at(quality: float, runs: int, seed: int) -> NDArray[np.float64]:
    """When each of many reviewed sequences is promoted, looked at after every judgement; nan
    where never."""
    drawn = np.random.default_rng(seed).random((runs, LONGEST)) >= quality
    passes = drawn.cumsum(axis=1) <= most_bad(BAR, ALPHA, LONGEST)[1:]
    return np.where(passes.any(axis=1), passes.argmax(axis=1) + 1.0, np.nan)


def test_a_category_just_below_the_bar_is_promoted_in_at_most_five_of_a_hundred_runs() -> None:
    """4,000 reviewers each, 1,500 decisions each, looked at after each one."""
    for quality in (0.9, 0.89, 0.85):
        wrongly = float(np.mean(~np.isnan(promoted_at(quality, 4000, seed=1))))
        assert wrongly <= ALPHA


@pytest.mark.parametrize(
    ("quality", "half", "most"), [(1.0, 45, 45), (0.98, 80, 200), (0.95, 220, 700)]
)
def test_a_good_category_is_promoted_before_long(quality: float, half: int, most: int) -> None:
    when = np.nan_to_num(promoted_at(quality, 1000, seed=2), nan=np.inf)
    middle, late = (float(np.quantile(when, share)) for share in (0.5, 0.9))
    assert middle <= half
    assert late <= most, f"half within {middle:.0f}, 9 of 10 within {late:.0f}"


def test_an_average_that_is_looked_at_again_and_again_would_promote_wrongly_most_of_the_time() -> (
    None
):
    """Why it takes more than `the share so far is above the bar`: the same sequences, judged
    like that."""
    drawn = np.random.default_rng(1).random((1000, LONGEST)) < 0.89
    share = drawn.cumsum(axis=1) / np.arange(1, LONGEST + 1)
    assert np.mean((share[:, AT_LEAST:] >= BAR).any(axis=1)) > 0.4


@given(st.integers(0, 300), st.integers(0, 60), st.sampled_from([0.01, 0.05, 0.1]))
def test_the_bound_is_where_the_evidence_ends(good: int, bad: int, alpha: float) -> None:
    bound = lower_bound(good, bad, alpha)
    assert 0 <= bound < 1
    if good + bad:
        assert bound <= good / (good + bad)
    if bound > 0.01:
        assert exceeds(good, bad, bound - 0.005, alpha)
    assert not exceeds(good, bad, min(0.999, bound + 0.005), alpha)


@given(st.integers(0, 200), st.integers(0, 50))
def test_a_good_judgement_raises_the_bound_and_a_bad_one_lowers_it(good: int, bad: int) -> None:
    bound = lower_bound(good, bad, ALPHA)
    assert lower_bound(good + 1, bad, ALPHA) >= bound - 1e-9
    assert lower_bound(good, bad + 1, ALPHA) <= bound + 1e-9


@given(st.floats(0.5, 0.95), st.floats(0.0, 1.0))
def test_the_bet_is_fair_at_the_bar_and_loses_below_it(bar: float, part: float) -> None:
    """What makes it valid at all times: on average the stake does not grow, whatever was seen so
    far."""
    truth = bar * part
    for good, bad in ((0, 0), (5, 1), (40, 2)):
        now = log_evidence(good, bad, bar)
        after = truth * np.exp(log_evidence(good + 1, bad, bar)) + (1 - truth) * np.exp(
            log_evidence(good, bad + 1, bar)
        )
        assert after <= np.exp(now) * (1 + 1e-9)


def falls_after(
    quality: float, *, share: float, runs: int, replies: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """When each of many categories falls back, in replies, and how many bad ones had left by
    then."""
    draw, when, left = (
        np.random.default_rng(seed),
        np.full(runs, np.nan),
        np.zeros(runs, dtype=np.int64),
    )
    for run in range(runs):
        doubt = Doubt(BAR, 0.8, ALPHA)
        for reply, (fine, drawn) in enumerate(draw.random((replies, 2)), start=1):
            good = fine < quality
            if drawn < share + (1 - share) * doubt.level:
                doubt.note(good)
                if doubt.raised:
                    when[run] = reply
                    break
            elif not good:
                left[run] += 1
    return when, left


def quantiles(values: NDArray[np.float64], *shares: float) -> Sequence[float]:
    return [float(np.quantile(np.nan_to_num(values, nan=np.inf), share)) for share in shares]


@pytest.mark.parametrize(
    ("quality", "half", "most"), [(0.7, 160, 450), (0.5, 80, 220), (0.0, 40, 90)]
)
def test_a_drop_in_quality_is_noticed(quality: float, half: int, most: int) -> None:
    """One reply in twenty is checked, and more as soon as one was bad."""
    when, left = falls_after(quality, share=0.05, runs=300, replies=3000, seed=3)
    middle, late = quantiles(when, 0.5, 0.9)
    assert middle <= half
    assert late <= most, f"half within {middle:.0f}, 9 of 10 within {late:.0f}"
    assert np.median(left) <= 30


def test_a_category_that_stays_good_is_left_alone() -> None:
    when, _ = falls_after(0.97, share=0.05, runs=100, replies=5000, seed=4)
    fell = float(np.mean(~np.isnan(when)))
    assert fell <= 0.02


def test_what_came_back_later_is_counted_as_if_it_had_been_bad_at_once() -> None:
    at_once, later = Doubt(0.95, 0.85, 0.05), Doubt(0.95, 0.85, 0.05)
    for doubt in (at_once, later):
        doubt.note(False)
    at_once.note(False)
    later.note(True)
    later.take_back()
    assert later.value == pytest.approx(at_once.value)
    assert at_once.alarm == pytest.approx(log(20))
