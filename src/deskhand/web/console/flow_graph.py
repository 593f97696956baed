"""A flow drawn with the way that a run took: boxes and arrows as numbers for an SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from deskhand.engine.journal import State
from deskhand.model.spec import FlowSpec

BOX, GAP, HIGH = 112, 34, 36
TOP = 52
"""Room above the boxes for the ways back."""
_STEP = BOX + GAP
_LANE = 13
_MOST = 24


@dataclass(frozen=True, slots=True)
class Box:
    name: str
    x: int
    told: str
    """Below the name: how often the run was here, and how long."""
    look: str
    """`taken`, `wait` or `box-n`."""


@dataclass(frozen=True, slots=True)
class Arrow:
    path: str
    head: str
    """The points of its head."""
    is_taken: bool


@dataclass(frozen=True, slots=True)
class FlowGraph:
    boxes: list[Box]
    arrows: list[Arrow]
    width: int
    top: int
    """Where the drawing begins."""
    height: int
    words: str
    """The same for people who do not see it."""


def flow_graph(flow: FlowSpec | None, states: Sequence[State], waits_at: str | None) -> FlowGraph:
    """The stages in the order of the way taken, then those not reached.

    Without a flow, as after its stages were renamed, only the way itself is drawn.
    """
    way = [state.row.name for state in states if "/" not in state.row.name]
    times: dict[str, float] = {}
    for state in states:
        if "/" not in state.row.name:
            times[state.row.name] = times.get(state.row.name, 0.0) + state.row.latency_ms
    names = _names(flow, way)
    places = {name: index for index, name in enumerate(names)}
    taken = {(before, after) for before, after in pairwise(way) if before != after}
    possible = _possible(flow, places) - taken
    arrows = _arrows(sorted(possible, key=lambda pair: places[pair[0]]), places, is_taken=False)
    arrows += _arrows(sorted(taken, key=lambda pair: places[pair[0]]), places, is_taken=True)
    boxes = [
        Box(name, 8 + index * _STEP, _visits_in_words(name, way, times), _look(name, way, waits_at))
        for name, index in places.items()
    ]
    unreached = [name for name in names if name not in way]
    words = f"Taken: {', '.join(way) or 'nothing yet'}."
    if unreached:
        words += f" Not reached: {', '.join(unreached)}."
    pairs = possible | taken
    above = any(places[target] < places[source] for source, target in pairs & _every_pair(places))
    below = any(
        places[target] > places[source] + 1 for source, target in pairs & _every_pair(places)
    )
    top = 0 if above else TOP - 10
    bottom = TOP + HIGH + (46 if below else 14)
    return FlowGraph(boxes, arrows, 16 + len(names) * _STEP - GAP, top, bottom - top, words)


def _every_pair(places: Mapping[str, int]) -> set[tuple[str, str]]:
    return {(source, target) for source in places for target in places}


def _names(flow: FlowSpec | None, way: Sequence[str]) -> list[str]:
    names = list(dict.fromkeys(way))
    if flow is None:
        return names[:_MOST]
    if not names:
        names.append(flow.start)
    for name in names:  # grows while it is walked: what comes after what is known
        stage = flow.stages.get(name)
        for target in () if stage is None else stage.targets:
            if target in flow.stages and target not in names:
                names.append(target)
    return names[:_MOST]


def _possible(flow: FlowSpec | None, places: Mapping[str, int]) -> set[tuple[str, str]]:
    if flow is None:
        return set()
    stages = [stage for name, stage in flow.stages.items() if name in places]
    pairs = {(stage.name, target) for stage in stages for target in stage.targets}
    return {(source, target) for source, target in pairs if target in places and source != target}


def _visits_in_words(name: str, way: Sequence[str], times: Mapping[str, float]) -> str:
    visits = way.count(name)
    if not visits:
        return ""
    took = times[name]
    words = f"{took / 1000:.1f} s" if took >= 1000 else f"{took:.0f} ms"
    return f"{visits} visits, {words}" if visits > 1 else words


def _look(name: str, way: Sequence[str], waits_at: str | None) -> str:
    if name == waits_at:
        return "wait"
    return "taken" if name in way else "box-n"


def _arrows(
    pairs: Sequence[tuple[str, str]], places: Mapping[str, int], *, is_taken: bool
) -> list[Arrow]:
    drawn: list[Arrow] = []
    lane = 0
    for source, target in pairs:
        if source not in places or target not in places:
            continue
        start, end = places[source], places[target]
        if end == start + 1:
            drawn.append(_straight(start, is_taken))
            continue
        lane += 1
        drawn.append(_around(start, end, lane, is_taken))
    return drawn


def _straight(start: int, is_taken: bool) -> Arrow:
    left, right, y = 8 + start * _STEP + BOX, 8 + (start + 1) * _STEP, TOP + HIGH // 2
    head = f"{right},{y} {right - 6},{y - 4} {right - 6},{y + 4}"
    return Arrow(f"M{left} {y}H{right - 5}", head, is_taken)


def _around(start: int, end: int, lane: int, is_taken: bool) -> Arrow:
    """A way back above the boxes, a way past others below them."""
    above = end < start
    edge = TOP if above else TOP + HIGH
    depth = min(lane, 3) * _LANE
    level = edge - depth if above else edge + depth
    offset = 8 if above else -8
    left = 8 + start * _STEP + BOX // 2 + offset
    right = 8 + end * _STEP + BOX // 2 - offset
    tip = edge - 1 if above else edge + 1
    back = tip - 6 if above else tip + 6
    head = f"{right},{tip} {right - 4},{back} {right + 4},{back}"
    return Arrow(f"M{left} {edge}V{level}H{right}V{back}", head, is_taken)
