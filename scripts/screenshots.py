"""Pictures of every screen of the console on demo data: `make screenshots`.

Each screen is taken in light and dark, at 1440 and at 390 pixels, into one folder.
"""

import argparse
import asyncio
import json
import secrets
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import screenshot_data as data

from deskhand.cli.serve import begin_to_stop, opened
from deskhand.cli.web_server import web_server
from deskhand.engine.manual_reply import answer_chat
from deskhand.model.access import Role
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import ReviewKind, ReviewState
from deskhand.model.ticket_state import TicketFilter
from deskhand.wiring import Desk, open_database, user_accounts
from tests.browser import Page, browser

SIZES = {"1440": (1440, 900), "390": (390, 844)}
THEMES = ("light", "dark")
LANGUAGES = ("en", "cs")
CHAT = "document.querySelector('[data-deskhand-chat]')?.shadowRoot"
ASKED = ("Do you deliver abroad?", "Where is my order O-10018?", "I want to talk to a person.")
ANSWERED = "Hello, this is Ida. Tell me the order number, and I will look for the parcel."
SETTLE = """new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@asynccontextmanager
async def site(folder: Path) -> AsyncIterator[tuple[list[Desk], str, str]]:
    """The desks behind a real socket, with what they have worked, and the password of everybody."""
    loaded = data.read_desks(folder)
    password = secrets.token_urlsafe(12)
    async with (
        open_database(str(folder / "deskhand.db")) as database,
        opened(loaded, database, folder / "outbox", workers=False) as desks,
    ):
        accounts = user_accounts(database)
        for name, role in data.PEOPLE.items():
            await accounts.add(name, password, ["*"], role=Role(role))
        await data.fill(desks, folder, loaded)
        await data.add_history(database, desks[0].spec.name)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            server = await web_server(desks, database)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            yield desks, f"http://127.0.0.1:{listener.getsockname()[1]}", password
            begin_to_stop(server)
            await serving


async def log_in(page: Page, base: str, password: str) -> None:
    await page.open(f"{base}/login")
    await page.fill("[name=name]", data.ME)
    await page.fill("[name=password]", password)
    await page.press("Enter")
    await page.until("document.querySelector('.queue') !== null")


async def screens_of(desks: list[Desk]) -> dict[str, str]:
    """The address of every screen by the name of its picture."""
    inbox, _, triage = desks
    waiting = await inbox.store.find_reviews(ReviewFilter(state=ReviewState.OPEN), limit=50)
    replies = [review for review in waiting if review.kind is ReviewKind.REPLY]
    whole = [review for review in replies if "{" not in str(review.payload["reply"]["text"])]
    marked = [review for review in whole if review.payload.get("findings")]
    shown = [*marked, *whole, *replies][0]
    taken = await inbox.store.taken_over()
    tickets = await triage.tickets.store.find(TicketFilter(), limit=50)
    long = max(tickets, key=lambda ticket: ticket.messages)
    talk = taken[0].turn
    screens = {
        "approvals": "/approvals/",
        "approval": f"/approvals/inbox/{shown.id}",
        "approval-handed-over": f"/approvals/inbox/{waiting[-1].id}",
        "taken-over": "/approvals/taken-over",
        "screened": "/approvals/screened",
        "messages": "/messages/",
        "conversation": f"/messages/inbox/{talk.run.id if talk else replies[0].run_id}",
        "tickets": "/tickets/?desk=triage",
        "ticket": f"/tickets/triage/{long.id}",
        "runs": "/runs/",
        "run": f"/runs/inbox/{replies[0].run_id}?step=3",
        "metrics": "/metrics/",
        "metrics-list": "/metrics/list?became=unchanged",
        "search": "/search/?q=order",
        "search-empty": "/search/?q=nothing+like+this",
        "setup": "/setup/steps",
        "users": "/desk/users",
        "keys": "/desk/keys",
        "access": "/desk/access",
    }
    for tab in ("knowledge", "intents", "routing", "policies", "evals", "health", "stop"):
        screens[f"desk-{tab}"] = f"/desk/inbox/{tab}"
    screens["desk-knowledge"] += "?question=How+long+does+delivery+take%3F"
    tried = "tool=hold_slot&judge=yes&customer=ann%40example.com&words=Can+we+meet%3F"
    screens["desk-policies"] += f"?{tried}"
    return screens


async def look(page: Page, size: str, theme: str) -> None:
    width, height = SIZES[size]
    await page.look(width=width, height=height, dark=theme == "dark", phone=size == "390")


async def take(page: Page, base: str, screens: dict[str, str], folder: Path, only: str) -> None:
    for name, path in screens.items():
        if only and only not in name:
            continue
        await page.open(base + path)
        await page.until(f"location.pathname + location.search === {json.dumps(path)}")
        for size in SIZES:
            for theme in THEMES:
                await look(page, size, theme)
                await page.run(SETTLE)
                await asyncio.sleep(0.15)  # what turns or slides has come to rest
                await page.picture(folder / f"{name}-{size}-{theme}.png")
            beyond = await page.run(TOO_WIDE)
            if beyond > 0:
                sys.stdout.write(f"{name} at {size}: {beyond} pixels too wide\n")


async def talk(page: Page, base: str, desk: Desk) -> None:
    """A visitor asks on a shop's page, and a colleague takes over."""
    await page.look(width=1440, height=900)
    await page.open(f"{base}/chat/{data.SHOP}/try")
    await page.until(f"{CHAT} !== null && {CHAT} !== undefined")
    await page.run(f"{CHAT}.querySelector('button.launch').click()")
    for number, words in enumerate(ASKED, start=1):
        await page.run(f"{CHAT}.querySelector('textarea').focus()")
        await page.call("Input.insertText", text=words)
        await page.press("Enter")
        await page.until(f"{CHAT}.querySelectorAll('.b').length >= {2 * number}")
        await asyncio.sleep(1.5)
    runs = await desk.store.runs(limit=1)
    await answer_chat(desk.chats, runs[0].conversation, "said", data.ME, ANSWERED)
    await asyncio.sleep(1.5)


async def main(folder: Path, only: str, language: str) -> None:
    with tempfile.TemporaryDirectory(prefix="deskhand-pictures-") as own:
        async with site(Path(own)) as (desks, base, password), browser() as page:
            await page.call("Emulation.setLocaleOverride", locale=language)
            headers = {"Accept-Language": language}
            await page.call("Network.setExtraHTTPHeaders", headers=headers)
            await page.look(width=1440, height=900)
            await talk(page, base, desks[1])
            await take(page, base, {"chat-widget": f"/chat/{data.SHOP}/try"}, folder, only)
            await take(page, base, {"login": "/login"}, folder, only)
            await log_in(page, base, password)
            screens = await screens_of(desks)
            [chat, *_] = await desks[1].store.runs(limit=1)
            screens["conversation-chat"] = f"/messages/{data.SHOP}/{chat.id}"
            await take(page, base, screens, folder, only)
            for complaint in page.complaints:
                sys.stdout.write(f"{complaint}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=Path("screenshots"))
    parser.add_argument("--only", default="", help="a part of the names of the pictures to take")
    parser.add_argument("--language", default="en", choices=LANGUAGES)
    chosen = parser.parse_args()
    chosen.into.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(chosen.into, chosen.only, chosen.language))
