"""Learn which kind of turn a text is from its vector, and write `turn_kinds.npz`.

    .venv/bin/python scripts/build_turn_model.py [--without later.jsonl]

It takes a minute. `--without` leaves a file of training/turns out, to measure on it.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from deskhand.config.yaml import read_yaml
from deskhand.language.embed import shared_embedder
from deskhand.language.turn_phrases import MODEL_FILE

ROOT = Path(__file__).parents[1]
READING, TURNS = ROOT / "training" / "reading" / "turns", ROOT / "training" / "turns"
SEVERAL = "answers_several"
"""Told from an answer by its values, not by its words."""
INVERSE_PENALTY = 30.0


def examples(without: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Texts with their kinds."""
    for kind, texts in read_yaml(TURNS / "examples.yaml").data.items():
        for text in texts:
            yield str(text), kind
    for path in sorted((*READING.glob("*.jsonl"), *TURNS.glob("*.jsonl"))):
        if path.name in without:
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            turn = json.loads(line)
            yield turn["text"], turn["kind"].replace(SEVERAL, "answer")


def main(arguments: Sequence[str]) -> None:
    without = arguments[1:] if arguments[:1] == ["--without"] else []
    texts, kinds = zip(*examples(without), strict=True)
    vectors = shared_embedder().embed(texts, keep=True)
    fitted = LogisticRegression(C=INVERSE_PENALTY, max_iter=3000, class_weight="balanced")
    fitted.fit(vectors, kinds)
    weights = np.hstack([fitted.coef_, fitted.intercept_[:, None]]).astype(np.float32)
    np.savez_compressed(MODEL_FILE, kinds=np.array(fitted.classes_, dtype=str), weights=weights)
    sys.stdout.write(f"{len(texts)} turns of {len(fitted.classes_)} kinds\n")


if __name__ == "__main__":
    main(sys.argv[1:])
