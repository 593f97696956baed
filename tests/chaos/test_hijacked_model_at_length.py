"""A million steps of the hijacked model: what a few thousand do not meet.

It goes on where it was interrupted: `.hijacked-model.json` tells which seeds were played, and by
which code. Delete it, or change the code, and it begins anew.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import deskhand
from tests.chaos.played import digest_of_code
from tests.security.hijack.game import Table, Tally, play_by_chance

STEPS = 1_000_000
A_LIFE = 5_000
FIRST_SEED = 1_001
ROOT = Path(__file__).parents[2]
CODE = (Path(deskhand.__file__).parent, ROOT / "tests" / "security" / "hijack")

pytestmark = pytest.mark.chaos


@dataclass
class Progress:
    """What was played so far, written after every life."""

    file: Path
    code: str
    seed: int = FIRST_SEED
    tally: Tally = field(default_factory=Tally)

    @classmethod
    def of(cls, file: Path, code: str) -> "Progress":
        kept = json.loads(file.read_text()) if file.exists() else {}
        if kept.get("code") != code:
            return cls(file, code)
        played = Tally(kept["steps"], kept["games"], kept["deeds"])
        return cls(file, code, kept["seed"], played)

    def add(self, played: Tally) -> None:
        self.seed += 1
        self.tally += played
        written = self.file.with_suffix(".new")
        written.write_text(json.dumps(self._kept()))
        written.replace(self.file)

    def _kept(self) -> dict[str, object]:
        counts = {name: getattr(self.tally, name) for name in ("steps", "games", "deeds")}
        return {"code": self.code, "seed": self.seed, **counts}

    def __str__(self) -> str:
        tally = self.tally
        return f"{tally.steps:,} steps, {tally.games:,} games, {tally.deeds:,} deeds, 0 violations"


async def test_a_million_steps_find_no_way(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", logger="deskhand")
    tables = {policy: Table(policy=policy) for policy in (True, False)}
    progress = Progress.of(ROOT / ".hijacked-model.json", digest_of_code(CODE))
    print(f"hijacked model: going on after {progress}", flush=True)
    while progress.tally.steps < STEPS:
        seed = progress.seed
        played = await play_by_chance(tables[seed % 2 == 0], seed, A_LIFE)
        assert not played.rules["gate_error"], (seed, played)
        progress.add(played)
        print(f"hijacked model: seed {seed}, {progress}", flush=True)


def test_an_interrupted_game_goes_on_with_the_same_code_only(tmp_path: Path) -> None:
    file = tmp_path / "tally.json"
    progress = Progress.of(file, "a")
    progress.add(Tally(steps=5, games=1, deeds=2))
    again = Progress.of(file, "a")
    assert (again.seed, again.tally.steps, again.tally.deeds) == (FIRST_SEED + 1, 5, 2)
    assert Progress.of(file, "b").tally.steps == 0
