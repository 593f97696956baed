"""Tickets in a real browser: two are joined with keys and taken apart again, in both themes."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn

from deskhand.model.access import Role
from deskhand.model.ticket_state import TicketFilter
from deskhand.wiring import user_accounts
from tests.api_kit import Served, served
from tests.approvals_kit import PASSWORD
from tests.browser import Page, browser, needs_browser
from tests.tickets_kit import accepted, mail, placing_of

pytestmark = needs_browser

SCREENS = ("/tickets/", "/desk/shop/knowledge", "/desk/shop/health", "/desk/users", "/desk/keys")
TOO_WIDE = """document.documentElement.scrollWidth <= innerWidth + 2 ? [] :
  [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right >
  innerWidth + 2).map((one) => one.tagName + "." + one.className)"""
"""What does not fit, where the page is wider than the screen."""
WORDS = ("My order 48213 is late", "Reset my password")


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
        await page.until("document.querySelector('[data-notice]').innerText.includes('Joined.')")
        await page.press("u")
        await page.until("document.querySelector('[data-notice]').innerText.includes('Undone.')")
        await page.open(f"{base}/tickets/")
        await page.until("document.querySelectorAll('[data-row]').length === 2")
        await page.run("document.querySelectorAll('[data-row] .box').forEach((box) => box.click())")
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


async def test_a_person_opens_a_ticket_with_a_key_and_leaves_columns_out(tmp_path: Path) -> None:
    async with site(tmp_path) as (shop, base), browser() as page:
        await page.look(width=1440, height=900)
        await log_in(page, base)
        await page.press("c")
        await page.until("document.activeElement.name === 'customer'")
        await page.fill("[name=customer]", "Ann@Example.com")
        await page.fill("[name=subject]", "She called: order 48213 is late")
        await page.fill("[name=note]", "She wants a call back.")
        await page.run("document.querySelector('[action$=\"/new\"] .main-do').click()")
        await page.until("document.querySelector('.ticket-flow .msg.note') !== null")
        [ticket] = await shop.desks["shop"].tickets.store.find(TicketFilter())
        assert (ticket.customer, ticket.assignee) == ("address:ann@example.com", "ida")
        message = mail(1, "Order 48213 is late", address="ann@example.com", subject="48213")
        run = await accepted(shop.desks["shop"].store, message)
        placed = await placing_of(shop.desks["shop"].tickets).place(run, message)
        seen = await shop.desks["shop"].tickets.find(placed.ticket_id)
        assert seen.customer == ticket.customer

        await page.open(f"{base}/tickets/")
        heads = "[...document.querySelectorAll('th')].map((one) => one.innerText.trim())"
        await page.until(f"{heads}.includes('Category')")
        await page.run("document.querySelector('[name=\"column:category\"]').click()")
        await page.run("document.querySelector('form.stack[action=\"/preferences\"] .btn').click()")
        await page.until(f"document.querySelector('th') && !{heads}.includes('Category')")
        assert "Status" in await page.run(heads)
        assert page.complaints == []
