"""The console behind a real socket, with people who may log in: for tests with a browser."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import uvicorn

from deskhand.model.message import Address, Message
from deskhand.model.run import RunStatus
from deskhand.web import console
from deskhand.web.api.app import answer_who_waits
from deskhand.wiring import user_accounts
from tests.api_kit import Served, served
from tests.approvals_kit import PASSWORD
from tests.browser import Page
from tests.waiting import PATIENCE

MORE = """
undo_seconds: 600
channels: {post: {files: mail}}
reviews: {canned: {thanks: {en: "Dear {name}, thank you. {reviewer}"}}}
"""


def a_mail(number: int, body: str = "I am unsure where my parcel is.", **fields: object) -> Message:
    known = {
        "id": f"m{number}",
        "channel": "post",
        "conversation": f"c{number}",
        "sender": Address(address=f"ann{number}@example.com", name="Ann"),
        "subject": f"Parcel {number}",
        "body": body,
        "received_at": datetime(2026, 11, 15, 9, 0, tzinfo=UTC),
    }
    return Message.model_validate({**known, **fields})


@asynccontextmanager
async def console_site(
    folder: Path, *people: str, more: str = MORE
) -> AsyncIterator[tuple[Served, str]]:
    """A desk behind a real socket, and people who may log in."""
    async with served(folder, more=more, approvals=True) as shop:
        for name in people or ("ida",):
            await user_accounts(shop.database).add(name, PASSWORD, ["shop"])
        with socket.create_server(("127.0.0.1", 0)) as listener:
            server = uvicorn.Server(uvicorn.Config(shop.app, log_config=None, ws="none"))
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            yield shop, f"http://127.0.0.1:{listener.getsockname()[1]}"
            answer_who_waits(shop.app)
            server.should_exit = True
            await serving


async def wait_for_review(shop: Served, message: Message) -> None:
    desk = shop.desks["shop"]
    accepted = await desk.dispatcher.submit(message)
    status = await asyncio.wait_for(desk.dispatcher.wait(accepted.run_id), PATIENCE)
    assert status is RunStatus.WAITING_REVIEW


PATIENT = """
const plain = window.setTimeout;
window.presses = [];
window.setTimeout = (act, pause, ...more) =>
  pause === ARMED_FOR ? window.presses.push(act) : plain(act, pause, ...more);
"""
"""A finding asks for a key twice within some seconds. A slow machine may take longer: pages of
tests wait for the second press until they are told not to."""


async def forget_first_press(page: Page) -> None:
    """As where nobody presses a second time in time."""
    await page.run("presses.splice(0).forEach((act) => act())")


async def log_in(page: Page, base: str, name: str = "ida") -> None:
    patient = PATIENT.replace("ARMED_FOR", _armed_for())
    await page.call("Page.addScriptToEvaluateOnNewDocument", source=patient)
    await page.open(f"{base}/approvals")
    await page.fill("[name=name]", name)
    await page.fill("[name=password]", PASSWORD)
    await page.press("Enter")
    await page.until("document.querySelector('.queue') !== null")


def _armed_for() -> str:
    script = (files(console) / "static" / "case.js").read_text(encoding="utf-8")
    [milliseconds] = re.findall(r"^const ARMED = (\d+);", script, re.MULTILINE)
    return str(milliseconds)
