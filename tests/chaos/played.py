"""What long tests have played so far, so that they go on where they were interrupted.

`python -m tests.chaos.played` prints it.
"""

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import deskhand
from tests.chaos.findings import Findings

ROOT = Path(__file__).parents[2]
CODE = (Path(deskhand.__file__).parent, ROOT / "tests" / "chaos")
FOLDER = ROOT / ".black-box"


def digest_of_code(folders: Iterable[Path]) -> str:
    """Changes whenever a Python file in these folders does."""
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


class BlackBoxTally:
    """The findings of the games that went well, by name, with the code that played them. Other
    code begins anew.

    Each game has a file of its own, which is there as a whole or not at all: processes that play
    side by side share the folder.
    """

    def __init__(self, folder: Path, code: str) -> None:
        self._folder, self._code = folder, code

    @property
    def played(self) -> dict[str, dict[str, Any]]:
        games: dict[str, dict[str, Any]] = {}
        for file in sorted(self._folder.glob("*.json")):
            kept = json.loads(file.read_text())
            if kept["code"] == self._code:
                games[file.stem] = kept["findings"]
        return games

    def add(self, game: str, findings: Findings) -> None:
        self._folder.mkdir(exist_ok=True)
        written = self._folder / f"{game}.new-{os.getpid()}"
        kept = {"code": self._code, "findings": asdict(findings)}
        written.write_text(json.dumps(kept, indent=1))
        written.replace(self._folder / f"{game}.json")

    def __str__(self) -> str:
        games = self.played.values()
        kills = sum(findings["kills"] for findings in games)
        in_flight = sum(findings["in_flight"] for findings in games)
        outages = sum(findings["outages"] for findings in games)
        return (
            f"{len(games)} games, {kills} kills with {in_flight} runs in flight, {outages} outages"
            " of the model: lost 0, doubled 0, out of order 0, stuck 0"
        )


def black_box_tally() -> BlackBoxTally:
    """What the black box has played with the code as it is now."""
    return BlackBoxTally(FOLDER, digest_of_code(CODE))


if __name__ == "__main__":
    tally = black_box_tally()
    for game, findings in tally.played.items():
        sys.stdout.write(f"{game}: {findings}\n")
    sys.stdout.write(f"{tally}\n")
