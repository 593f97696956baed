"""A shop's page with the chat widget in a real browser: desk, shop and a stranger's page have an
origin each."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from tests.browser import Page
from tests.chat_kit import Visitor, open_chat

AXE = Path("/usr/local/lib/deskhand-tests/axe/node_modules/axe-core/axe.min.js")
needs_axe = pytest.mark.skipif(
    not AXE.is_file(), reason="axe-core is not installed (scripts/test-servers.sh)"
)
INSIDE = "document.querySelector('[data-deskhand-chat]')?.shadowRoot"


@dataclass
class Shop:
    """Where the desk and the pages are."""

    visitor: Visitor
    desk: str
    page: str
    stranger: str


@asynccontextmanager
async def open_shop(folder: Path, more: str = "") -> AsyncIterator[Shop]:
    """The orders desk with a chat whose widget stands on a shop's page; `more` is added to it."""
    async with AsyncExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
        desk, page, stranger = (f"http://127.0.0.1:{one.getsockname()[1]}" for one in sockets)
        words = '{en: {title: Acme, greeting: "Hello! I can help with orders."}}'
        settings = f'login_secret_env: SHOP_LOGIN, origins: ["{page}"], words: {words}{more}'
        channels = f"channels: {{web: {{chat: {{{settings}}}}}}}\n"
        url = str(folder / "desk.db")
        visitor = await stack.enter_async_context(open_chat(url, folder, channels))
        shown = Starlette(routes=[Route("/{rest:path}", _page_of(desk))])
        await stack.enter_async_context(serving(visitor.app, sockets[0]))
        await stack.enter_async_context(serving(shown, sockets[1]))
        await stack.enter_async_context(serving(shown, sockets[2]))
        yield Shop(visitor, desk, page, stranger)


def _page_of(desk: str) -> Any:
    async def page(request: Request) -> Response:
        login = request.query_params.get("login", "")
        language = request.query_params.get("lang", "en")
        return HTMLResponse(
            f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
            "<title>Shop</title>"
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            "<style>button{background:red!important}*{font-size:40px}</style></head>"
            "<body><main><h1>Desks and chairs</h1><p>Come in.</p></main>"
            f'<script src="{desk}/chat/orders/widget.js" data-login="{login}" async></script>'
            "</body></html>",
        )

    return page


@asynccontextmanager
async def serving(app: ASGIApp, listener: socket.socket) -> AsyncIterator[None]:
    config = uvicorn.Config(app, log_config=None, ws="none", lifespan="off")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        server.should_exit = True
        server.force_exit = True
        await task


class Widget:
    """The widget in a page, as a visitor uses it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def open(self, url: str) -> None:
        await self.page.open(url)
        await self.page.until(f"{INSIDE} !== undefined")
        if await self.run("i.querySelector('.panel').hidden"):
            await self.page.run(f"{INSIDE}.querySelector('.launch').click()")
        await self.until("!i.querySelector('.panel').hidden")

    async def run(self, script: str) -> Any:
        """A script in which `i` is the widget's inside."""
        return await self.page.run(f"(() => {{ const i = {INSIDE}; return {script}; }})()")

    async def until(self, condition: str) -> None:
        await self.page.until(f"(() => {{ const i = {INSIDE}; return {condition}; }})()")

    async def type(self, text: str) -> None:
        """Type a line and press Enter."""
        await self.page.run(f"{INSIDE}.querySelector('textarea').focus()")
        await self.page.call("Input.insertText", text=text)
        await self.page.press("Enter")

    async def says(self, text: str) -> None:
        """Wait until the log holds these words."""
        await self.until(f"i.querySelector('.log').innerText.includes({json.dumps(text)})")

    async def say(self, text: str, answer: str) -> None:
        await self.type(text)
        await self.says(answer)

    async def bubbles(self) -> list[str]:
        found = "[...i.querySelectorAll('.b:not(.typing)')].map((b) => b.innerText)"
        return list(await self.run(found))

    async def click(self, selector: str) -> None:
        await self.run(f"i.querySelector({json.dumps(selector)}).click()")

    async def serious(self) -> list[str]:
        """What axe-core finds to be serious or worse."""
        await self.page.run(AXE.read_text(encoding="utf-8") + "; 0")
        found = await self.page.run(
            "axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations"
            ".filter((v) => ['serious', 'critical'].includes(v.impact))"
            ".map((v) => v.id + ': ' + v.nodes.map((n) => n.target.join(' ')).join(', ')))"
        )
        return list(found)
