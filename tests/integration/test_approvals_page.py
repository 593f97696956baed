"""The approvals page: who comes in, what is shown, and that a click does exactly what was shown,
once."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY

import pytest

from deskhand.adapters.channels.folder_outbox import FolderOutbox
from deskhand.errors import ToolError
from deskhand.model.run import Review, Run, RunStatus
from deskhand.web.console import pages
from deskhand.web.console.app import create_console
from deskhand.web.console.rating_pages import RATE
from deskhand.web.console.session import SCREENS
from deskhand.wiring import user_accounts
from tests import console_site
from tests.accounts import add_accounts
from tests.api_kit import Client, Served, served
from tests.approvals_kit import (
    HOME,
    PASSWORD,
    Person,
    outbox,
    person,
    words_of,
)
from tests.waiting import PATIENCE

MORE = """
undo_seconds: 0
reviews:
  canned:
    thanks: {en: "Dear {name}, thank you. {reviewer}"}
"""


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, "shop", "bank", more=MORE, approvals=True) as running:
        yield running


@pytest.fixture
async def api(shop: Served) -> Client:
    return await shop.client(desks=["shop"])


async def rested(shop: Served, review: dict[str, Any]) -> str:
    return str(
        await asyncio.wait_for(shop.desks[review["desk"]].dispatcher.wait(review["run"]), PATIENCE)
    )


# --- the door


async def test_nothing_is_shown_to_who_is_not_logged_in(shop: Served, api: Client) -> None:
    review = await api.under_review()
    stranger = Person(shop)
    for path in (HOME, f"{HOME}shop/{review['review']}"):
        answer = await stranger.get(path)
        assert (answer.status_code, answer.headers["location"][:20]) == (
            303,
            "/login?to=%2Fapprova",
        )
    refused = await stranger.do(review, "approve")
    assert refused.status_code == 401
    assert (await api.get(f"/api/reviews/{review['review']}")).json()["state"] == "open"
    for name in ("console.css", "console.js", "icon.svg", "icons.svg"):
        assert (await stranger.get(f"/static/{name}")).status_code == 200
    for name in ("%2e%2e/pages.py", "..%2fpages.py", "nothing.css"):
        assert (await stranger.get(f"/static/{name}")).status_code == 404


def test_every_page_needs_a_session() -> None:
    feed = SimpleNamespace(newest=None)
    console = create_console({}, None, feed, None)  # type: ignore[arg-type]
    routes = console.app.routes  # type: ignore[attr-defined]
    open_paths = {"/static/{name}", "/login", "/setup", "/approvals/login", RATE, *SCREENS}
    behind = {route.path for route in routes if "SessionGate.page" in route.endpoint.__qualname__}
    assert {route.path for route in routes} - open_paths == behind


async def test_a_session_is_a_cookie_that_scripts_and_other_sites_cannot_use(shop: Served) -> None:
    await user_accounts(shop.database).add("ida", PASSWORD, ["*"])
    client = Person(shop)
    answer = await client.log_in("ida")
    cookie = answer.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/;"))
    page = await client.get(HOME)
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "DENY"
    assert (await client.post("/logout", data={"csrf": client.csrf})).status_code == 303
    client.cookies.set("deskhand_session", cookie.split("=")[1].split(";")[0], path="/")
    assert (await client.get(HOME)).status_code == 303


async def test_a_form_of_another_site_does_nothing(shop: Served, api: Client) -> None:
    review, ida = await api.under_review(), await person(shop)
    place = f"{HOME}shop/{review['review']}/approve"
    fields = {"version": "1", "hash": review["payload_hash"]}
    for headers, csrf in (
        ({"Origin": "http://evil.test"}, ida.csrf),
        ({"Origin": "null"}, ida.csrf),
        ({"Sec-Fetch-Site": "cross-site"}, ida.csrf),
        ({}, "guessed"),
        ({}, ""),
    ):
        answer = await ida.post(place, data={**fields, "csrf": csrf}, headers=headers)
        assert answer.status_code == 403, answer.text
    as_json = await ida.post(place, json={**fields, "csrf": ida.csrf})
    assert as_json.status_code == 415
    assert (await api.get(f"/api/reviews/{review['review']}")).json()["state"] == "open"


async def test_guessing_is_slowed_down_and_does_not_shut_the_right_person_out(shop: Served) -> None:
    ida = await person(shop)
    guesser = Person(shop)
    answers = [(await guesser.log_in("ida", f"wrong guess {n}")).status_code for n in range(7)]
    assert answers == [403] * 5 + [429] * 2
    assert (await guesser.log_in("ida")).status_code == 429
    assert (await ida.get(HOME)).status_code == 200
    assert (await Person(shop).log_in("nobody", "whatever it is")).status_code == 403


async def test_a_browser_that_was_logged_in_with_is_let_in_while_others_guess(shop: Served) -> None:
    ida = await person(shop)
    guesser = Person(shop)
    for number in range(6):
        last = await guesser.log_in("ida", f"wrong guess {number}")
    assert (last.status_code, last.headers["retry-after"]) == (429, "30")
    assert (await ida.log_in("ida")).status_code == 303
    cookie = next(c for c in ida.cookies.jar if c.name == "deskhand_device")
    assert (cookie.path, cookie.has_nonstandard_attr("HttpOnly")) == ("/login", True)


async def test_a_removed_user_is_out_at_once(shop: Served) -> None:
    ida = await person(shop)
    await user_accounts(shop.database).remove("ida")
    assert (await ida.get(HOME)).status_code == 303
    assert (await Person(shop).log_in("ida")).status_code == 403


@pytest.mark.parametrize(
    "to", ["https://evil.test/", "//evil.test/approvals/", "/approvals/\\\\evil.test", "/api/runs"]
)
async def test_logging_in_leads_to_a_page_of_ours(shop: Served, to: str) -> None:
    await user_accounts(shop.database).add("ida", PASSWORD, ["*"])
    answer = await Person(shop).log_in("ida", to=to)
    assert answer.headers["location"].startswith(HOME)
    assert "evil" not in answer.headers["location"] or answer.headers["location"] == HOME


async def test_desks_that_are_not_hers_do_not_exist_for_a_reviewer(shop: Served) -> None:
    bank = await shop.client(desks=["bank"])
    theirs = await bank.under_review(subject="Secret matter")
    ida = await person(shop, "ida", "shop")
    assert "Secret matter" not in (await ida.get(HOME)).text
    assert (await ida.get(f"{HOME}bank/{theirs['review']}")).status_code == 404
    assert (await ida.get(f"{HOME}shop/{theirs['review']}")).status_code == 404
    assert (await ida.do(theirs, "approve")).status_code == 404
    assert (await ida.do({**theirs, "desk": "shop"}, "approve")).status_code == 404
    assert "Secret" not in (await ida.get(f"{HOME}?done=bank/{theirs['review']}")).text


# --- what is shown and done


async def test_the_queue_shows_what_waits_and_why(shop: Served, api: Client) -> None:
    review = await api.under_review("I am unsure about my order", subject="My order")
    ida = await person(shop)
    words = words_of((await ida.get(HOME)).text)
    for told in (
        "Waiting 1",
        "My order",
        "ann@example.com",
        "not sure enough",
        "category 0.40",
        "question",
    ):
        assert told in words
    assert "No review matches the filter" in words_of((await ida.get(f"{HOME}?cause=mode")).text)
    assert (
        "My order" in (await ida.get(f"{HOME}?cause=below_threshold&desk=shop&tab=nonsense")).text
    )
    sheet = words_of(await ida.page(review))
    assert "category confidence 0.4 is below 0.8" in sheet
    assert "I am unsure about my order" in sheet
    assert "Hello ann@example.com" in sheet


async def test_an_unchanged_reply_is_approved_and_a_changed_one_edited(
    shop: Served, api: Client
) -> None:
    one, two = await api.under_review("unsure 1"), await api.under_review("unsure 2")
    ida = await person(shop)
    answer = await ida.do(
        one, "approve", text="Hello ann@example.com\r\n", subject=one["payload"]["reply"]["subject"]
    )
    assert answer.status_code == 303
    assert answer.headers["location"].startswith(f"{HOME}shop/{two['review']}?done=shop")
    assert "approved" in words_of((await ida.get(answer.headers["location"])).text)
    await ida.do(two, "approve", text="Dear Ann,\r\n\r\nhello.", subject="Re: you")
    assert [await rested(shop, review) for review in (one, two)] == ["sent", "sent"]
    decided = [(await api.get(f"/api/reviews/{review['review']}")).json() for review in (one, two)]
    assert [(review["decision"], review["decided_by"]) for review in decided] == [
        ("approve", "ida"),
        ("edit", "ida"),
    ]
    assert decided[1]["edit"] == {"text": "Dear Ann,\n\nhello.", "subject": "Re: you"}
    assert len(outbox(shop)) == 2


async def test_the_second_reviewer_is_told_who_decided_what_and_keeps_the_words(
    shop: Served, api: Client
) -> None:
    review = await api.under_review()
    ida, otto = await person(shop), await person(shop, "otto")
    await ida.do(review, "approve")
    late = await otto.do(review, "approve", text="My own words")
    assert late.status_code == 409
    assert "ida was faster: approved just now." in words_of(late.text)
    assert "What you had written; it was not sent: My own words" in words_of(late.text)
    shown = (await api.get(f"/api/reviews/{review['review']}")).json()
    assert {one["by"]: one["edit"]["text"] for one in shown["edits"]} == {"otto": "My own words"}
    await rested(shop, review)
    assert len(outbox(shop)) == 1


async def test_what_is_typed_is_there_again_after_the_browser_died(
    shop: Served, api: Client
) -> None:
    review = await api.under_review()
    ida = await person(shop)
    kept = await ida.do(review, "keep", text="Dear Ann, half a sent", subject="Re: x")
    assert kept.status_code == 204
    again = Person(shop)
    await again.log_in("ida")
    assert "Dear Ann, half a sent</textarea>" in await again.page(review)
    otto = await person(shop, "otto")
    assert "half a sent" not in await otto.page(review)
    assert "ida has begun to edit it" in words_of(await otto.page(review))


async def test_everything_else_that_can_be_done_with_a_review(shop: Served, api: Client) -> None:
    first, second, third = [await api.under_review(f"unsure {n}") for n in range(3)]
    ida = await person(shop)
    assert (await ida.do(first, "note", note="She called.")).status_code == 303
    await add_accounts(shop.desks["shop"].store, "otto")
    assert (await ida.do(first, "assign", to="otto")).status_code == 303
    assert (await ida.do(first, "snooze", until="4000000000")).status_code == 303
    assert "Snoozed 1" in words_of((await ida.get(HOME)).text)
    sheet = words_of(await ida.page(first))
    assert "ida noted: She called." in sheet
    assert "ida gave it to otto" in sheet
    assert (await ida.do(first, "snooze", until="")).status_code == 303
    assert (await ida.do(second, "reject", note="not polite")).status_code == 303
    assert (await ida.do(third, "take_over")).status_code == 303
    assert [await rested(shop, second), await rested(shop, third)] == ["rejected", "done"]
    assert "Rejected by ida: not polite" in words_of(await ida.page(second))
    assert (await ida.do(first, "revise")).status_code == 409
    assert (await ida.do(first, "explode")).status_code == 404
    assert (await ida.do({**first, "version": "x"}, "approve")).status_code == 400
    assert outbox(shop) == []


async def test_canned_replies_are_offered_and_not_sent_half_filled(
    shop: Served, api: Client
) -> None:
    review = await api.under_review()
    ida = await person(shop)
    page = words_of(await ida.page(review))
    assert "Dear {name}, thank you. ida" in page
    assert "still to be written" not in page
    half = await ida.do(review, "approve", text="Dear {name}, thank you.")
    assert half.status_code == 409
    assert "still says {name}" in words_of(half.text)
    assert "still to be written: name" in words_of(half.text)
    assert "Dear {name}, thank you.</textarea>" in half.text


async def test_a_handed_over_run_is_sent_on_from_the_page(shop: Served, api: Client) -> None:
    run = await api.worked("broken")
    review = (await api.get(f"/api/reviews/{run['review']['id']}")).json()
    ida = await person(shop)
    sheet = words_of(await ida.page(review))
    assert "this cannot be read" in sheet
    assert "Continue where it stopped" in sheet
    (shop.folder / "shop" / "mended").touch()
    assert (await ida.do(review, "retry")).status_code == 303
    assert await rested(shop, review) == "sent"


async def test_a_stopped_desk_is_seen_on_every_page_of_those_who_may_touch_it(
    shop: Served, api: Client
) -> None:
    review = await api.under_review()
    ida, bert = await person(shop), await person(shop, "bert", "bank")
    assert "is stopped" not in words_of(await ida.page(review))
    await shop.desks["shop"].store.stop("olga", "wrong <prices>")
    for page in (await ida.page(review), (await ida.get(HOME)).text):
        assert "shop is stopped by olga since" in words_of(page)
        assert "wrong &lt;prices&gt;" in page
    assert "is stopped" not in words_of((await bert.get(HOME)).text)
    await shop.desks["shop"].store.resume("olga")
    assert "is stopped" not in words_of((await ida.get(HOME)).text)


async def test_a_long_queue_is_shown_page_by_page_in_one_order(
    shop: Served, api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PAGE", 2)
    reviews = [
        await api.under_review(f"unsure {number}", subject=f"Matter {number}")
        for number in range(5)
    ]
    ida = await person(shop)
    seen: list[str] = []
    path = HOME
    for _ in range(4):
        page = (await ida.get(path)).text
        seen += re.findall(r'class="item" href="/approvals/shop/(rev_\w+)', page)
        more = re.search(r'class="more btn s" href="([^"]+)"', page)
        if more is None:
            break
        path = unescape(more[1])
    assert seen == [review["review"] for review in reviews]
    assert "Waiting 5" in words_of(page)
    assert "From the beginning" in page
    assert (await ida.get(f"{HOME}?after=nonsense")).text.count('class="item"') == 2
    third = await ida.page(reviews[2])
    assert f"shop/{reviews[1]['review']}" in third
    assert f"shop/{reviews[3]['review']}" in third


async def test_the_queue_is_narrowed_by_what_is_known_of_a_message(
    shop: Served, api: Client
) -> None:
    one = await api.under_review("unsure about tea", subject="Tea")
    await api.under_review("unsure about coffee", subject="Coffee")
    ida = await person(shop)
    await add_accounts(shop.desks["shop"].store, "otto <b>")
    await shop.desks["shop"].store.assign(one["review"], "ida", "otto <b>")
    for query, shown in (
        ("words=TEA", {"Tea"}),
        ("words=unsure", {"Tea", "Coffee"}),
        ("words=unsure+nothing", set()),
        ("category=question", {"Tea", "Coffee"}),
        ("category=other", set()),
        ("assignee=otto+%3Cb%3E", {"Tea"}),
        ("assignee=-", {"Coffee"}),
        ("language=de", set()),
        ("tab=mine", set()),
    ):
        page = (await ida.get(f"{HOME}?{query}")).text
        assert set(re.findall(r'<span class="subject">(\w+)</span>', page)) == shown, query
    assert "<b>" not in page.partition('class="filters"')[2].partition("</form>")[0]
    assert "question (2)" in words_of(page)


async def test_a_draft_desk_does_not_say_that_replies_leave_by_themselves(tmp_path: Path) -> None:
    async with served(tmp_path, more="mode: draft\n", approvals=True) as shop:
        api, ida = await shop.client(), await person(shop)
        sheet = words_of(await ida.page(await api.under_review("unsure")))
    assert "Confidence: category 0.40; draft mode: a person sends every reply" in sheet
    assert "sent without a person" not in sheet


async def test_a_page_that_is_open_hears_what_a_colleague_did(shop: Served, api: Client) -> None:
    review = await api.under_review()
    ida, otto = await person(shop), await person(shop, "otto")
    path = f"{HOME}shop/{review['review']}/now"
    assert (await otto.get(path)).json() == {"open": True, "version": 1, "words": ANY, "typing": ""}
    await ida.do(review, "keep", text="Half a sent", subject="")
    assert (await otto.get(path)).json()["typing"] == "ida has begun to edit it."
    await ida.do(review, "reject", note="too soft")
    now = (await otto.get(path)).json()
    assert (now["open"], now["words"]) == (False, "ida was faster: rejected just now.")
    assert (await Person(shop).get(path)).status_code == 303


async def test_a_reply_that_parks_while_its_toast_is_read_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path, "shop", more=console_site.MORE, approvals=True) as shop:
        await console_site.wait_for_review(shop, console_site.a_mail(1))
        store = shop.desks["shop"].store
        [review] = await store.find_reviews()
        api, ida = await shop.client(desks=["shop"]), await person(shop)
        shown = (await api.get(f"/api/reviews/{review.id}")).json()
        await ida.do(shown, "approve")
        await rested(shop, shown)
        run, reviews = await store.run(review.run_id), await store.find_reviews()
        before = [one for one in reviews if not one.leaves_by_itself]
        assert len(before) < len(reviews)
        seen = list[str]()

        async def read_run(run_id: str) -> Run:
            assert run_id == run.id
            seen.append("run")
            return run if "reviews" in seen else replace(run, status=RunStatus.RUNNING)

        async def read_reviews(*_: object) -> list[Review]:
            seen.append("reviews")
            return before

        with monkeypatch.context() as between:
            between.setattr(store, "run", read_run)
            between.setattr(store, "find_reviews", read_reviews)
            asked = f"{HOME}?done=shop/{review.id}&how=approve"
            toast = await ida.get(asked, headers={"X-Part": "toast"})
        assert "data-again" in toast.text
        assert seen


# --- whom a reply goes to


async def test_reply_to_and_cc_are_shown_and_whom_it_goes_to_can_be_changed(
    shop: Served, api: Client
) -> None:
    review = await api.under_review(reply_to="Carla <carla@example.org>", cc=["dan@example.net"])
    ida = await person(shop)
    page = await ida.page(review)
    for words in ("Reply-To: Carla <carla@example.org>", "Cc: dan@example.net"):
        assert words in words_of(page)
    wrong = await ida.do(review, "approve", text="Hello", to="carla", cc="")
    assert (wrong.status_code, "is not one mail address" in wrong.text) == (409, True)
    fields = {"text": "Hello", "to": "carla@example.org", "cc": "dan@example.net; eve@example.net"}
    assert (await ida.do(review, "approve", **fields)).status_code == 303
    assert await rested(shop, review) == "sent"
    assert "To: carla@example.org" in outbox(shop)[-1]
    assert "Cc: dan@example.net, eve@example.net" in outbox(shop)[-1]


async def test_a_person_says_on_the_page_that_a_reply_has_left(
    shop: Served, api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut_off(*_: object) -> str:
        raise ConnectionError("hung up")

    async def nobody_knows(*_: object) -> str | None:
        raise ToolError("no_copy", "no copy of it has arrived", recoverable=False)

    monkeypatch.setattr(FolderOutbox, "send", cut_off)
    monkeypatch.setattr(FolderOutbox, "find", nobody_knows)
    run = await api.worked("hours")
    review = (await api.get(f"/api/reviews/{run['review']['id']}")).json()
    assert (review["kind"], review["decisions"]) == (
        "delivery",
        ["left", "send_again", "take_over"],
    )
    ida = await person(shop)
    sheet = words_of(await ida.page(review))
    assert "This reply may have left." in sheet
    assert review["payload"]["reply"]["text"] in sheet
    assert "no copy of it has arrived" in sheet
    assert (await ida.do(review, "left")).status_code == 303
    assert await rested(shop, review) == "sent"
    assert "Confirmed as sent by ida" in words_of(await ida.page(review))
