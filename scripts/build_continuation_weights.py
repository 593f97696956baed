"""Fit what each piece of evidence counts for whether a message continues a ticket.

    python scripts/build_continuation_weights.py pairs.jsonl     # some minutes on one core

It learns from pairs in `training/reading` and from `tests/data/ticket_pairs.yaml`. What the reading
model says of lines that it has learned from is too good. So its odds come from trainings that left
those lines out: the files are what `build_reading_model.py --only pairs` has measured, and only
lines that are in one of them are fitted to. It prints how well messages are told by folds of whole
files, and the weights for `src/deskhand/tickets/continuation.py`.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pair_cases import line_key, read_pair_lines
from ruamel.yaml import YAML
from score_matching import prepared

from deskhand.tickets.continuation import NAMES, chances_of, evidence, gathered, shares_of

ROOT = Path(__file__).parents[1]
PLAIN_PAIRS = ROOT / "tests" / "data" / "ticket_pairs.yaml"
PLAIN_COUNTS = 24.0
"""Nobody wrote the plain pairs to mislead, as the others were: customers write more like them."""
FOLDS = 8
STEPS = 25
STRENGTH = 1.0
PRECISION = 0.97
FOR_WHICH = ("near", "reply_words", "other_words", "short_answer", "odds", "unanswered")
"""What tells tickets apart."""
NEVER_NEGATIVE = ("comes_back", "near", "reply_words", "follow_up", "odds")
"""The writers of misleading pairs chose the words of other tickets on purpose. Customers do not."""

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    rows: Vector
    continues: int | None
    """The place of the ticket that it continues."""
    fold: int
    is_plain: bool

    @property
    def weight(self) -> float:
        return PLAIN_COUNTS if self.is_plain else 1.0


@dataclass(frozen=True)
class Weights:
    which: Vector
    whether: Vector

    def chances(self, line: Line) -> Vector:
        return chances_of(line.rows, self.which, self.whether)


def read_lines(measured: Mapping[str, Sequence[float]]) -> list[Line]:
    found: list[Line] = []
    files: list[str] = []
    for line in read_pair_lines(ROOT / "training" / "reading"):
        if line.file not in files:
            files.append(line.file)
        odds = measured.get(line_key(line.written))
        if odds is not None:
            found.append(_line(line.written, len(files) % FOLDS, odds))
    for number, pair in enumerate(YAML(typ="safe").load(PLAIN_PAIRS)["pairs"]):
        ticket = {"id": "A", "subject": "", "messages": [pair["before"]]}
        continues = "A" if pair["same"] else None
        case = {"tickets": [ticket], "message": pair["new"], "continues": continues}
        found.append(_line(case, number % FOLDS, None))
    return found


def _line(case: dict[str, Any], fold: int, odds: Sequence[float] | None) -> Line:
    """With the odds that a training measured; plain pairs are read by the shipped model, which
    has not learned from them."""
    incoming, candidates = prepared(case, reads=odds is None)
    if odds is not None:
        likely = 1 / (1 + np.exp(-np.array(odds)))
        read = zip(candidates, likely, strict=True)
        candidates = [replace(one, continued=float(chance)) for one, chance in read]
    rows = evidence(incoming, candidates)
    assert rows is not None
    ids = [ticket["id"] for ticket in case["tickets"]]
    place = None if case["continues"] is None else ids.index(case["continues"])
    return Line(rows, place, fold, is_plain=odds is None)


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
            slope = slope + mean - line.rows[line.continues]
            curve += (line.rows * shares[:, None]).T @ line.rows - np.outer(mean, mean)
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
    for fold in range(FOLDS):
        weights = weights_of([line for line in lines if line.fold != fold])
        for line in lines:
            if line.fold == fold:
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


def main(files: Sequence[str]) -> None:
    measured: dict[str, list[float]] = {}
    for file in files:
        for written in Path(file).read_text(encoding="utf-8").splitlines():
            line = json.loads(written)
            measured[line["line"]] = line["odds"]
    lines = read_lines(measured)
    told = by_folds(lines)
    hard = [item for item in told if not item[0].is_plain]
    plain = [item for item in told if item[0].is_plain]
    for name, part in (("misleading", hard), ("plain", plain), ("both", told)):
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
    main(sys.argv[1:])
