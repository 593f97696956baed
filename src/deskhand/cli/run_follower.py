"""Handing messages to an open desk and following each to its rest."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from deskhand.cli.agent_lines import DraftView
from deskhand.engine.story import Document, read_records, story_of
from deskhand.model.events import AgentEvent
from deskhand.model.message import Message
from deskhand.model.run import RunStatus, StepRow

if TYPE_CHECKING:
    from rich.status import Status

    from deskhand.cli.run_printer import RunPrinter
    from deskhand.wiring import Desk

_LOOK_EVERY = 0.1


class StageWatch:
    """Notices when stages start and end, so that what they recorded is told at once."""

    def __init__(self, spinner: "Status | None" = None) -> None:
        self.changed = asyncio.Event()
        self.streams = spinner is not None
        """Whether an agent's text is to come in piece by piece."""
        self._spinner = spinner
        self._drafts = DraftView() if spinner is None else DraftView(spinner.console.width)

    def emit(self, event: AgentEvent) -> None:
        self.changed.set()
        shown = None if self._spinner is None else self._drafts.shown(event)
        if self._spinner is not None and shown is not None:
            self._spinner.update(shown)


async def work_message(
    desk: "Desk",
    message: Message,
    watch: StageWatch,
    printer: "RunPrinter | None" = None,
    title: str = "",
) -> Document:
    """Hand a message in, tell it and its steps as they are recorded, and return its story once
    it rests."""
    accepted = await desk.dispatcher.submit(message)
    if printer is not None:
        printer.accepted(await desk.store.message(accepted.run_id) or message, title)
    return await follow(desk, accepted.run_id, watch, printer)


async def follow(
    desk: "Desk",
    run_id: str,
    watch: StageWatch,
    printer: "RunPrinter | None" = None,
    *,
    steps_shown: int = 0,
) -> Document:
    """Print a run's steps after the first `steps_shown` until it rests.

    Raises Fenced when another process takes the database.
    """
    resting = asyncio.ensure_future(desk.dispatcher.wait(run_id))
    try:
        if printer is None:
            await _first_of(resting, desk.dispatcher.lost)
        else:
            async for row in _steps(desk, run_id, resting, watch, steps_shown):
                printer.step(row)
    finally:
        resting.cancel()
    story = story_of(await read_records(desk.store, run_id))
    if printer is not None:
        printer.rest(story)
    return story


async def _steps(
    desk: "Desk",
    run_id: str,
    resting: "asyncio.Future[RunStatus]",
    watch: StageWatch,
    steps_shown: int,
) -> AsyncIterator[StepRow]:
    while True:
        over = resting.done()
        rows = await desk.store.rows(run_id)
        for row in rows[steps_shown:]:
            yield row
        steps_shown = len(rows)
        if over:
            return
        watch.changed.clear()
        changed = asyncio.ensure_future(watch.changed.wait())
        try:
            await _first_of(resting, desk.dispatcher.lost, changed, timeout=_LOOK_EVERY)
        finally:
            changed.cancel()


async def _first_of(*futures: "asyncio.Future[Any]", timeout: float | None = None) -> None:
    done, _ = await asyncio.wait(futures, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    for future in done:
        future.result()
