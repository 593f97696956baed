"""A receiver of webhooks on loopback: what it heard, and what it answers."""

import base64
import hmac
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from aiohttp import web


@dataclass(frozen=True)
class Heard:
    headers: Mapping[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def document(self) -> dict[str, Any]:
        return dict(json.loads(self.body))

    @property
    def type(self) -> str:
        return str(self.document["type"])

    @property
    def data(self) -> dict[str, Any]:
        return dict(self.document["data"])

    def is_signed_with(self, secret: str) -> bool:
        """Read as the specification says, by nothing of ours."""
        key = base64.b64decode(secret.removeprefix("whsec_"))
        said = f"{self.id}.{self.headers['webhook-timestamp']}.".encode() + self.body
        expected = base64.b64encode(hmac.new(key, said, sha256).digest()).decode()
        return f"v1,{expected}" in self.headers["webhook-signature"].split(" ")


@dataclass
class Receiver:
    answers: list[int] = field(default_factory=list)
    """What it answers next; 204 after these."""
    retry_after: str | None = None
    heard: list[Heard] = field(default_factory=list)
    url: str = ""

    async def take(self, request: web.Request) -> web.Response:
        self.heard.append(Heard(dict(request.headers), await request.read()))
        status = self.answers.pop(0) if self.answers else 204
        headers = {"Location": f"{self.url}/elsewhere"}
        if self.retry_after is not None and status >= 400:
            headers["Retry-After"] = self.retry_after
        return web.Response(status=status, headers=headers)

    @property
    def types(self) -> list[str]:
        return [heard.type for heard in self.heard]


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    app = web.Application()
    app.router.add_post("/{tail:.*}", receiver.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    receiver.url = f"http://127.0.0.1:{port}"
    try:
        yield receiver
    finally:
        await runner.cleanup()
