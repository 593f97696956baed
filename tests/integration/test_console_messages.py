"""Messages in the console: one thread in which colleagues answer, note, take over, give back."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deskhand.model.access import Role
from deskhand.model.run import RunStatus
from deskhand.wiring import user_accounts
from tests.api_kit import Client, Served, served
from tests.approvals_kit import (
    PASSWORD,
    Person,
    outbox,
    person,
    words_of,
)
from tests.browser import Page, browser, needs_browser
from tests.console_site import a_mail, console_site, log_in, wait_for_review
from tests.waiting import PATIENCE


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, approvals=True) as opened:
        yield opened


@pytest.fixture
async def api(shop: Served) -> Client:
    return await shop.client()


def today() -> str:
    day = datetime.now(UTC)
    return f"{day:%-d %b} {day.year}"


async def test_a_thread_shows_what_was_said_what_left_and_who_wrote_it(
    shop: Served, api: Client
) -> None:
    days = [today()]
    first = await api.worked("Hello, where is my parcel?", subject="Parcel", conversation="c1")
    days.append(today())
    review = await api.under_review("I am unsure again", subject="Re: Parcel", conversation="c1")
    ida = await person(shop)
    listed = words_of((await ida.get("/messages/")).text)
    assert "Re: Parcel" in listed
    assert "approval" in listed
    page = (await ida.get(f"/messages/shop/{first['run']}")).text
    words = words_of(page)
    assert any(f"{day} A ann@example.com" in words for day in days)
    assert words.index("Hello, where is my parcel?") < words.index("by itself")
    assert words.index("by itself") < words.index("I am unsure again")
    assert "waits for approval" in words
    assert f"/approvals/shop/{review['review']}" in page


async def test_a_colleague_takes_over_notes_answers_and_gives_back(
    shop: Served, api: Client
) -> None:
    run = await api.worked("broken parcel", subject="Parcel", conversation="c1")
    ida = await person(shop)
    place = f"/messages/shop/{run['run']}"

    async def do(action: str, **fields: str) -> int:
        answer = await ida.post(f"{place}/{action}", data={"csrf": ida.csrf, **fields})
        return answer.status_code

    assert await do("take_over") == 303
    assert "you answer" in words_of((await ida.get(place)).text)
    assert "Parcel" in (await ida.get("/messages/?tab=mine")).text
    assert await do("note", text="He is a friend of the house.") == 303
    assert await do("note", text="  ") == 409
    words = words_of((await ida.get(place)).text)
    assert "ida, for colleagues only" in words
    assert "He is a friend of the house." in words

    assert await do("reply", text="") == 409
    assert await do("reply", text="Dear Ann, we send another one.") == 303
    [sent] = outbox(shop)
    assert "we send another one" in sent
    answered = (await ida.get(place)).text
    assert re.search(r'class="msg out person".*?we send another one', answered, re.S)
    assert await do("reply", text="And once more.") == 409
    assert (
        "And once more."
        in (
            await ida.post(f"{place}/reply", data={"csrf": ida.csrf, "text": "And once more."})
        ).text
    )
    assert await do("give_back") == 303
    assert "you answer" not in words_of((await ida.get(place)).text)
    assert await do("nonsense") == 404
    assert (await ida.get("/messages/bank/" + run["run"])).status_code == 404


async def test_an_agent_notes_and_does_not_decide_what_waits(shop: Served, api: Client) -> None:
    run = await api.worked("broken parcel", subject="Parcel", conversation="c1")
    await user_accounts(shop.database).add("eva", PASSWORD, ["*"], role=Role.AGENT)
    eva = Person(shop)
    await eva.log_in("eva")
    place = f"/messages/shop/{run['run']}"
    refused = await eva.post(f"{place}/reply", data={"csrf": eva.csrf, "text": "We send one."})
    assert refused.status_code == 403
    noted = await eva.post(f"{place}/note", data={"csrf": eva.csrf, "text": "A friend."})
    assert noted.status_code == 303
    assert outbox(shop) == []


async def test_a_colleague_answers_a_chat_in_the_thread(shop: Served) -> None:
    desk = shop.desks["shop"]
    chat = await desk.chats.open("token", None, "network")
    mail = a_mail(1, "broken, can you help?", channel="chat", conversation=chat.id)
    accepted = await desk.dispatcher.submit(mail)
    await asyncio.wait_for(desk.dispatcher.wait(accepted.run_id), PATIENCE)
    await desk.chats.say(chat.id, "m1", "visitor", "broken, can you help?")
    ida = await person(shop)
    place = f"/messages/shop/{accepted.run_id}"
    fields = {"csrf": ida.csrf, "key": "k1", "text": "Hello, this is Ida."}
    for _ in range(2):
        assert (await ida.post(f"{place}/reply", data=fields)).status_code == 303
    lines = await desk.chats.lines(chat.id)
    assert [line.text for line in lines if line.author == "person"] == ["Hello, this is Ida."]
    page = (await ida.get(place)).text
    assert re.search(r'class="msg out person".*?Hello, this is Ida\.', page, re.S)
    assert "ida answers" in words_of(page) or "you answer" in words_of(page)


@needs_browser
async def test_a_thread_grows_without_a_reload(tmp_path: Path) -> None:
    async with console_site(tmp_path) as (shop, base), browser() as page:
        await wait_for_review(shop, a_mail(1, conversation="c1"))
        await page.look(width=1440, height=900)
        await log_in(page, base)
        await page.press_at_once("gm")
        await page.until("document.querySelector('.convo') !== null")
        await page.click(".convo")
        await page.until("document.querySelector('.thread') !== null")
        await page.run("window.loaded = 'once'")
        await page.until("document.querySelector('[data-live-word]').innerText === 'live'")
        await page.press("e")
        await page.call("Input.insertText", text="Half a sen")
        await wait_for_review(shop, a_mail(2, "Still unsure, and angry.", conversation="c1"))
        await page.until("document.querySelector('.flow').innerText.includes('and angry')")
        assert await page.run("document.querySelector('[data-compose]').value") == "Half a sen"
        assert await page.run("window.loaded") == "once"
        await page.fill("[data-compose]", "Dear Ann, it is on its way.")
        await page.click("[data-send]")
        await page.until("document.body.innerText.includes('it is on its way')")
        runs = await shop.desks["shop"].store.runs(conversation="c1")
        assert {run.status for run in runs} <= {RunStatus.WAITING_REVIEW, RunStatus.CANCELLED}
        await _answer_a_chat(page, base, shop)
        assert page.complaints == []


async def _answer_a_chat(page: Page, base: str, shop: Served) -> None:
    """A colleague takes a chat over, answers in it, and undoes giving it back."""
    desk = shop.desks["shop"]
    chat = await desk.chats.open("token", None, "network")
    said = a_mail(3, "unsure, can you help?", channel="chat", conversation=chat.id)
    await wait_for_review(shop, said)
    await desk.chats.say(chat.id, "m3", "visitor", "unsure, can you help?")
    [run] = await desk.store.runs(conversation=chat.id)
    await page.open(f"{base}/messages/shop/{run.id}")
    await page.until("document.querySelector('.flow')?.innerText.includes('can you help?')")
    await page.press("t")
    await page.until("document.querySelector('[data-notice]')?.innerText.includes('You answer')")
    await page.press("e")
    await page.call("Input.insertText", text="Hello, this is Ida.")
    await page.run("window.before = true")  # the old page may show the line before the new one is
    await page.click("[data-send]")
    shows_line = "document.querySelector('.msg.person')?.innerText.includes('this is Ida')"
    await page.until(f"!window.before && {shows_line}")
    lines = await desk.chats.lines(chat.id)
    assert [line.text for line in lines if line.author == "person"] == ["Hello, this is Ida."]
    await page.press("t")  # no field of the new page has the focus; Escape would close the thread
    await page.until("document.querySelector('[data-notice]')?.innerText.includes('Given back')")
    assert await desk.store.taken_over_by(chat.id) is None
    await page.press("u")
    await page.until("document.querySelector('[data-notice]')?.innerText.includes('You answer')")
    assert await desk.store.taken_over_by(chat.id) == "ida"
