"""What long tests have played so far, so that they go on where they were interrupted."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.chaos.black_box import Findings


def digest_of_code(folders: Iterable[Path]) -> str:
    """Changes whenever a Python file in these folders does."""
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


class BlackBoxTally:
    """The findings of the games that went well, by name, with the code that played them. Other
    code begins anew."""

    def __init__(self, file: Path, code: str) -> None:
        self._file, self._code = file, code
        kept = json.loads(file.read_text()) if file.exists() else {}
        self.played: dict[str, dict[str, Any]] = {}
        if kept.get("code") == code:
            self.played = kept["played"]

    def add(self, game: str, findings: Findings) -> None:
        self.played[game] = asdict(findings)
        written = self._file.with_suffix(".new")
        written.write_text(json.dumps({"code": self._code, "played": self.played}, indent=1))
        written.replace(self._file)

    def __str__(self) -> str:
        kills = sum(findings["kills"] for findings in self.played.values())
        outages = sum(findings["outages"] for findings in self.played.values())
        return (
            f"{len(self.played)} games, {kills} kills, {outages} outages of the model:"
            " lost 0, doubled 0, out of order 0, stuck 0"
        )
