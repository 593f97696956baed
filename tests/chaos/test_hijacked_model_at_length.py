"""A million steps of the hijacked model: what a few thousand do not meet."""

import pytest

from tests.security.hijack.game import Table, Tally, play_by_chance

STEPS = 1_000_000
A_LIFE = 25_000

pytestmark = pytest.mark.chaos


async def test_a_million_steps_find_no_way(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", logger="deskhand")
    tables = {policy: Table(policy=policy) for policy in (True, False)}
    total, seed = Tally(), 1_000
    while total.steps < STEPS:
        seed += 1
        played = await play_by_chance(tables[seed % 2 == 0], seed, A_LIFE)
        assert not played.rules["gate_error"], played
        total += played
        print(
            f"hijacked model: seed {seed}, {total.steps:,} steps, {total.games:,} games,"
            f" {total.deeds:,} deeds",
            flush=True,
        )
