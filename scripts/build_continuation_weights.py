"""Fit what each piece of evidence counts for whether a message continues a ticket.

    python scripts/build_continuation_weights.py     # a quarter of an hour on one core

It learns from the pairs in `training/reading` that the layers for pairs have not learned from
(`UNLEARNED`), and from `tests/data/ticket_pairs.yaml`: what the layers say of lines that they know
is too good. It prints how well messages are told by folds of whole files, and the weights for
`src/deskhand/tickets/continuation.py`.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pair_cases import read_pair_lines
from ruamel.yaml import YAML
from score_matching import prepared

from deskhand.tickets.continuation import NAMES, chances_of, evidence, gathered, shares_of

ROOT = Path(__file__).parents[1]
PLAIN_PAIRS = ROOT / "tests" / "data" / "ticket_pairs.yaml"
UNLEARNED = ("w71", "w90", "w91")
"""Files that the shipped layers have not learned from."""
ORDINARY = ("w91",)
"""Files whose writers were asked for what really arrives at help desks: neither easy nor a trap."""
ORDINARY_COUNTS = 5.0
"""Such a line counts so many times as much as one that was written to mislead."""
STEPS = 25
STRENGTH = 1.0
PRECISION = 0.97
FOR_WHICH = (
    "near",
    "reply_words",
    "other_words",
    "short_answer",
    "odds",
    "unanswered",
    "solved",
    "pending",
)
"""What tells tickets apart."""
NEVER_NEGATIVE = ("comes_back", "near", "reply_words", "follow_up", "odds", "pending")
"""The writers of misleading pairs chose the words of other tickets on purpose. Customers do not."""

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    rows: Vector
    continues: int | None
    """The place of the ticket that it continues."""
    file: str
    is_ordinary: bool

    @property
    def weight(self) -> float:
        return ORDINARY_COUNTS if self.is_ordinary else 1.0


@dataclass(frozen=True)
class Weights:
    which: Vector
    whether: Vector

    def chances(self, line: Line) -> Vector:
        return chances_of(line.rows, self.which, self.whether)


def read_lines() -> list[Line]:
    read: list[Line] = []
    for line in read_pair_lines(ROOT / "training" / "reading"):
        if line.is_of(UNLEARNED):
            read.append(_line(line.written, line.file, is_ordinary=line.is_of(ORDINARY)))
    for pair in YAML(typ="safe").load(PLAIN_PAIRS)["pairs"]:
        ticket = {"id": "A", "subject": "", "messages": [pair["before"]]}
        continues = "A" if pair["same"] else None
        case = {"tickets": [ticket], "message": pair["new"], "continues": continues}
        read.append(_line(case, PLAIN_PAIRS.name, is_ordinary=True))
    return read


def _line(case: dict[str, Any], file: str, *, is_ordinary: bool) -> Line:
    incoming, candidates = prepared(case)
    rows = evidence(incoming, candidates)
    assert rows is not None
    ids = [ticket["id"] for ticket in case["tickets"]]
    place = None if case["continues"] is None else ids.index(case["continues"])
    return Line(rows, place, file, is_ordinary)


def weights_of(lines: Sequence[Line]) -> Weights:
    which = _which(lines)
    seen = [gathered(line.rows, shares_of(line.rows, which)) for line in lines]
    return Weights(which, _whether(np.array(seen), lines))


def _which(lines: Sequence[Line]) -> Vector:
    """A conditional logit over the tickets of messages that continue one of several."""
    told = [line for line in lines if line.continues is not None and len(line.rows) > 1]

    def slopes(found: Vector) -> tuple[Vector, Vector]:
        slope, curve = STRENGTH * found, STRENGTH * np.eye(len(NAMES))
        for line in told:
            shares = shares_of(line.rows, found)
            mean = shares @ line.rows
            slope = slope + line.weight * (mean - line.rows[line.continues])
            spread = (line.rows * shares[:, None]).T @ line.rows - np.outer(mean, mean)
            curve = curve + line.weight * spread
        return slope, curve

    return _fitted(slopes, FOR_WHICH)


def _whether(seen: Vector, lines: Sequence[Line]) -> Vector:
    """A logistic regression over what speaks for any of the tickets."""
    wanted = np.array([float(line.continues is not None) for line in lines])
    counts = np.array([line.weight for line in lines])
    penalty = STRENGTH * np.eye(len(NAMES))
    penalty[0, 0] = 1e-3

    def slopes(found: Vector) -> tuple[Vector, Vector]:
        chance = 1 / (1 + np.exp(-seen @ found))
        slope = seen.T @ (counts * (chance - wanted)) + penalty @ found
        curve = (seen * (counts * chance * (1 - chance))[:, None]).T @ seen + penalty
        return slope, curve

    return _fitted(slopes, NAMES)


def _fitted(slopes: Any, names: Sequence[str]) -> Vector:
    """The weights where the slope is none, by Newton's method, without wrong signs."""
    found: Vector = np.zeros(len(NAMES))
    free = [NAMES.index(name) for name in names]
    never = {NAMES.index(name) for name in NEVER_NEGATIVE}
    while True:
        for _ in range(STEPS):
            slope, curve = slopes(found)
            found[free] -= np.linalg.solve(curve[np.ix_(free, free)], slope[free])
        wrong = [place for place in free if place in never and found[place] < 0]
        if not wrong:
            return found
        found[wrong] = 0.0
        free = [place for place in free if place not in wrong]


def by_folds(lines: Sequence[Line]) -> list[tuple[Line, float, bool]]:
    """The best chance of each line, and whether it is the right ticket's, by weights that were
    fitted without the line's file."""
    told: list[tuple[Line, float, bool]] = []
    for file in sorted({line.file for line in lines}):
        weights = weights_of([line for line in lines if line.file != file])
        for line in lines:
            if line.file == file:
                chances = weights.chances(line)
                best = int(chances.argmax())
                told.append((line, float(chances[best]), best == line.continues))
    return told


def figures(told: Sequence[tuple[Line, float, bool]], least: float) -> str:
    joined = [is_right for _, chance, is_right in told if chance >= least]
    wanted = sum(line.continues is not None for line, _, _ in told)
    precision = sum(joined) / len(joined) if joined else 1.0
    recall = sum(joined) / wanted
    joins = f"{len(told)} messages, {len(joined)} joined"
    return f"{joins}: precision {precision:.3f}, recall {recall:.3f}"


def threshold(told: Sequence[tuple[Line, float, bool]]) -> float:
    """The lowest chance from which enough of what joins is right."""
    lowest = 1.0
    right = 0
    ordered = sorted(told, key=lambda item: -item[1])
    for count, (_, chance, is_right) in enumerate(ordered, 1):
        right += is_right
        if right / count >= PRECISION:
            lowest = chance
    return lowest


def main() -> None:
    lines = read_lines()
    told = by_folds(lines)
    hard = [item for item in told if not item[0].is_ordinary]
    ordinary = [item for item in told if item[0].is_ordinary]
    for name, part in (("misleading", hard), ("ordinary", ordinary), ("both", told)):
        least = threshold(part)
        sys.stdout.write(f"{name}, from {least:.3f}: {figures(part, least)}\n")
        for chance in (0.5, 0.6, 0.7, 0.8, 0.9):
            sys.stdout.write(f"  from {chance}: {figures(part, chance)}\n")
    weights = weights_of(lines)
    for title, found in (("WHICH", weights.which), ("WHETHER", weights.whether)):
        sys.stdout.write(f"{title} = {{\n")
        for name, weight in zip(NAMES, found, strict=True):
            if weight:
                sys.stdout.write(f'    "{name}": {weight:.3f},\n')
        sys.stdout.write("}\n")


if __name__ == "__main__":
    main()
