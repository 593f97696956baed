"""Figures by day drawn as lines: a large chart with its scale, and small ones under a figure."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 370, 190
LEFT, BOTTOM, TOP = 40, 22, 12
LABEL = 12
"""How high a label is."""
_SPARK_WIDTH, _SPARK_HEIGHT = 100, 28
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_TOPS = (
    *(_MINUTE, 2 * _MINUTE, 4 * _MINUTE, 10 * _MINUTE, 20 * _MINUTE, 40 * _MINUTE),
    *(_HOUR, 2 * _HOUR, 4 * _HOUR, 8 * _HOUR, 12 * _HOUR),
    *(_DAY, 2 * _DAY, 4 * _DAY, 8 * _DAY, 14 * _DAY, 28 * _DAY),
)
"""How long the scale of times reaches."""


@dataclass(frozen=True, slots=True)
class LineChart:
    paths: list[str]
    """A line for each series, broken where a day has no figure."""
    lines: list[tuple[float, float]]
    """Where a line of the scale stands, and for how much."""
    ends: list[tuple[float, float, float]]
    """Where the label at the end of each series stands, and for how much; none is over another."""


def time_chart(series: Sequence[Sequence[float | None]]) -> LineChart:
    """Seconds by day, as lines."""
    measured = [value for values in series for value in values if value is not None]
    highest = max(measured, default=0.0)
    top = next((mark for mark in _TOPS if mark >= highest), highest)
    places = [_places(values, top) for values in series]
    lines = [(_height(top * part, top), top * part) for part in (0.0, 0.5, 1.0)]
    ends: list[tuple[float, float, float]] = []
    for values, placed in zip(series, places, strict=True):
        last = next((number for number in reversed(range(len(values))) if placed[number]), None)
        if last is not None:
            x, y = placed[last] or (0.0, 0.0)
            taken = min((other for _, other, _ in ends), default=float(HEIGHT))
            ends.append((x, min(y - 5, taken - LABEL), values[last] or 0.0))
    return LineChart([_path(placed) for placed in places], lines, ends)


def _height(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / top if top else HEIGHT - BOTTOM


def _places(values: Sequence[float | None], top: float) -> list[tuple[float, float] | None]:
    step = (WIDTH - LEFT - 4) / max(1, len(values) - 1)
    placed: list[tuple[float, float] | None] = []
    for number, value in enumerate(values):
        placed.append(None if value is None else (LEFT + number * step, _height(value, top)))
    return placed


def _path(placed: Sequence[tuple[float, float] | None]) -> str:
    """Days without a figure are passed over."""
    words = [f"{x:.1f} {y:.1f}" for x, y in filter(None, placed)]
    if len(words) == 1:
        words.append(words[0])
    return "M" + "L".join(words) if words else ""


@dataclass(frozen=True, slots=True)
class Spark:
    """A small line under a figure."""

    line: str
    area: str


def spark(values: Sequence[float | None]) -> Spark | None:
    """None where fewer than two days have a figure."""
    measured = [(number, value) for number, value in enumerate(values) if value is not None]
    if len(measured) < 2:
        return None
    highest = max(value for _, value in measured) or 1.0
    step = _SPARK_WIDTH / max(1, len(values) - 1)
    points = [
        f"{number * step:.1f} {_SPARK_HEIGHT - 3 - (_SPARK_HEIGHT - 7) * value / highest:.1f}"
        for number, value in measured
    ]
    line = "M" + "L".join(points)
    first, last = measured[0][0] * step, measured[-1][0] * step
    return Spark(line, f"M{first:.1f} 28L{line[1:]}L{last:.1f} 28z")
