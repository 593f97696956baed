"""Colleagues in chats: they answer first and again, the desk is silent and goes on when it has the
chat back, and who is away is answered by mail. On both databases."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from email import policy
from email.parser import BytesParser
from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.stores.chats import SqlChats
from deskhand.config.sections.chat import ChatSection
from deskhand.engine.chat_mailer import ChatMailer
from deskhand.engine.clock import SystemClock
from deskhand.engine.manual_reply import answer_chat
from deskhand.errors import Conflict, NotFound, ToolError
from deskhand.model.access import Scope
from deskhand.model.chats import Chat, ChatMail, ChatMailKind
from deskhand.model.message import Reply
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewState, RunStatus, Verdict
from deskhand.web.chat_hours import people_hours
from deskhand.web.chat_stream import ChatStream
from tests.chat_kit import SECRET, Visitor, open_chat, token
from tests.servers import new_database, postgres_programs
from tests.waiting import until


@pytest.fixture(params=["sqlite", "postgres"])
async def visitor(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Visitor]:
    if request.param == "postgres" and postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    monkeypatch.setenv("SHOP_LOGIN", SECRET)
    url = str(tmp_path / "desk.db")
    if request.param == "postgres":
        url = await asyncio.to_thread(new_database)
    async with open_chat(url, tmp_path) as opened:
        yield opened


async def held(visitor: Visitor) -> Chat:
    assert visitor.chat is not None
    chat = await visitor.desk.chats.find(visitor.chat)
    assert chat is not None
    return chat


async def open_reviews(visitor: Visitor) -> list[Review]:
    return await visitor.desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))


async def ask_for_person(visitor: Visitor) -> None:
    headers = {"Authorization": f"Bearer {visitor.chat}"}
    body = {"id": "person-1"}
    answer = await visitor.client.post("/api/chat/person", json=body, headers=headers)
    assert answer.status_code == 202, answer.text

    async def waits() -> bool:
        return len(await open_reviews(visitor)) == 1

    await until(waits)


async def said(visitor: Visitor) -> list[tuple[str, str | None, str]]:
    lines = await visitor.desk.chats.lines((await held(visitor)).id)
    return [(line.author, line.name, line.text) for line in lines]


async def test_a_colleague_answers_first_and_again_and_the_desk_is_silent(
    visitor: Visitor,
) -> None:
    await visitor.say("hello")
    chat = await held(visitor)
    chats = visitor.desk.chats
    assert await answer_chat(chats, chat.id, "1", "ida", "Hello, Ida here.", "Ida Nováková")
    assert not await answer_chat(chats, chat.id, "1", "ida", "Hello, Ida here.")
    assert await answer_chat(chats, chat.id, "2", "ida", "What can I do for you?")
    assert (await chats.standing(chat.id)).taken_over_by == "ida"
    await visitor.say("Where is O-10018?")
    [review] = await open_reviews(visitor)
    await visitor.say("Are you there?")
    assert [other.id for other in await open_reviews(visitor)] == [review.id]
    assert (await chats.standing(chat.id)).waits_for_person
    await answer_chat(chats, chat.id, "3", "ida", "I am looking.", "Ida Nováková")
    assert await open_reviews(visitor) == []
    decided = await visitor.desk.store.review(review.id)
    assert (decided.decision, decided.decided_by) == (Decision.ANSWER, "ida")
    authors = [author for author, _, _ in await said(visitor)]
    assert authors == [
        "visitor",
        "desk",
        "person",
        "person",
        "visitor",
        "visitor",
        "person",
    ]


async def test_given_back_the_desk_goes_on_with_what_was_said(visitor: Visitor) -> None:
    login = token(sub="C-2004")
    await visitor.say("hello", login=login)
    chat = await held(visitor)
    await answer_chat(visitor.desk.chats, chat.id, "1", "ida", "Which order is it about?")
    await visitor.say("It is about O-10004", login=login)
    await answer_chat(visitor.desk.chats, chat.id, "2", "ida", "The desk looks it up for you.")
    assert await visitor.desk.store.give_back(chat.id, "ida")
    [told] = await visitor.say("Where is my order now?", login=login)
    assert "O-10004" in told
    newest = (await visitor.desk.store.runs(conversation=chat.id, limit=1))[0]
    memory = str(await visitor.desk.store.rows(newest.id))
    assert "The desk looks it up for you." in memory


async def test_one_hand_over_is_open_however_much_is_said(visitor: Visitor) -> None:
    await visitor.say("hello")
    await ask_for_person(visitor)
    [review] = await open_reviews(visitor)
    assert review.reason == "the visitor asks for a person"
    await visitor.say("I want to talk to a human being, please")
    assert [other.id for other in await open_reviews(visitor)] == [review.id]
    verdict = Verdict(Decision.ANSWER, "ida", review.version, edit={"text": "Here I am."})
    await visitor.desk.store.decide(review.id, verdict)
    visitor.desk.dispatcher.wake()

    async def answered() -> bool:
        return ("person", "ida", "Here I am.") in await said(visitor)

    await until(answered)


async def test_a_reply_that_was_on_its_way_stays_when_a_colleague_comes_in(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await visitor.say("hello")
    chat = await held(visitor)
    sending = visitor.desk.store.taken_over_by
    before = len(await visitor.lines())
    submitted = await visitor.post("thank you")
    run = submitted.json()["run"]
    await answer_chat(visitor.desk.chats, chat.id, "1", "ida", "Ida here.")

    async def rests() -> bool:
        return not (await visitor.desk.store.run(run)).status.is_active

    await until(rests)
    assert await sending(chat.id) == "ida"
    lines = await said(visitor)
    after = lines[[author for author, _, _ in lines].index("person") :]
    assert "desk" not in [author for author, _, _ in after]
    assert len(await visitor.lines()) in (before, before + 1)


async def test_what_cannot_be_said_is_refused(visitor: Visitor) -> None:
    await visitor.say("hello")
    chat = await held(visitor)
    for text in ("", "  \n", "\x01", "x" * 20_000):
        with pytest.raises(Conflict):
            await answer_chat(visitor.desk.chats, chat.id, "1", "ida", text)
    with pytest.raises(NotFound):
        await answer_chat(visitor.desk.chats, "chat_nobody", "1", "ida", "Hello?")


async def test_events_tell_who_answers(visitor: Visitor) -> None:
    await visitor.say("hello")
    chat = await held(visitor)
    await answer_chat(visitor.desk.chats, chat.id, "1", "ida", "Hello.", "Ida Nováková")
    stream = ChatStream(visitor.desk.chats, visitor.desk.store, chat.id, ends_at_rest=True)
    events = "".join([event async for event in stream.events()])
    assert 'event: person\ndata: {"name": "Ida Nováková"}' in events
    assert '"author": "person"' in events


async def test_a_persons_answer_is_mailed_to_the_address_that_was_left(
    visitor: Visitor, tmp_path: Path
) -> None:
    await visitor.say("hello")
    headers = {"Authorization": f"Bearer {visitor.chat}"}
    for address in ("nobody", "a@b.example, c@d.example", "x\r\nBcc: y@z.example"):
        body = {"address": address}
        refused = await visitor.client.post("/api/chat/address", json=body, headers=headers)
        assert refused.status_code == 422
    body = {"address": "kern@example.org"}
    kept = await visitor.client.post("/api/chat/address", json=body, headers=headers)
    assert kept.status_code == 200
    chat = await held(visitor)
    await answer_chat(visitor.desk.chats, chat.id, "1", "ida", "We fetch the chairs.", "Ida")

    async def mailed() -> bool:
        return len(list((tmp_path / "outbox").glob("chatmail*.eml"))) == 1

    await until(mailed)
    [file] = (tmp_path / "outbox").glob("chatmail*.eml")
    mail = BytesParser(policy=policy.default).parsebytes(file.read_bytes())
    assert mail["to"] == "kern@example.org"
    assert mail["subject"] == "Ida answered in your chat"
    assert "We fetch the chairs." in mail.get_content()


async def test_a_mail_that_does_not_leave_is_tried_again(visitor: Visitor) -> None:
    await visitor.say("hello")
    chat = await held(visitor)
    tried: list[str] = []

    async def away(reply: Reply, key: str) -> object:
        tried.append(key)
        raise ToolError("mail_server", "the mail server is away")

    chats = SqlChats(visitor.desk.chats._database, "elsewhere")  # whose mails nobody else sends
    mailer = ChatMailer(chats, away, SystemClock(), "elsewhere")
    mail: dict[str, Any] = {"key": "chatmail-1", "chat": chat.id, "kind": ChatMailKind.TRANSCRIPT}
    mail |= {"address": "a@b.example", "subject": "s", "text": "t", "until": 4e9}
    assert await chats.queue_mail(ChatMail.model_validate(mail))
    assert not await chats.queue_mail(ChatMail.model_validate(mail))
    assert await mailer.send_due() == 0
    assert tried == ["chatmail-1"]


@pytest.mark.parametrize(
    ("now", "here", "moment"),
    [
        ("2026-11-17T08:30:00", True, "2026-11-17T17:00+01:00"),
        ("2026-11-17T17:30:00", False, "2026-11-18T09:00+01:00"),
        ("2026-11-21T12:00:00", False, "2026-11-23T09:00+01:00"),
    ],
)
def test_the_chat_says_when_people_are_there(now: str, here: bool, moment: str) -> None:
    chat = ChatSection.model_validate({"hours": {"mon-fri": "9:00-17:00"}})
    at = datetime.fromisoformat(now).replace(tzinfo=UTC)
    hours = people_hours(chat, "Europe/Prague", at)
    assert hours.here is here
    assert (hours.until or hours.back_at) == moment


async def test_the_api_takes_a_chat_over_answers_and_gives_it_back(visitor: Visitor) -> None:
    await visitor.say("hello")
    chat = await held(visitor)
    scopes = (Scope.REVIEWS_READ, Scope.REVIEWS_WRITE)
    secret = await visitor.key(scopes)
    visitor.client.headers["Authorization"] = f"Bearer {secret}"
    place = {"conversation": chat.id}
    taken = await visitor.client.post("/api/conversations/take-over", json=place)
    assert taken.status_code == 200, taken.text
    body = {**place, "text": "Hello, Ida here.", "id": "a1", "name": "Ida"}
    assert (await visitor.client.post("/api/conversations/answer", json=body)).json()["said"]
    assert not (await visitor.client.post("/api/conversations/answer", json=body)).json()["said"]
    lines = (await visitor.client.get("/api/conversations/chat", params=place)).json()
    assert [line["author"] for line in lines] == ["visitor", "desk", "person"]
    back = await visitor.client.post("/api/conversations/give-back", json=place)
    assert back.json()["given_back"]
    runs = await visitor.desk.store.runs()
    assert {run.status for run in runs} == {RunStatus.SENT}
