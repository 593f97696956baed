"""Tickets in a real browser: two are joined with keys and taken apart again, in both themes."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn

from deskhand.model.access import Role
from deskhand.wiring import user_accounts
from tests.api_kit import Served, served
from tests.approvals_kit import PASSWORD, make_passwords_cheap
from tests.browser import Page, browser, needs_browser
from tests.tickets_kit import accepted, mail, placing_of

pytestmark = needs_browser

SCREENS = ("/tickets/", "/desk/shop/knowledge", "/desk/shop/health", "/desk/users", "/desk/keys")
TOO_WIDE = """document.documentElement.scrollWidth <= innerWidth + 2 ? [] :
  [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right >
  innerWidth + 2).map((one) => one.tagName + "." + one.className)"""
"""What does not fit, where the page is wider than the screen."""
WORDS = ("My order 48213 is late", "Reset my password")


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    make_passwords_cheap(monkeypatch)


@asynccontextmanager
async def site(folder: Path) -> AsyncIterator[tuple[Served, str]]:
    async with served(folder, approvals=True) as shop:
        await user_accounts(shop.database).add("ida", PASSWORD, ["*"], role=Role.ADMIN)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            server = uvicorn.Server(uvicorn.Config(shop.app, log_config=None, ws="none"))
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            yield shop, f"http://127.0.0.1:{listener.getsockname()[1]}"
            server.should_exit = True
            await serving


async def log_in(page: Page, base: str) -> None:
    await page.open(f"{base}/login?to=/tickets/")
    await page.fill("[name=name]", "ida")
    await page.fill("[name=password]", PASSWORD)
    await page.press("Enter")
    await page.until("document.querySelector('[data-tickets]') !== null")


async def test_two_tickets_are_joined_with_keys_and_taken_apart_again(tmp_path: Path) -> None:
    async with site(tmp_path) as (shop, base), browser() as page:
        desk = shop.desks["shop"]
        ids: list[str] = []
        for number, words in enumerate(WORDS):
            message = mail(number, words, address="ann@example.com", subject=words)
            run = await accepted(desk.store, message)
            ids.append((await placing_of(desk.tickets).place(run, message)).ticket_id)
        await log_in(page, base)
        assert await page.run("document.querySelector('[data-bulk]').hidden") is True
        await page.run("document.querySelectorAll('[data-row] .box').forEach((box) => box.click())")
        await page.until("!document.querySelector('[data-bulk]').hidden")
        await page.run("document.activeElement.blur()")
        await page.press("m")
        await page.until("document.querySelectorAll('[data-row]').length === 1")

        await page.run("document.querySelector('[data-row] .subj a').click()")
        await page.until("document.querySelectorAll('.ticket-flow .msg').length === 2")
        await page.run("document.querySelector('[data-undo-here]').click()")
        await page.until("document.querySelectorAll('.ticket-flow .msg').length === 1")
        states = [(await desk.tickets.find(ticket_id)).state for ticket_id in ids]
        assert states == ["active", "active"]


@pytest.mark.parametrize("dark", [False, True])
async def test_new_screens_fit_a_phone_and_complain_of_nothing(tmp_path: Path, dark: bool) -> None:
    async with site(tmp_path) as (_, base), browser() as page:
        await page.look(width=390, height=844, dark=dark, phone=True)
        await log_in(page, base)
        for screen in SCREENS:
            await page.open(base + screen)
            await page.until("document.querySelector('#main') !== null")
            assert await page.run(TOO_WIDE) == [], screen
        assert page.complaints == []
