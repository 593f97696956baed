"""Figures: steps of time, and what they add up to."""

from random import Random
from statistics import median

import pytest

from deskhand.model.figures import Became, Figures, quantile, step_begins, step_of


@pytest.mark.parametrize("seconds", [0.0, 0.4, 1.5, 59.0, 60.0, 3600.0, 86_400.0, 2_000_000.0])
def test_a_time_lies_in_its_step(seconds: float) -> None:
    step = step_of(seconds)

    assert step_begins(step) <= seconds < step_begins(step + 1) + 1e-9


def test_a_median_of_steps_is_right_to_about_a_tenth() -> None:
    random = Random(7)
    for spread in (0.3, 1.0, 2.0):
        times = [random.lognormvariate(6.0, spread) for _ in range(2_001)]
        steps: dict[int, int] = {}
        for seconds in times:
            steps[step_of(seconds)] = steps.get(step_of(seconds), 0) + 1
        told = quantile(steps, 0.5)
        assert told is not None
        assert abs(told / median(times) - 1) < 0.1, spread


def test_nothing_has_no_shares_and_no_median() -> None:
    nothing = Figures()

    assert nothing.share_of(Became.SENT) is None
    assert nothing.unchanged_share is None
    assert nothing.in_time_share is None
    assert nothing.cost_each is None
    assert nothing.took(0.5) is None


def test_shares_are_of_what_was_answered_and_of_what_people_decided() -> None:
    counts = {Became.SENT: 3, Became.UNCHANGED: 2, Became.EDITED: 1, Became.NOTHING: 5}
    figures = Figures({**counts, Became.OPEN: 4}, cost=3.0)

    assert figures.messages == 15
    assert figures.share_of(Became.SENT) == 0.5
    assert figures.unchanged_share == pytest.approx(2 / 3)
    assert figures.cost_each == 0.2
