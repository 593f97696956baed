"""Learn the examples and questions of the shipped desks once, before many tests ask for them.

    .venv/bin/python scripts/learn_desks.py

What was learned lies in the user's cache, where every process finds it. On a machine that has not
done so it takes about a minute; afterwards, seconds.
"""

import sys
import time

from deskhand.brain.build import learned_questions
from deskhand.brain.desk_intents import learned_intents
from deskhand.language.intent_examples import load_intents
from deskhand.language.question_examples import load_questions
from deskhand.wiring import SHIPPED, SHIPPED_PREFIX, read_desk


def main() -> None:
    for folder in sorted(SHIPPED.glob("*/desk.yaml")):
        name = folder.parent.name
        spec = read_desk(f"{SHIPPED_PREFIX}{name}").spec
        started = time.monotonic()
        learned_intents(spec, load_intents(spec.folder))
        learned_questions(spec, load_questions(spec.folder))
        sys.stdout.write(f"{name}: learned in {time.monotonic() - started:.0f} s\n")


if __name__ == "__main__":
    main()
