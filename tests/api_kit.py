"""The API over real desks: a database, dispatchers and keys, and clients that talk to the app
without a socket."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from deskhand.adapters.stores.api_keys import SqlKeyStore
from deskhand.model.access import Scope
from deskhand.model.run import RunStatus
from deskhand.ports.login import SingleSignOn
from deskhand.web.api.app import Hooks, create_app
from deskhand.web.console.app import create_console
from deskhand.wiring import (
    Database,
    Desk,
    WebhookTrial,
    api_keys,
    console_actions,
    console_feed,
    open_database,
    open_desk,
    read_desk,
    run_bench,
    user_accounts,
    webhook_endpoints,
)
from tests.automatic import automatic

EVERY_SCOPE = tuple(Scope)
LIMIT = 20_000
"""What the desks of these tests take, in bytes."""

DESK = """\
desk: {name}
flows:
  main:
    stages:
      read: {{service: read, output: classification, next: answer}}
      answer: {{service: answer, output: reply, next: review}}
      review: {{service: review, auto_send_at: 0.8, next: dispatch}}
      dispatch: {{service: dispatch}}
limits: {{max_message_bytes: {limit}, max_in_flight: 4, max_backlog: {backlog}}}
"""

TOOLS = '''
import asyncio
from pathlib import Path
import time
from deskhand.errors import ModelAway, PermanentError
from deskhand.model.codes import ErrorCode
from deskhand.tools import service

HERE = Path(__file__).parent

@service("read")
async def read(envelope, ctx, settings):
    """Unsure, slow and broken messages behave as they say."""
    while "slow" in envelope.raw_input and not (HERE / "go").exists():
        await asyncio.sleep(0.01)
    if "broken" in envelope.raw_input and not (HERE / "mended").exists():
        raise PermanentError("this cannot be read")
    if "too long away" in envelope.raw_input and not (HERE / "back").exists():
        raise PermanentError("house/m answered 503", ErrorCode.MODEL_UNAVAILABLE)
    if "away" in envelope.raw_input and not (HERE / "back").exists():
        later = time.time() + 3600
        raise ModelAway("house/m answered 503", model="house/m", until=later, asked=True)
    return {"category": "question", "confidence": 0.4 if "unsure" in envelope.raw_input else 0.95}

@service("answer")
async def answer(envelope, ctx, settings):
    """A holding reply to whoever is told later."""
    sender = envelope.message.sender
    said = "Thank you. A colleague will answer you today." if "later" in envelope.raw_input else "Hello " + str(sender)
    return {"to": sender.address, "subject": "Re: " + envelope.message.subject, "text": said}
'''  # noqa: E501


class Client(httpx.AsyncClient):
    """Calls the app; what the app lets escape fails the test."""

    def __init__(self, app: FastAPI, headers: Mapping[str, str]) -> None:
        super().__init__(
            transport=httpx.ASGITransport(app), base_url="http://desk.test", headers=headers
        )

    async def message(
        self, body: str = "Hello", *, wait: float = 0, **fields: Any
    ) -> httpx.Response:
        """Hand in a message from Ann."""
        return await self.post(
            "/api/messages",
            params={"wait": wait},
            json={"from": "ann@example.com", "body": body, **fields},
        )

    async def worked(self, body: str = "Hello", **fields: Any) -> dict[str, Any]:
        """Hand in a message; its run once it is at rest."""
        handed_in = await self.message(body, wait=20, **fields)
        assert handed_in.status_code == 200, handed_in.text
        shown = await self.get(f"/api/runs/{handed_in.json()['run']}")
        return dict(shown.json())

    async def under_review(self, body: str = "unsure", **fields: Any) -> dict[str, Any]:
        """Hand in a message that waits for approval; its review."""
        run = await self.worked(body, **fields)
        shown = await self.get(f"/api/reviews/{run['review']['id']}")
        return dict(shown.json())


@dataclass
class Served:
    """Desks at work behind the API."""

    app: FastAPI
    desks: dict[str, Desk]
    keys: SqlKeyStore
    database: Database
    folder: Path
    _names: Iterable[int] = field(default_factory=lambda: iter(range(1_000_000)))

    async def client(
        self,
        *,
        scopes: Iterable[str] = EVERY_SCOPE,
        desks: Iterable[str] = ("*",),
        name: str | None = None,
    ) -> Client:
        _, secret = await self.keys.add(name or f"key {next(iter(self._names))}", scopes, desks)
        return Client(self.app, {"Authorization": f"Bearer {secret}"})

    def stranger(self) -> Client:
        return Client(self.app, {})

    async def is_working(self) -> bool:
        """Whether the shop has a run in hand."""
        return bool(await self.desks["shop"].store.runs(status=RunStatus.RUNNING, limit=1))


def write_desk(
    folder: Path, name: str, *, backlog: int = 100, limit: int = LIMIT, more: str = ""
) -> Path:
    here = folder / name
    here.mkdir(exist_ok=True)
    (here / "desk.yaml").write_text(
        DESK.format(name=name, backlog=backlog, limit=limit) + automatic(more), encoding="utf-8"
    )
    (here / "tools.py").write_text(TOOLS)
    return here


@asynccontextmanager
async def served(
    folder: Path,
    *names: str,
    backlog: int = 100,
    more: str = "",
    url: str | None = None,
    approvals: bool = False,
    public_url: str | None = None,
    single: Callable[[Database], SingleSignOn] | None = None,
) -> AsyncIterator[Served]:
    """`more` is added to each desk.yaml; `url` names another database than a file in the folder."""
    async with AsyncExitStack() as opened:
        database = await opened.enter_async_context(
            open_database(url or str(folder / "deskhand.db"))
        )
        desks: dict[str, Desk] = {}
        for name in names or ("shop",):
            loaded = read_desk(str(write_desk(folder, name, backlog=backlog, more=more)))
            desks[name] = await opened.enter_async_context(
                open_desk(loaded, database, outbox=folder / "outbox", owner="test", grace=0.2)
            )
        keys = api_keys(database)
        accounts = user_accounts(database)
        specs = {name: desk.spec for name, desk in desks.items()}
        trial = WebhookTrial(database, specs)
        hooks = Hooks(webhook_endpoints(database), trial, console_actions(database))
        site = create_console(
            desks,
            accounts,
            console_feed(database, specs.values()),
            run_bench(database, desks.values()),
            public_url=public_url,
            actions=console_actions(database),
            keys=keys,
            hooks=hooks,
            single=None if single is None else single(database),
        )
        app = create_app(
            desks,
            keys,
            version="1.2.3",
            site=site if approvals else None,
            users=accounts,
            hooks=hooks,
        )
        yield Served(app, desks, keys, database, folder)


def is_problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem document of an answer that must be one."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = dict(response.json())
    assert problem["type"] == f"urn:deskhand:problem:{code}"
    assert (problem["status"], problem["code"]) == (status, code)
    assert problem["title"]
    assert problem["detail"]
    return problem
