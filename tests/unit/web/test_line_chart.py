"""Figures by day as lines."""

from deskhand.web.console.line_chart import BOTTOM, HEIGHT, WIDTH, spark, time_chart


def test_a_day_without_a_figure_is_passed_over() -> None:
    chart = time_chart([[60.0, None, 240.0], [None, None, None]])

    assert chart.paths[0].count("L") == 1
    assert chart.paths[1] == ""
    assert [seconds for _, seconds in chart.lines] == [0.0, 120.0, 240.0]
    [(x, y, seconds)] = chart.ends
    assert (seconds, round(x)) == (240.0, WIDTH - 4)
    assert y < HEIGHT - BOTTOM


def test_nothing_draws_nothing() -> None:
    assert time_chart([[None], []]).paths == ["", ""]
    assert spark([None, 3.0, None]) is None


def test_a_small_line_stays_within_its_box_also_where_all_is_zero() -> None:
    for values in ([0.0, 0.0], [1.0, None, 9.0]):
        line = spark(values)
        assert line is not None
        numbers = [float(word) for word in line.line[1:].replace("L", " ").split()]
        assert all(0 <= number <= 100 for number in numbers)
        assert line.area.endswith("28z")
