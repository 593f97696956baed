"""Replies by day as stacked bars."""

from datetime import date

from deskhand.web.console.day_chart import BOTTOM, HEIGHT, WIDTH, day_chart

SERIES = [("sent", "f1"), ("edited", "f3")]
TODAY = (date(2026, 11, 17) - date(1970, 1, 1)).days


def test_a_day_is_a_bar_that_stacks_what_became_of_its_replies() -> None:
    found = [(TODAY, "sent", 3), (TODAY, "edited", 1), (TODAY - 27, "sent", 2)]

    chart = day_chart(found, TODAY, 28, SERIES)

    assert chart.days[0] == date(2026, 10, 21)
    assert chart.days[-1] == date(2026, 11, 17)
    assert chart.total == 6
    oldest, lower, upper = chart.bars
    assert oldest.x < lower.x == upper.x
    assert lower.y + lower.height == HEIGHT - BOTTOM
    assert abs(upper.y + upper.height - lower.y) < 1e-6
    assert lower.height == 3 * upper.height
    assert upper.x + upper.width <= WIDTH


def test_what_is_older_or_not_asked_for_is_left_out() -> None:
    found = [(TODAY - 28, "sent", 9), (TODAY + 1, "sent", 9), (TODAY, "compared", 9)]

    chart = day_chart(found, TODAY, 28, SERIES)

    assert chart.total == 0
    assert chart.bars == []
    assert [count for _, count in chart.lines] == [0, 2, 4]
