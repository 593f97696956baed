"""Learn the examples and questions of the shipped desks once, before many tests ask for them.

    .venv/bin/python scripts/learn_desks.py           # a minute on a new machine, then seconds
    .venv/bin/python scripts/learn_desks.py --ship    # after examples or questions have changed

What was learned lies in the user's cache, where every process finds it. The vectors that it is
learned from lie in the package, where `--ship` writes them (deskhand/language/shipped_vectors.py).
"""

import sys
import time
from pathlib import Path
from typing import Any

from deskhand.brain.build import learned_questions
from deskhand.brain.desk_intents import learned_intents
from deskhand.language.embed import shared_embedder
from deskhand.language.intent_examples import load_intents
from deskhand.language.question_examples import load_questions
from deskhand.language.shipped_vectors import write_shipped
from deskhand.wiring import SHIPPED, SHIPPED_PREFIX, read_desk


def ship() -> None:
    """Write the vectors of all examples and questions into the package."""
    embedder = shared_embedder()
    vectors: dict[bytes, Any] = {}
    for folder in sorted(SHIPPED.glob("*/desk.yaml")):
        texts = learned_texts(folder.parent)
        keys = [embedder.key(text) for text in texts]
        vectors |= zip(keys, embedder.embed(texts, keep=True), strict=True)
        sys.stdout.write(f"{folder.parent.name}: {len(texts)} texts\n")
    write_shipped(vectors)


def learned_texts(folder: Path) -> list[str]:
    """What a desk's models learn from, without names and descriptions of categories."""
    intents, questions = load_intents(folder), load_questions(folder)
    pairs = [*intents.examples, *questions.labelled]
    return [*(text for text, _ in pairs), *intents.out_of_scope]


def main() -> None:
    if sys.argv[1:] == ["--ship"]:
        ship()
        return
    for folder in sorted(SHIPPED.glob("*/desk.yaml")):
        name = folder.parent.name
        spec = read_desk(f"{SHIPPED_PREFIX}{name}").spec
        started = time.monotonic()
        learned_intents(spec, load_intents(spec.folder))
        learned_questions(spec, load_questions(spec.folder))
        sys.stdout.write(f"{name}: learned in {time.monotonic() - started:.0f} s\n")


if __name__ == "__main__":
    main()
