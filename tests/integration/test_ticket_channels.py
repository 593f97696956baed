"""A customer who is asked on one channel and answers on another."""

from pathlib import Path
from typing import Any

from deskhand.engine.story import read_records
from deskhand.mail.message_files import message_from
from deskhand.model.run import RunStatus
from deskhand.model.ticket import DESK
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.handling import note_answers
from deskhand.wiring import Desk, open_database, open_desk, read_desk

YAML = """\
desk: shop
mode: auto
brain: {scripted: brain.yaml}
tickets: {reopen_within: REOPEN}
flows:
  main:
    stages:
      match: {service: match_ticket, output: ticket, next: ask}
      ask: {service: ask, output: asked, next: answer}
      answer: {task: draft, next: dispatch}
      dispatch: {service: dispatch}
"""
BRAIN = """\
rules:
  - {when: {task: match}, answer: {match: null, confidence: 0.0}}
  - {answer: {text: It is on its way., language: en, confidence: 0.9}}
"""
TOOLS = '''
from deskhand.model.envelope import Ask
from deskhand.model.outcome import Outcome
from deskhand.tools import service
from deskhand.tools.services import ServiceResult

@service("ask")
async def ask(envelope, ctx, settings):
    """Asks for the number once; goes on where an earlier run asked."""
    if "adopted_from" in envelope.metadata or "number" not in envelope.raw_input:
        was_asked = envelope.metadata.get("asked")
        return {"adopted": envelope.metadata.get("adopted_from"), "question": was_asked}
    question = Ask(kind="question", reason="it is missing", text="Which number?")
    return ServiceResult(outcome=Outcome.CLARIFY, ask=question)
'''


def a_desk(folder: Path, reopen: str = "14 days") -> Path:
    (folder / "desk.yaml").write_text(YAML.replace("REOPEN", reopen))
    (folder / "brain.yaml").write_text(BRAIN)
    (folder / "tools.py").write_text(TOOLS)
    return folder


class Shop:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.sent = 0

    async def say(self, body: str, **fields: Any) -> tuple[str, RunStatus]:
        """A message in a conversation of its own; its run, and how that came to rest."""
        self.sent += 1
        data = {"from": "ann@example.com", "customer_id": "CUST-1", "body": body, **fields}
        data = {"id": f"m{self.sent}", "conversation": f"c{self.sent}", **data}
        vouched_by = None if data["customer_id"] is None else "a test"
        message = message_from(data, vouched_by=vouched_by)
        run_id = (await self.desk.dispatcher.submit(message)).run_id
        return run_id, await self.desk.dispatcher.wait(run_id)

    async def ticket(self, run_id: str) -> str:
        return str(await self.desk.tickets.store.ticket_of_run(run_id))


async def test_an_answer_on_another_channel_takes_the_question_up(tmp_path: Path) -> None:
    loaded = read_desk(str(a_desk(tmp_path)))
    async with (
        open_database(str(tmp_path / "d.db")) as database,
        open_desk(loaded, database, outbox=tmp_path / "outbox") as desk,
    ):
        shop = Shop(desk)
        asked, status = await shop.say("Where is my parcel? I do not know its number.")
        assert status is RunStatus.WAITING_USER
        ticket = await shop.ticket(asked)
        await note_answers(desk.tickets, DESK)
        waiting = await desk.tickets.find(ticket)
        assert waiting.state is TicketState.PENDING
        assert [end for _, end in waiting.pauses] == [None]

        stranger, _ = await shop.say(f"{ticket}: the number is 7.", customer_id=None)
        assert (await desk.store.run(asked)).status is RunStatus.WAITING_USER
        assert await shop.ticket(stranger) != ticket

        answer, status = await shop.say(f"{ticket}: the number is 7.", channel="chat")
        assert status is RunStatus.SENT
        assert await shop.ticket(answer) == ticket
        going_on = await desk.tickets.find(ticket)
        assert going_on.state is TicketState.ACTIVE
        assert None not in [end for _, end in going_on.pauses]
        parked = await desk.store.run(asked)
        assert (parked.status, parked.successor) == (RunStatus.DONE, answer)
        records = await read_records(desk.store, answer)
        found = records.states[-1].after.outputs["asked"]
        assert (found["adopted"], found["question"]["text"]) == (asked, "Which number?")


async def test_how_long_a_solved_ticket_is_reopened_is_a_setting(tmp_path: Path) -> None:
    loaded = read_desk(str(a_desk(tmp_path, "2 hours")))
    assert loaded.spec.tickets.reopen_seconds == 7200.0
    async with (
        open_database(str(tmp_path / "d.db")) as database,
        open_desk(loaded, database, outbox=tmp_path / "outbox") as desk,
    ):
        assert desk.tickets.reopen_within == 7200.0
        shop = Shop(desk)
        first, _ = await shop.say("Where is my parcel?")
        ticket = await shop.ticket(first)
        await desk.tickets.set_state(ticket, TicketState.SOLVED, "eve")
        again, _ = await shop.say(f"{ticket}: it is still not here.")
        assert await shop.ticket(again) == ticket
        await desk.tickets.set_state(ticket, TicketState.SOLVED, "eve")
        now = desk.tickets.now
        desk.tickets.now = lambda: now() + 7300
        late, _ = await shop.say(f"{ticket}: it is still not here!")
        assert await shop.ticket(late) != ticket
