"""Processes killed on the way to an appointment: one time is held, confirmed and promised, once."""

import asyncio
from pathlib import Path

import pytest

from tests.booking_desk import survive
from tests.calendar_servers import radicale

POINTS = [
    f"{point}:{passage}"
    for point in (
        "effect.before_intend",
        "effect.after_intend",
        "effect.after_perform",
        "effect.after_settle",
    )
    for passage in (1, 2)
]


@pytest.mark.chaos
@pytest.mark.parametrize(
    "setting", [*POINTS, "loop.after_work:4", "loop.after_row:4", "dispatch.before_finish:1"]
)
async def test_a_killed_process_holds_and_confirms_once(tmp_path: Path, setting: str) -> None:
    collection = await (await asyncio.to_thread(radicale)).new_calendar()
    await survive(tmp_path, collection, setting)
