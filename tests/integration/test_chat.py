"""The chat of a desk over HTTP: turns, events, identity and limits, on both databases."""

import asyncio
import re
import secrets
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from deskhand.model.run import LlmCall, RunStatus
from deskhand.web.api.app import create_app
from deskhand.web.chat_pulse import ChatPulse
from deskhand.web.chat_stream import ChatStream
from deskhand.wiring import api_keys, open_database, open_desk, read_desk
from tests.chat_kit import CHAT, SECRET, Visitor, open_chat, token
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


async def test_a_customer_who_is_logged_in_is_asked_and_answered(visitor: Visitor) -> None:
    login = token(sub="C-2004")
    assert await visitor.say("I would like my money back", login=login) == [
        "Which order is it? The number begins with O-."
    ]
    assert await visitor.say("O-10004", login=login) == ["What was wrong with it?"]
    told = await visitor.say("they are far too small", login=login)
    assert told[0].startswith("I have refunded 72.00 EUR for order O-10004.")
    again = await visitor.say("Please refund O-10004, they are too small.", login=login)
    assert "already been paid back" in again[0]


async def test_a_message_that_is_sent_again_counts_once(visitor: Visitor) -> None:
    await visitor.say("Where is O-10018?", login=token())
    before = await visitor.lines()
    visitor.turns = 0
    repeated = await visitor.post("Where is O-10018?", login=token())
    assert repeated.json()["duplicate"] is True
    assert await visitor.lines() == before


async def test_a_first_message_that_is_sent_again_opens_one_chat(visitor: Visitor) -> None:
    opens = secrets.token_urlsafe(32)
    first, again = [
        await visitor.client.post("/api/chat", json={"id": "1", "text": "thanks", "opens": opens})
        for _ in range(2)
    ]
    assert [answer.json()["chat"] for answer in (first, again)] == [opens, opens]
    assert first.json()["new_chat"] is again.json()["new_chat"] is True
    assert again.json()["duplicate"] is True
    assert len(await visitor.desk.store.runs()) == 1
    other = {"id": "2", "text": "hello", "opens": opens, "login": token()}
    assert (await visitor.client.post("/api/chat", json=other)).status_code == 401


async def test_events_tell_what_happens_and_resume_after_the_last_one(visitor: Visitor) -> None:
    body = {"id": "m1", "text": "Where is O-10018?", "login": token()}
    headers = {"Accept": "text/event-stream"}
    streamed = await visitor.client.post("/api/chat", json=body, headers=headers)
    kinds = [line[7:] for line in streamed.text.splitlines() if line.startswith("event: ")]
    assert kinds[-1] == "state"
    assert kinds.count("line") == 2
    visitor.chat = streamed.headers["x-chat-token"]
    chat = await visitor.desk.chats.find(visitor.chat)
    assert chat is not None
    stream = ChatStream(visitor.desk.chats, visitor.desk.store, chat.id, last=1, ends_at_rest=True)
    resumed = "".join([event async for event in stream.events()])
    assert "id: 2\n" in resumed
    assert "id: 1\n" not in resumed
    assert "on its way with GLS" in resumed


async def test_nobody_without_a_login_learns_of_an_order(visitor: Visitor) -> None:
    [told] = await visitor.say("Where is O-10018?")
    assert "cannot find" in told
    [other] = await visitor.say("And O-19999, where is it?")
    assert "GLS" not in told + other


@pytest.mark.parametrize(
    "login",
    [
        token("another secret that is also long enough"),
        token(exp=time.time() - 1),
        token(exp=None),
        token(aud="another-desk"),
        token(alg="none"),
        token(sub=""),
        "not.a.token",
        "x" * 3000,
    ],
    ids=["forged", "expired", "endless", "other desk", "alg none", "nobody", "words", "long"],
)
async def test_a_login_token_that_does_not_count_is_refused(visitor: Visitor, login: str) -> None:
    refused = await visitor.post("Where is O-10018?", login=login)
    assert refused.status_code == 401
    assert await visitor.desk.store.runs() == []


async def test_a_customers_chat_goes_on_with_his_login_alone(visitor: Visitor) -> None:
    await visitor.say("Where is O-10018?", login=token())
    assert (await visitor.post("and now?")).status_code == 401
    assert (await visitor.post("and now?", login=token(sub="C-2001"))).status_code == 401
    assert (await visitor.post("and now?", chat="x" * 43)).status_code == 401


async def test_what_was_said_before_the_login_does_not_count(visitor: Visitor) -> None:
    await visitor.say("I would like my money back")
    anonymous = visitor.chat
    told = await visitor.say("O-10004", login=token(sub="C-2004"))
    assert visitor.chat != anonymous
    runs = await visitor.desk.store.runs()
    assert "What was wrong" not in "".join(told)
    assert len({run.conversation for run in runs}) == 2


@pytest.mark.parametrize(
    "text", ["", "  \n ", "\x01\x02", "\u202e\u2066", "x" * 5000, "x" * 100_000, "ž" * 102_400]
)
async def test_unfit_messages_are_refused(visitor: Visitor, text: str) -> None:
    refused = await visitor.post(text)
    assert refused.status_code == 422
    assert len(refused.content) < 2_000
    assert await visitor.desk.store.runs() == []


async def test_a_body_without_end_is_refused(visitor: Visitor) -> None:
    body = b'{"id": "1", "text": "' + b"x" * 30_000_000 + b'"}'
    refused = await visitor.client.post(
        "/api/chat", content=body, headers={"Content-Type": "application/json"}
    )
    assert refused.status_code == 413
    assert await visitor.desk.store.runs() == []


async def test_control_characters_within_a_message_are_left_out(visitor: Visitor) -> None:
    await visitor.say("thank\x07 \u202eyou\x1b[2J", login=token())
    [run] = await visitor.desk.store.runs()
    [line, *_] = await visitor.desk.chats.lines(run.conversation)
    assert not re.search(r"[\x00-\x1f\u202e]", line.text)


async def test_too_many_turns_are_refused_and_none_waits_for_a_person(visitor: Visitor) -> None:
    for _ in range(8):
        await visitor.say("thank you")
    assert (await visitor.post("thank you")).status_code == 429
    runs = await visitor.desk.store.runs()
    assert {run.status for run in runs} == {RunStatus.SENT}


async def test_what_was_taken_in_may_be_sent_again_over_the_limit(visitor: Visitor) -> None:
    for _ in range(8):
        await visitor.say("thank you")
    visitor.turns = 7
    again = await visitor.post("thank you")
    assert again.status_code == 202
    assert again.json()["duplicate"] is True
    assert (await visitor.post("thank you")).status_code == 429


async def test_an_ipv6_network_is_one_however_many_addresses_it_has(visitor: Visitor) -> None:
    async def write_from(host: str) -> int:
        transport = httpx.ASGITransport(visitor.app, client=(host, 1234))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            body = {"id": secrets.token_hex(4), "text": "thank you"}
            return (await client.post("/api/chat", json=body)).status_code

    statuses = [await write_from(f"2001:db8:1:2::{number}") for number in range(1, 22)]
    assert statuses == [202] * 20 + [429]
    assert await write_from("2001:db8:1:3::1") == 202
    assert await write_from("::ffff:192.0.2.7") == 202


@pytest.mark.parametrize("limit", ["spend_per_chat", "spend_per_network", "spend_per_desk"])
async def test_what_models_cost_for_chats_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setenv("SHOP_LOGIN", SECRET)
    channels = CHAT.replace("turns_per_hour: 8", f"turns_per_hour: 80, {limit}: 0.5")
    async with open_chat(str(tmp_path / "d.db"), tmp_path, channels) as visitor:
        await visitor.say("thank you")
        [run] = await visitor.desk.store.runs()
        for cost, status in ((0.4, 202), (0.2, 429)):
            call = LlmCall(run.id, "decide", "decide", "m", "", cost=cost, at=time.time())
            await visitor.desk.store.record_call(call)
            answer = await visitor.post("thank you")
            assert answer.status_code == status
        other = Visitor(visitor.desk, visitor.client, visitor.keys, visitor.app)
        expected = 202 if limit == "spend_per_chat" else 429
        assert (await other.post("thank you")).status_code == expected


async def test_a_desk_without_a_chat_has_none(tmp_path: Path) -> None:
    async with open_database(str(tmp_path / "d.db")) as database:
        loaded = read_desk("orders")
        async with open_desk(loaded, database, outbox=tmp_path) as desk:
            app = create_app({"orders": desk}, api_keys(database), version="0")
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
                answer = await client.post("/api/chat", json={"id": "1", "text": "hello"})
    assert answer.status_code == 404


async def test_an_idle_stream_is_told_what_another_process_says(visitor: Visitor) -> None:
    await visitor.say("thank you")
    assert visitor.chat is not None
    chat = await visitor.desk.chats.find(visitor.chat)
    assert chat is not None
    stopping = asyncio.Event()
    pulse = ChatPulse(visitor.desk.chats, stopping)
    chats, store = visitor.desk.chats, visitor.desk.store
    stream = ChatStream(chats, store, chat.id, stopping=stopping, pulse=pulse)
    events: list[str] = []

    async def read() -> None:
        async for event in stream.events():
            events.append(event)

    reading = asyncio.create_task(read())
    await until(lambda: any("event: state" in event for event in events))
    await chats.say(chat.id, "another/1", "person", "Good morning.")
    await until(lambda: any("Good morning." in event for event in events))
    stopping.set()
    await reading
    assert sum("Good morning." in event for event in events) == 1


async def test_a_days_cap_on_replies_to_addresses_leaves_chats_alone(tmp_path: Path) -> None:
    capped = "limits: {replies_per_day: {in_all: 1, to_unproven: 1}}\n"
    async with open_chat(str(tmp_path / "d.db"), tmp_path, f"{CHAT}{capped}") as visitor:
        for _ in range(3):
            assert "You are welcome." in (await visitor.say("thank you"))[0]
        runs = await visitor.desk.store.runs()
        assert {run.status for run in runs} == {RunStatus.SENT}
