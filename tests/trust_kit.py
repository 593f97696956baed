"""A desk that earns its modes, with a scripted brain, and people who decide what it writes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from deskhand.model.message import Message
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, ReviewState, Verdict
from deskhand.wiring import Desk, open_database, open_desk, read_desk
from tests.kit import a_message

DESK = """
desk: earning
brain: {scripted: brain.yaml}
modes: {inquiry: auto, complaint: draft, else: auto}
trust: {SETTINGS}
flows:
  main:
    stages:
      classify: {task: classify, categories: [inquiry, complaint, other], next: draft}
      draft: {task: draft, output: reply, next: review}
      review: {service: review, auto_send_at: 0.8, always_ask: [complaint], next: dispatch}
      dispatch: {service: dispatch}
"""
RULES = """
rules:
  - {when: {stage: classify, contains: [terrible]}, answer: {category: complaint, confidence: 0.95}}
  - {when: {stage: classify, contains: [unsure]}, answer: {category: inquiry, confidence: 0.3}}
  - {when: {stage: classify}, answer: {category: inquiry, confidence: 0.95}}
  - {when: {stage: draft}, answer: {text: It is on its way., language: en}}
"""


def write_desk(folder: Path, settings: str = "start: draft") -> Path:
    desk = folder / "earning"
    desk.mkdir(exist_ok=True)
    (desk / "desk.yaml").write_text(DESK.replace("SETTINGS", settings))
    (desk / "brain.yaml").write_text(RULES)
    return desk


@asynccontextmanager
async def earning(
    folder: Path, settings: str = "start: draft", url: str | None = None
) -> AsyncIterator[Desk]:
    loaded = read_desk(str(write_desk(folder, settings)))
    async with (
        open_database(url or str(folder / "deskhand.db")) as database,
        open_desk(loaded, database, outbox=folder / "outbox", grace=1) as desk,
    ):
        yield desk


async def worked(desk: Desk, message: Message) -> tuple[str, str]:
    """Hand a message in; its run and the status that came to rest in."""
    accepted = await desk.dispatcher.submit(message)
    return accepted.run_id, str(await desk.dispatcher.wait(accepted.run_id))


async def decide(desk: Desk, run_id: str, decision: str, **more: Any) -> str:
    """Decide what waits of a run; the status it then comes to rest in."""
    (review,) = await desk.store.find_reviews(ReviewFilter(run_id=run_id, state=ReviewState.OPEN))
    await desk.store.decide(review.id, Verdict(Decision(decision), "eve", review.version, **more))
    desk.dispatcher.wake()
    run = await desk.store.run(run_id)
    return str(await desk.dispatcher.wait(run_id) if run.status.is_active else run.status)


async def approve_many(desk: Desk, count: int, first: int = 1) -> None:
    for number in range(first, first + count):
        run_id, status = await worked(desk, a_message(number))
        assert status == "waiting_review"
        assert await decide(desk, run_id, "approve") == "sent"
