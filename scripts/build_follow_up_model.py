"""Fit the model that says how much a message sounds as if it came back to something.

    python scripts/build_follow_up_model.py      # some minutes on one core

It learns from the pairs in `training/reading`: messages that continue a ticket against messages
that open one, and against the first messages of the tickets. It prints how well it tells messages
apart that were held out, and writes `src/deskhand/language/follow_up_weights.npy`.
"""

import json
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deskhand.language.embed import shared_embedder
from deskhand.language.ticket_facts import FOLLOW_UP_WEIGHTS

PAIRS = Path(__file__).parents[1] / "training" / "reading" / "pairs"
FOLDS = 8
STEPS = 40
STRENGTH = 100.0
"""Of the penalty on weights, which are of vectors ten times as long."""
SCALE = 10.0
FIRST_MESSAGES = 0.3
"""What a ticket's first message counts: there are many, and nobody wrote them to mislead."""

Vector = NDArray[np.float64]


def read_pairs() -> list[dict[str, Any]]:
    lines: list[str] = []
    for file in sorted(PAIRS.glob("*.jsonl")):
        lines += file.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def fitted(vectors: Vector, wanted: Vector, weights: Vector) -> Vector:
    """The coefficients of a logistic regression, the constant last, by Newton's method."""
    given = np.c_[vectors, np.ones(len(vectors))]
    found: Vector = np.zeros(given.shape[1])
    penalty = STRENGTH * np.eye(given.shape[1])
    penalty[-1, -1] = 1e-6
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-given @ found))
        slope = given.T @ (weights * (chance - wanted)) + penalty @ found
        curve = (given * (weights * chance * (1 - chance))[:, None]).T @ given + penalty
        found = found - np.linalg.solve(curve, slope)
    return found


def told_apart(wanted: Vector, scores: Vector) -> float:
    """How often a message that comes back has the higher score of two: the AUC."""
    yes, no = scores[wanted == 1], scores[wanted == 0]
    return float((yes[:, None] > no[None]).mean())


def main() -> None:
    pairs = read_pairs()
    messages = [pair["message"] for pair in pairs]
    tickets = [ticket["messages"] for pair in pairs for ticket in pair["tickets"]]
    first = sorted({said[0] for said in tickets})
    vectors = shared_embedder().embed([*messages, *first], "query").astype(np.float64)
    mean = vectors[: len(messages)].mean(axis=0)
    scaled = (vectors - mean) * SCALE
    continues = [float(pair["continues"] is not None) for pair in pairs]
    wanted = np.array([*continues, *[0.0] * len(first)])
    weights = np.array([*[1.0] * len(messages), *[FIRST_MESSAGES] * len(first)])
    keys = [str(pair["tickets"][0]["messages"]) for pair in pairs]
    keys += [str([text]) for text in first]
    folds = np.array([zlib.crc32(key.encode()) % FOLDS for key in keys])
    held_out: Vector = np.zeros(len(wanted))
    for fold in range(FOLDS):
        inside = folds != fold
        found = fitted(scaled[inside], wanted[inside], weights[inside])
        held_out[~inside] = scaled[~inside] @ found[:-1] + found[-1]
    count = len(messages)
    apart = told_apart(wanted[:count], held_out[:count])
    sys.stdout.write(f"{count} messages, held out: AUC {apart:.3f}\n")
    found = fitted(scaled, wanted, weights)
    constant = found[-1] - SCALE * float(mean @ found[:-1])
    np.save(FOLLOW_UP_WEIGHTS, np.r_[found[:-1] * SCALE, constant].astype("<f4"))


if __name__ == "__main__":
    main()
