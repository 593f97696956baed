"""Replies by day, drawn as stacked bars: numbers for an SVG."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

WIDTH, HEIGHT = 700, 190
LEFT, BOTTOM = 34, 22
_GAP = 0.3
_TOPS = (4, 6, 8, 10, 12, 16, 20, 30)
"""Where a scale may end; also ten times as high, a hundred times and so on."""
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class DayBar:
    x: float
    y: float
    width: float
    height: float
    fill: str
    name: str
    count: int
    day: int
    """Its number, from 1970."""

    @property
    def date(self) -> date:
        return _EPOCH + timedelta(days=self.day)


@dataclass(frozen=True, slots=True)
class DayChart:
    days: list[date]
    counts: list[dict[str, int]]
    """What became of the replies of each day, by name."""
    bars: list[DayBar]
    lines: list[tuple[float, int]]
    """Where a line stands, and for how many."""
    labels: list[tuple[float, date]]

    @property
    def total(self) -> int:
        return sum(sum(count.values()) for count in self.counts)


def day_chart(
    day_counts: Sequence[tuple[int, str, int]],
    last: int,
    days: int,
    series: Sequence[tuple[str, str]],
) -> DayChart:
    """The chart of the `days` up to the day `last`; `series` are names with their colours."""
    first = last - days + 1
    names = [name for name, _ in series]
    counts = [dict.fromkeys(names, 0) for _ in range(days)]
    for day, name, count in day_counts:
        if first <= day <= last and name in names:
            counts[day - first][name] += count
    top = _round_up(max(sum(of_day.values()) for of_day in counts))
    step = (WIDTH - LEFT) / days
    scale = (HEIGHT - BOTTOM - 8) / top
    bars: list[DayBar] = []
    for number, of_day in enumerate(counts):
        base = float(HEIGHT - BOTTOM)
        for name, fill in series:
            height = of_day[name] * scale
            if height:
                base -= height
                x = LEFT + number * step + step * _GAP / 2
                bars.append(
                    DayBar(
                        x, base, step * (1 - _GAP), height, fill, name, of_day[name], first + number
                    )
                )
    dates = [_EPOCH + timedelta(days=first + number) for number in range(days)]
    lines = [(HEIGHT - BOTTOM - value * scale, value) for value in (0, top // 2, top)]
    apart = 7 * math.ceil(days / 35) if days > 7 else 1
    numbers = range(days - 1, -1, -apart)
    labels = [(LEFT + (number + 0.5) * step, dates[number]) for number in numbers]
    return DayChart(dates, counts, bars, lines, labels)


def _round_up(count: int) -> int:
    """The next number that is easy to read, and so is its half."""
    size = 1
    while True:
        for top in _TOPS:
            if top * size >= count:
                return top * size
        size *= 10
