"""Every screen of the console in both themes and on a phone: axe-core finds nothing serious, and
nothing stands beyond the edge. And the life of a mail, with the keyboard alone."""

import asyncio
import json
import time
from pathlib import Path

from deskhand.adapters.stores.webhook_endpoints import SqlWebhookEndpoints
from deskhand.adapters.webhook_addresses import AllowedAddresses
from deskhand.adapters.webhook_secrets import WebhookSecrets
from deskhand.engine.webhook_events import trial_event
from deskhand.model.access import Role
from deskhand.model.run import Event, ReviewState, RunStatus
from deskhand.model.webhook import CHOSEN
from deskhand.wiring import user_accounts
from tests.api_kit import Served
from tests.approvals_kit import outbox
from tests.browser import Page, browser, needs_browser
from tests.console_site import a_mail, console_site, log_in, wait_for_review
from tests.tickets_kit import accepted, mail, placing_of
from tests.waiting import PATIENCE
from tests.widget_kit import AXE, needs_axe

pytestmark = needs_browser

SERIOUS = """axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations
  .filter((one) => ['serious', 'critical'].includes(one.impact))
  .map((one) => one.id + ': ' + one.nodes.map((node) => node.html.slice(0, 160)).join(' | ')))"""
TABS = ("knowledge", "intents", "routing", "evals", "health", "stop")
SUBJECT = "document.querySelector('h1')?.innerText"


async def screens_of(shop: Served) -> list[str]:
    """The address of every screen, with something to see on each."""
    desk = shop.desks["shop"]
    for number in (1, 2):
        await wait_for_review(shop, a_mail(number, conversation=f"c{number}"))
    broken = await desk.dispatcher.submit(a_mail(3, "broken"))
    await asyncio.wait_for(desk.dispatcher.wait(broken.run_id), PATIENCE)
    [waits, *_] = await desk.store.find_reviews()
    note = Event("conversation.note", waits.run_id, "ida", {"text": "A friend of the house."})
    await desk.store.record_event(note)
    await desk.store.take_over("c2", "ida")
    return [
        "/approvals/",
        f"/approvals/shop/{waits.id}",
        "/approvals/taken-over",
        "/approvals/screened",
        "/messages/",
        f"/messages/shop/{waits.run_id}",
        "/runs/",
        f"/runs/shop/{waits.run_id}",
        f"/runs/shop/{broken.run_id}?step=0",
        "/metrics/",
        "/metrics/?period=91&by=channel",
        "/metrics/list",
        "/desk/shop/policies?tool=get_contact&judge=yes",
        "/search/?q=parcel",
        "/search/?q=nothing+like+this",
        "/tickets/",
        f"/tickets/shop/{await a_ticket(shop)}",
        *(f"/desk/shop/{tab}" for tab in TABS),
        *await webhook_screens(shop),
        "/desk/users",
        "/desk/keys",
        "/desk/access",
        "/setup/steps",
    ]


async def a_ticket(shop: Served) -> str:
    desk = shop.desks["shop"]
    message = mail(4, "My order is late", address="ann@example.com", subject="Late")
    run = await accepted(desk.store, message)
    return (await placing_of(desk.tickets).place(run, message)).ticket_id


async def webhook_screens(shop: Served) -> list[str]:
    """Two addresses, one of which is switched off; only admins see them."""
    await user_accounts(shop.database).set_rights("ida", role=Role.ADMIN)
    secrets = WebhookSecrets("a key of at least thirty-two characters")
    webhooks = SqlWebhookEndpoints(shop.database, secrets, AllowedAddresses())
    url = "https://hooks.example.com/deskhand/" + "a-long-way-to-go-" * 5
    kept, _ = await webhooks.add(url, CHOSEN, ["shop"], "ida")
    off, _ = await webhooks.add("https://hooks.example.com/", ["run.ended"], ["shop"], "ida")
    await webhooks.disable(off.id, "nothing has arrived there for three days")
    told = trial_event("evt_1", "shop", kept.id, time.time())
    await webhooks.put(kept.id, "shop", told, told.data, 600.0)
    here = "/desk/webhooks"
    return [here, f"{here}/{kept.id}", f"{here}/{off.id}"]


async def go(page: Page, base: str, path: str) -> None:
    await page.open(base + path)
    await page.until(
        f"location.pathname + location.search === {json.dumps(path)}"
        " && document.querySelector('#main') !== null"
    )


async def serious(page: Page) -> list[str]:
    if not await page.run("typeof axe === 'object'"):
        await page.call("Runtime.evaluate", expression=AXE.read_text(encoding="utf-8"))
    return list(await page.run(SERIOUS))


@needs_axe
async def test_axe_finds_nothing_serious_on_any_screen(tmp_path: Path) -> None:
    async with console_site(tmp_path) as (shop, base), browser() as page:
        screens = await screens_of(shop)
        await page.look(width=1440, height=900)
        await log_in(page, base)
        found: dict[str, list[str]] = {}
        for screen in screens:
            await go(page, base, screen)
            for dark in (False, True):
                await page.look(width=1440, height=900, dark=dark)
                problems = await serious(page)
                if problems:
                    found[f"{screen} {'dark' if dark else 'light'}"] = problems
        assert found == {}
        await page.open(f"{base}/login")
        await page.until("document.querySelector('[name=password]') !== null")
        assert await serious(page) == []
        assert [text for text in page.complaints if "axe" not in text] == []


async def test_nothing_stands_beyond_the_edge_of_a_phone_or_with_large_text(
    tmp_path: Path,
) -> None:
    async with console_site(tmp_path) as (shop, base), browser() as page:
        screens = await screens_of(shop)
        await page.look(width=390, height=844, phone=True)
        await log_in(page, base)
        beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        inside = "(box => box.scrollWidth - box.clientWidth)(document.querySelector('#main'))"
        wide: list[tuple[str, str]] = []
        for screen in screens:
            await page.look(width=390, height=844, phone=True)
            await go(page, base, screen)
            if await page.run(f"{beyond} > 0 || {inside} > 0"):
                wide.append((screen, "390 pixels"))
            await page.look(width=1440, height=900)
            await page.run("document.documentElement.style.fontSize = '200%'")
            if await page.run(f"{beyond} > 0 || {inside} > 0"):
                wide.append((screen, "200% text"))
        assert wide == []
        assert page.complaints == []


async def test_the_life_of_a_mail_with_the_keyboard_alone(tmp_path: Path) -> None:
    async with console_site(tmp_path) as (shop, base), browser() as page:
        desk = shop.desks["shop"]
        await page.look(width=1440, height=900, dark=True)
        await log_in(page, base)
        await page.run("window.loaded = 'once'")
        await page.until("document.querySelector('[data-live-word]').innerText === 'live'")
        await wait_for_review(shop, a_mail(1))  # it arrives while somebody looks
        await page.until("document.querySelectorAll('.queue .item').length === 1")
        await page.press("j")
        await page.press("Enter")
        await page.until(f"{SUBJECT} === 'Parcel 1'")
        await page.press("e")
        await page.fill("textarea", "Dear customer, it comes on Friday.")
        await page.until("document.querySelector('[data-kept-word]').innerText === 'saved'")
        await page.press("Escape")
        await page.press("a")
        await page.until("/Sends in \\d+ s/.test(document.querySelector('.done')?.innerText)")
        await page.press("u")
        await page.until("document.body.innerText.includes('held back by ida')")
        assert outbox(shop) == []
        assert await page.run("document.querySelector('textarea').value") == (
            "Dear customer, it comes on Friday."
        )
        await page.press("a")
        await page.until("/Sends in \\d+ s/.test(document.querySelector('.done')?.innerText)")
        [leaving] = [one for one in await desk.store.find_reviews() if one.leaves_by_itself]
        await desk.store.expire_reviews(time.time() + 700)
        desk.dispatcher.wake()
        status = await asyncio.wait_for(desk.dispatcher.wait(leaving.run_id), PATIENCE)
        assert status is RunStatus.SENT
        [sent] = outbox(shop)
        assert "it comes on Friday" in sent
        opened = await desk.store.find_reviews()
        assert all(one.state is not ReviewState.OPEN for one in opened)
        assert page.complaints == []
