"""Score what a person must see, on labelled messages.

    python scripts/score_concerns.py alarming.jsonl ordinary.jsonl

A line of the first file holds `language`, `text` and `concern`; one of the second `language` and
`text`, with nothing in it that a person must see.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from deskhand.language.concerns import Concern, concerns_in


def main(alarming: list[dict[str, Any]], ordinary: list[dict[str, Any]]) -> None:
    seen: Counter[str] = Counter()
    named: Counter[str] = Counter()
    missed: list[str] = []
    for message in alarming:
        found = {found.concern for found in concerns_in(message["text"])}
        seen[message["concern"]] += bool(found)
        named[message["concern"]] += message["concern"] in found
        if not found:
            missed.append(f"missed {message['concern']}: {message['text'][:150]}")
    wrongly: Counter[str] = Counter()
    alarms: list[str] = []
    for message in ordinary:
        concerns = concerns_in(message["text"])
        wrongly.update(found.concern.value for found in concerns)
        if concerns:
            names = ", ".join(f"{found.concern} {found.probability:.2f}" for found in concerns)
            alarms.append(f"wrongly {names}: {message['text'][:150]}")
    sys.stdout.write("\n".join([*missed, *alarms]) + "\n")
    for concern in Concern:
        of_it = sum(message["concern"] == concern for message in alarming)
        sys.stdout.write(
            f"{concern}: {seen[concern]} of {of_it} seen, {named[concern]} by its name; "
            f"wrongly {wrongly[concern]} of {len(ordinary)}\n"
        )
    sys.stdout.write(
        f"seen {sum(seen.values()) / len(alarming):.3f}, "
        f"ordinary messages called so {len(alarms) / len(ordinary):.3f}\n"
    )


def _lines(file: str) -> list[dict[str, Any]]:
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


if __name__ == "__main__":
    main(_lines(sys.argv[1]), _lines(sys.argv[2]))
