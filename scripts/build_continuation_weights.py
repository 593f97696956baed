"""Fit what each piece of evidence counts for whether a message continues a ticket.

    python scripts/build_continuation_weights.py      # a quarter of an hour on one core

It learns from the pairs in `training/reading` and `tests/data/ticket_pairs.yaml`. What the reading
model says of lines that it has learned from is too good, so its weight is fitted to the lines that
were held out of its training; the others have the rest weighed. It prints how well messages are
told by folds of whole files, and the weights for `src/deskhand/tickets/continuation.py`.
"""

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ruamel.yaml import YAML
from score_matching import prepared

from deskhand.tickets.continuation import WEIGHTS, chances_of, evidence

ROOT = Path(__file__).parents[1]
PAIRS = ROOT / "training" / "reading" / "pairs"
PLAIN_PAIRS = ROOT / "tests" / "data" / "ticket_pairs.yaml"
PLAIN_COUNTS = 8.0
"""Nobody wrote the plain pairs to mislead, as the others were: customers write more like them."""
HELD_OUT = 8
"""One line of so many the reading model has not learned from: as in `reading_corpus.py`."""
FOLDS = 8
STEPS = 25
STRENGTH = 1.0
PRECISION = 0.97
NEVER_NEGATIVE = ("comes_back", "near", "reply_words", "follow_up", "odds")
"""The writers of misleading pairs chose the words of other tickets on purpose. Customers do not."""
NAMES = list(WEIGHTS)
READ = [NAMES.index("odds"), NAMES.index("unanswered")]
"""What the reading model says. It has learned that customers mostly come back to what we answered,
so its odds for a ticket without a reply are lower than they should be."""

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    rows: Vector
    continues: int | None
    """The place of the ticket that it continues."""
    fold: int
    is_plain: bool
    is_held_out: bool

    @property
    def weight(self) -> float:
        return PLAIN_COUNTS if self.is_plain else 1.0


def read_lines() -> list[Line]:
    found: list[Line] = []
    for number, file in enumerate(sorted(PAIRS.glob("*.jsonl"))):
        for written in file.read_text(encoding="utf-8").splitlines():
            case = json.loads(written)
            key = str(case["tickets"][0]["messages"]).encode()
            is_held_out = hashlib.sha256(key).digest()[0] % HELD_OUT == 0
            found.append(_line(case, number % FOLDS, is_held_out=is_held_out))
    for number, pair in enumerate(YAML(typ="safe").load(PLAIN_PAIRS)["pairs"]):
        ticket = {"id": "A", "subject": "", "messages": [pair["before"]]}
        continues = "A" if pair["same"] else None
        case = {"tickets": [ticket], "message": pair["new"], "continues": continues}
        found.append(_line(case, number % FOLDS, is_plain=True, is_held_out=True))
    return found


def _line(case: dict[str, Any], fold: int, *, is_held_out: bool, is_plain: bool = False) -> Line:
    incoming, candidates = prepared(case, reads=is_held_out)
    rows = evidence(incoming, candidates)
    assert rows is not None
    ids = [ticket["id"] for ticket in case["tickets"]]
    place = None if case["continues"] is None else ids.index(case["continues"])
    return Line(rows, place, fold, is_plain, is_held_out)


def fitted(
    rows_of: Sequence[Vector], lines: Sequence[Line], never_negative: Sequence[int]
) -> Vector:
    """The weights of a conditional logit by Newton's method; the first is the constant's."""
    size = rows_of[0].shape[1]
    found: Vector = np.zeros(size)
    free = list(range(size))
    penalty = STRENGTH * np.eye(size)
    penalty[0, 0] = 1e-3
    while True:
        for _ in range(STEPS):
            slope, curve = penalty @ found, penalty.copy()
            for rows, line in zip(rows_of, lines, strict=True):
                chances = chances_of(rows, found)
                mean = rows.T @ chances
                wanted = 0.0 if line.continues is None else rows[line.continues]
                slope += line.weight * (mean - wanted)
                spread = (rows * chances[:, None]).T @ rows - np.outer(mean, mean)
                curve += line.weight * spread
            found[free] -= np.linalg.solve(curve[np.ix_(free, free)], slope[free])
        wrong = [place for place in free if place in never_negative and found[place] < 0]
        if not wrong:
            return found
        found[wrong] = 0.0
        free = [place for place in free if place not in wrong]


def weights_of(lines: Sequence[Line]) -> Vector:
    """First all evidence but the reading model's, on all lines; then how that and the reading
    model's odds add up, on the lines that it has not learned from."""
    rest = [place for place in range(len(NAMES)) if place not in READ]
    signs = [rest.index(NAMES.index(name)) for name in NEVER_NEGATIVE if name != "odds"]
    plain = fitted([line.rows[:, rest] for line in lines], lines, signs)
    unread = [line for line in lines if line.is_held_out]
    both: list[Vector] = []
    for line in unread:
        summed = line.rows[:, rest] @ plain
        both.append(np.c_[np.ones(len(summed)), summed, line.rows[:, READ]])
    constant, share, *read = fitted(both, unread, [1, 2])
    weights: Vector = np.zeros(len(NAMES))
    weights[rest] = share * plain
    weights[0] += constant
    weights[READ] = read
    return weights


def by_folds(lines: Sequence[Line]) -> list[tuple[Line, float, bool]]:
    """Of lines that the reading model has not learned from: the best chance, and whether it is
    the right ticket's, by weights that were fitted without the line's file."""
    told: list[tuple[Line, float, bool]] = []
    for fold in range(FOLDS):
        weights = weights_of([line for line in lines if line.fold != fold])
        for line in lines:
            if line.fold == fold and line.is_held_out:
                chances = chances_of(line.rows, weights)
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
    hard = [item for item in told if not item[0].is_plain]
    plain = [item for item in told if item[0].is_plain]
    for name, part in (("misleading", hard), ("plain", plain), ("both", told)):
        least = threshold(part)
        sys.stdout.write(f"{name}, from {least:.3f}: {figures(part, least)}\n")
        for chance in (0.5, 0.6, 0.7, 0.8, 0.9):
            sys.stdout.write(f"  from {chance}: {figures(part, chance)}\n")
    for name, weight in zip(NAMES, weights_of(lines), strict=True):
        sys.stdout.write(f'    "{name}": {weight:.3f},\n')


if __name__ == "__main__":
    main()
