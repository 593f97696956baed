"""Recording what happens on a desk, and replaying it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from deskhand.evals.recorded_chat import RecordedChat
from deskhand.evals.recorded_runs import RunRange, read_conversations
from deskhand.evals.replay import Replayed, replay_conversations
from deskhand.mail.message_files import message_from
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, ReviewState, Verdict
from deskhand.wiring import Desk, open_database, open_desk, open_sandbox, open_store, read_desk

ALL = RunRange()


@dataclass
class Recorder:
    """A desk at work, for real: effects happen and every row is kept."""

    desk: Desk
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    async def say(self, text: str, conversation: str | None = None, **fields: Any) -> str:
        """A customer writes; the run's id once it rests."""
        number = next(self.numbers)
        data = {"from": "ann@example.com", "subject": "Hello", "body": text, **fields}
        message = message_from(
            data, conversation=conversation or f"c{number}", vouched_by="the test"
        )
        accepted = await self.desk.dispatcher.submit(message)
        await self.desk.dispatcher.wait(accepted.run_id)
        return accepted.run_id

    async def decide(
        self,
        run_id: str,
        decision: Decision,
        *,
        note: str | None = None,
        edit: Mapping[str, Any] | None = None,
        by: str = "eve",
    ) -> None:
        """A person decides what waits; back when the run rests again."""
        waiting = [
            one
            for one in await self.desk.store.find_reviews(ReviewFilter(run_id=run_id))
            if one.state is ReviewState.OPEN
        ]
        review = waiting[-1]
        verdict = Verdict(
            decision, by, review.version, review.payload_hash, note, dict(edit) if edit else None
        )
        await self.desk.store.decide(review.id, verdict)
        await self.go_on(run_id)

    async def go_on(self, run_id: str) -> None:
        self.desk.dispatcher.wake()
        await self.desk.dispatcher.wait(run_id)


@asynccontextmanager
async def recording(
    folder: Path, database: Path, *, outbox: Path | None = None
) -> AsyncIterator[Recorder]:
    async with open_database(str(database)) as opened:
        place = outbox or database.parent / "outbox"
        async with open_desk(read_desk(str(folder)), opened, outbox=place) as desk:
            yield Recorder(desk)


async def replayed(
    database: Path, folder: Path, window: RunRange = ALL, *, desk: str | None = None
) -> tuple[Replayed, RecordedChat]:
    loaded, chat = read_desk(str(folder)), RecordedChat()
    async with open_database(str(database)) as opened:
        conversations = await read_conversations(
            open_store(opened, desk or loaded.spec.name), window
        )
    async with open_sandbox(loaded, chat=lambda own: chat.before(None), rest=0.0) as sandbox:
        return await replay_conversations(conversations, sandbox, chat), chat


def verdicts(found: Replayed) -> dict[str, str]:
    return {one["run"]: one["verdict"] for one in found.runs}


def changes_of(found: Replayed, run_id: str) -> dict[str, tuple[Any, Any]]:
    [run] = [one for one in found.runs if one["run"] == run_id]
    return {change["what"]: (change["before"], change["now"]) for change in run["changes"]}
