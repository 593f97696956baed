"""Visitors of a chat for tests: the shipped orders desk with a chat, over HTTP."""

import base64
import hmac
import json
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from deskhand.model.access import Scope
from deskhand.ports import ApiKeys
from deskhand.web.api.app import create_app
from deskhand.wiring import SHIPPED, Desk, api_keys, open_database, open_desk, read_desk
from tests.waiting import until

SECRET = "a secret of the shop that is long enough"
CHAT = "channels: {web: {chat: {login_secret_env: SHOP_LOGIN, turns_per_hour: 8}}}\n"


def token(secret: str = SECRET, alg: str = "HS256", **claims: Any) -> str:
    """A login token as a shop's site makes it."""
    written = {"sub": "C-2003", "aud": "orders", "exp": time.time() + 600} | claims
    parts = [_part({"alg": alg, "typ": "JWT"}), _part(written)]
    signed = hmac.new(secret.encode(), ".".join(parts).encode(), sha256).digest()
    return ".".join([*parts, base64.urlsafe_b64encode(signed).rstrip(b"=").decode()])


def _part(fields: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).rstrip(b"=").decode()


class Visitor:
    """A browser that talks with the desk."""

    def __init__(self, desk: Desk, client: httpx.AsyncClient, keys: ApiKeys, app: FastAPI) -> None:
        self.desk = desk
        self.app = app
        self.keys = keys
        self.client = client
        self.chat: str | None = None
        self.turns = 0

    async def post(self, text: str, **more: Any) -> httpx.Response:
        self.turns += 1
        body = {"id": f"m{self.turns}", "text": text, **more}
        if self.chat is not None:
            body.setdefault("chat", self.chat)
        return await self.client.post("/api/chat", json=body)

    async def say(self, text: str, **more: Any) -> list[str]:
        """What the desk answered to this."""
        answer = await self.post(text, **more)
        assert answer.status_code == 202, answer.text
        self.chat = answer.json()["chat"]
        await self._rests(answer.json()["run"])
        return (await self.lines())[-1:]

    async def _rests(self, run: str) -> None:
        async def rests() -> bool:
            return not (await self.desk.store.run(run)).status.is_active

        await until(rests)

    async def key(self, scopes: Sequence[Scope]) -> str:
        """The secret of a new API key."""
        _, secret = await self.keys.add("crm", scopes, ("*",))
        return secret

    async def lines(self) -> list[str]:
        assert self.chat is not None
        chat = await self.desk.chats.find(self.chat)
        assert chat is not None
        return [line.text for line in await self.desk.chats.lines(chat.id) if line.author == "desk"]


@asynccontextmanager
async def open_chat(url: str, folder: Path, channels: str = CHAT) -> AsyncIterator[Visitor]:
    """A visitor of the orders desk, whose `channels` are added to its desk.yaml."""
    desk_folder = folder / "orders"
    if not desk_folder.exists():
        shutil.copytree(SHIPPED / "orders", desk_folder)
        yaml = (desk_folder / "desk.yaml").read_text().replace("mode: draft ", "mode: auto ")
        (desk_folder / "desk.yaml").write_text(yaml + channels)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(url))
        loaded = read_desk(str(desk_folder))
        opening = open_desk(loaded, database, outbox=folder / "outbox")
        desk = await stack.enter_async_context(opening)
        keys = api_keys(database)
        app = create_app({"orders": desk}, keys, version="0")
        transport = httpx.ASGITransport(app)
        client = httpx.AsyncClient(transport=transport, base_url="http://shop.example")
        yield Visitor(desk, await stack.enter_async_context(client), keys, app)
