"""What a desk remembers of a conversation, with a restart between all turns, on both databases."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.stores.database_copy import copy_database
from deskhand.adapters.stores.postgres_backend import PostgresBackend
from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from deskhand.engine.conversation_documents import show_conversation
from deskhand.engine.journal import result_of
from deskhand.engine.story import read_records, story_of
from deskhand.model.message import Address, Message
from deskhand.model.principal import asserted
from deskhand.model.remembered import Remembered
from deskhand.wiring import Desk, open_database, open_desk, read_desk
from deskhand.wiring.erasing import erase_person
from tests.servers import new_database, postgres_programs

DESK = """\
desk: orders
mode: auto
brain: {signature: The shop}
slots: {order: {type: order_number, prefix: [O], min_digits: 5, max_digits: 5}}
memory: {turns: 3, tokens: 600}
flows:
  main:
    stages:
      classify: {task: classify, categories: [order_status, cancel_order, other], output: classification, next: decide}
      decide: {task: decide, output: plan, next: act}
      act: {tools: [find_order, cancel_order]}
policy:
  - {name: cancel, when: {tool: cancel_order}, then: allow}
"""  # noqa: E501
TOOLS = '''\
from deskhand import tool


@tool(effect="read")
async def find_order(order: str) -> dict:
    """Look up where a parcel is."""
    return {"order": order, "status": "on its way"}


@tool(effect="keyed")
async def cancel_order(order: str) -> dict:
    """Cancel an order."""
    return {"order": order}
'''
INTENTS = """\
intents:
  order_status:
    slots: {required: {order: {ask: {en: Which order is it?}}}}
    steps: [{tool: find_order, parameters: {order: "{slots.order}"}}]
    post: {en: "Order {results.find_order.order} is {results.find_order.status}."}
    examples:
      - Where is my parcel?
      - Where is my order?
      - When will my order arrive?
      - And when does it arrive?
      - My package has not been delivered yet
      - Can you tell me the status of my order?
      - I am still waiting for my delivery
      - When does it come?
      - Tracking of my shipment please
  cancel_order:
    slots: {required: {order: {ask: {en: Which order shall be cancelled?}}}}
    steps: [{tool: cancel_order, parameters: {order: "{slots.order}"}}]
    post: {en: "Order {slots.order} is cancelled."}
    examples:
      - Please cancel my order
      - Cancel it please
      - I want to cancel what I bought
      - Could you cancel that for me?
      - I do not want it any more, cancel the order
      - Please stop my order, cancel it
out_of_scope: [What is the capital of France?, Can you sponsor our football club?, I would like to work for you]
"""  # noqa: E501


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DESKHAND_CACHE", str(tmp_path / "cache"))
    made = tmp_path / "orders"
    made.mkdir()
    for name, text in (("desk.yaml", DESK), ("tools.py", TOOLS), ("intents.yaml", INTENTS)):
        (made / name).write_text(text)
    return made


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "d.db")
    if postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    return new_database()


class Talk:
    """A conversation with a desk that is started anew for every message."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder = folder
        self.database = database
        self.count = 0
        self.runs: list[str] = []

    @asynccontextmanager
    async def desk(self) -> AsyncIterator[Desk]:
        outbox = self.folder.parent / "outbox"
        loaded = read_desk(str(self.folder))
        async with (
            open_database(self.database) as opened,
            open_desk(loaded, opened, outbox=outbox, live=False) as desk,
        ):
            yield desk

    async def say(self, body: str, sender: str = "ann", days: int = 0) -> dict[str, Any]:
        self.count += 1
        received = datetime(2026, 11, 15, 9, self.count, tzinfo=UTC) + timedelta(days=days)
        address = f"{sender}@example.com"
        message = Message(
            id=f"m{self.count}",
            channel="chat",
            conversation="c",
            sender=Address(address=address, name=sender),
            body=body,
            principal=asserted(f"c-{sender}", by="a test", address=address),
            received_at=received,
        )
        async with self.desk() as desk:
            accepted = await desk.dispatcher.submit(message)
            await desk.dispatcher.wait(accepted.run_id)
            self.runs.append(accepted.run_id)
            return story_of(await read_records(desk.store, accepted.run_id))

    async def memory(self, number: int) -> Remembered | None:
        """What the run of a message remembered, as its first row says."""
        async with self.desk() as desk:
            rows = await desk.store.rows(self.runs[number - 1])
        return Remembered.read(result_of(rows[0]).delta.metadata)


@pytest.fixture
def talk(folder: Path, database: str) -> Talk:
    return Talk(folder, database)


def said(story: dict[str, Any]) -> str:
    return str(story["reply"]["text"])


async def test_a_later_message_knows_the_order_of_an_earlier_one(talk: Talk) -> None:
    first = await talk.say("Where is my order O-10018?")
    assert said(first) == "Order O-10018 is on its way."
    then = await talk.say("And when does it arrive?")
    assert (then["status"], said(then)) == ("sent", "Order O-10018 is on its way.")
    memory = await talk.memory(2)
    assert memory is not None
    assert memory.newest == {"order": "O-10018"}
    [turn] = memory.turns
    assert (turn.said, turn.answered) == (
        "Where is my order O-10018?",
        "Order O-10018 is on its way.",
    )
    assert await talk.memory(1) is None


async def test_an_effect_on_what_was_only_remembered_is_confirmed_first(talk: Talk) -> None:
    await talk.say("Where is my order O-10018?")
    asked = await talk.say("Please cancel my order")
    assert (asked["status"], said(asked)) == (
        "waiting_user",
        "Have I got this right: order O-10018?",
    )
    done = await talk.say("yes")
    assert (done["status"], said(done)) == ("sent", "Order O-10018 is cancelled.")
    await talk.say("And when does it arrive?")
    memory = await talk.memory(4)
    assert memory is not None
    assert [turn.done for turn in memory.turns] == [(), (), ("cancel_order",)]


async def test_what_was_remembered_wrongly_is_asked_for(talk: Talk) -> None:
    await talk.say("Where is my order O-10018?")
    await talk.say("Please cancel my order")
    asked = await talk.say("no")
    assert (asked["status"], said(asked)) == ("waiting_user", "Which order shall be cancelled?")
    done = await talk.say("O-10019")
    assert (done["status"], said(done)) == ("sent", "Order O-10019 is cancelled.")


async def test_the_other_one_is_the_one_that_was_not_meant(talk: Talk) -> None:
    await talk.say("Where is my order O-10018?")
    await talk.say("And where is my order O-10019?")
    asked = await talk.say("Please cancel my order")
    assert said(asked) == "Have I got this right: order O-10019?"
    other = await talk.say("no, the other one")
    assert said(other) == "Have I got this right: order O-10018?"
    done = await talk.say("yes, that one")
    assert (done["status"], said(done)) == ("sent", "Order O-10018 is cancelled.")


async def test_old_turns_become_a_summary(talk: Talk) -> None:
    for number in range(10011, 10017):
        await talk.say(f"Where is my order O-{number}?")
    memory = await talk.memory(6)
    assert memory is not None
    assert memory.messages == 5
    assert len(memory.turns) == 3
    assert len(memory.summary) == 2
    assert "O-10011" in memory.summary[0].text
    assert "order_status" in memory.summary[0].text


async def test_what_another_person_said_is_not_remembered(talk: Talk) -> None:
    await talk.say("Where is my order O-10018?")
    asked = await talk.say("And when does it arrive?", sender="eve")
    assert said(asked) == "Which order is it?"
    assert await talk.memory(2) is None


async def test_what_somebody_made_the_desk_forget_is_not_remembered(talk: Talk) -> None:
    await talk.say("Where is my order O-10018?")
    await talk.say("Please cancel my order")
    async with talk.desk() as desk:
        assert await desk.store.forget("c", "ida") == 2
        assert (await desk.store.run(talk.runs[-1])).status == "cancelled"
        assert await desk.store.forget("c", "ida") == 0
    asked = await talk.say("And when does it arrive?")
    assert said(asked) == "Which order is it?"


async def test_what_is_older_than_the_desk_keeps_records_is_forgotten(talk: Talk) -> None:
    (talk.folder / "desk.yaml").write_text(DESK + "retention: {runs: 30d}\n")
    await talk.say("Where is my order O-10018?")
    asked = await talk.say("And when does it arrive?", days=31)
    assert said(asked) == "Which order is it?"


async def test_an_erased_person_is_gone_from_the_memory_of_others(talk: Talk) -> None:
    """Two addresses of one customer: the second one's runs remember what the first one said."""
    await talk.say("Where is my order O-10018? I am Ann of Bergen Road 5.")
    async with talk.desk() as desk:
        message = await desk.store.message(talk.runs[0])
        assert message is not None
        other = message.changed(
            id="m-other", sender=Address(address="home@example.com"), body="When does it come?"
        )
        accepted = await desk.dispatcher.submit(other)
        await desk.dispatcher.wait(accepted.run_id)
        rows = await desk.store.rows(accepted.run_id)
        assert any(b"Bergen Road" in (row.body or b"") for row in rows)
    async with open_database(talk.database) as opened:
        erased = await erase_person(opened, "orders", "ann@example.com", "ida")
    assert erased.runs == 1
    async with talk.desk() as desk:
        rows = await desk.store.rows(accepted.run_id)
        assert not any(b"Bergen Road" in (row.body or b"") for row in rows)
        assert await desk.store.message(accepted.run_id) is not None


@pytest.mark.skipif(postgres_programs() is None, reason="PostgreSQL's server is not installed")
async def test_a_copied_database_remembers_and_goes_on(folder: Path, tmp_path: Path) -> None:
    talk = Talk(folder, str(tmp_path / "d.db"))
    await talk.say("Where is my order O-10018?")
    await talk.say("Please cancel my order")
    before = await talk.memory(2)
    await copy_to_postgresql(talk)
    assert before is not None
    assert await talk.memory(2) == before
    done = await talk.say("yes")
    assert (done["status"], said(done)) == ("sent", "Order O-10018 is cancelled.")
    then = await talk.say("And when does it arrive?")
    assert said(then) == "Order O-10018 is on its way."


@pytest.mark.skipif(postgres_programs() is None, reason="PostgreSQL's server is not installed")
async def test_what_was_forgotten_stays_forgotten_in_a_copy(folder: Path, tmp_path: Path) -> None:
    talk = Talk(folder, str(tmp_path / "d.db"))
    await talk.say("Where is my order O-10018?")
    async with talk.desk() as desk:
        assert await desk.store.forget("c", "ida") == 1
    await copy_to_postgresql(talk)
    asked = await talk.say("And when does it arrive?")
    assert said(asked) == "Which order is it?"
    assert await talk.memory(2) is None


async def copy_to_postgresql(talk: Talk) -> None:
    """Copy the desk's database, and talk on with the copy."""
    source = await SqliteBackend.open(Path(talk.database))
    talk.database = await asyncio.to_thread(new_database)
    target = await PostgresBackend.open(talk.database)
    await copy_database(source, target, lambda *progress: None)
    await source.close()
    await target.close()


async def test_what_is_redacted_is_shown_to_nobody(talk: Talk) -> None:
    await talk.say("Where is my order O-10018?")
    await talk.say("And when does it arrive?")
    async with talk.desk() as desk:
        plain = await show_conversation(desk.store, "c")
        shown = await show_conversation(desk.store, "c", hidden={"order"})
    assert "O-10018" in str(plain)
    assert "O-10018" not in str(shown)
    assert shown["values"] == {"order": ["[redacted]"]}
    assert shown["turns"][0]["said"] == "Where is my order [redacted]?"
