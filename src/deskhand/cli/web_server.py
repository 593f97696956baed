"""The HTTP server of `deskhand serve` and `deskhand demo`."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from deskhand.cli import login_options

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from deskhand.ports.login import SingleSignOn
    from deskhand.web.api.app import Hooks
    from deskhand.wiring import Database, Desk

_HTTP_GRACE = 10


@dataclass(frozen=True, slots=True)
class InFront:
    """What stands between browsers and the server."""

    public_url: str | None = None
    """The address that browsers use."""
    proxies: tuple[str, ...] = ()
    """Whose word counts for where a request comes from. Anybody can write such a header."""
    login: login_options.LoginOptions = field(default_factory=login_options.LoginOptions)
    """How people log in."""


async def web_server(
    desks: "list[Desk]", database: "Database", in_front: InFront | None = None
) -> "uvicorn.Server":
    """What answers requests to these desks: the API and the console."""
    import uvicorn

    from deskhand import __version__
    from deskhand.ports import ApiKeys
    from deskhand.web.api.app import Hooks, LaterApp, Site, create_app
    from deskhand.web.api.environment_key import API_KEY, KeysWithEnvironment
    from deskhand.web.console.session import PATHS
    from deskhand.web.header_timeout import HeaderTimeoutProtocol
    from deskhand.wiring import (
        WebhookTrial,
        api_keys,
        console_actions,
        user_accounts,
        webhook_endpoints,
    )

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Signals are ours: uvicorn would repeat them when it ends, before the desks have
            come to rest."""
            yield

    served = {desk.spec.name: desk for desk in desks}
    in_front = in_front or InFront()
    users = user_accounts(database)
    specs = {desk.spec.name: desk.spec for desk in desks}
    trial = WebhookTrial(database, specs)
    hooks = Hooks(webhook_endpoints(database), trial, console_actions(database))
    public_url = in_front.public_url
    single = login_options.single_sign_on(in_front.login, public_url, database)
    stopping = asyncio.Event()
    made_later = partial(_console, desks, database, hooks, public_url, single, stopping)
    site = Site(LaterApp(made_later), PATHS, stopping)
    keys: ApiKeys = api_keys(database)
    if secret := os.environ.get(API_KEY):
        keys = KeysWithEnvironment(keys, secret, served)
    app = create_app(served, keys, version=__version__, site=site, users=users, hooks=hooks)
    return Server(
        uvicorn.Config(
            app,
            http=HeaderTimeoutProtocol,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=_HTTP_GRACE,
            proxy_headers=bool(in_front.proxies),
            forwarded_allow_ips=list(in_front.proxies),
        )
    )


def _console(
    desks: "list[Desk]",
    database: "Database",
    hooks: "Hooks",
    public_url: str | None,
    single: "SingleSignOn | None",
    stopping: asyncio.Event,
) -> "ASGIApp":
    """The screens for people."""
    from deskhand.web.console.app import create_console
    from deskhand.wiring import api_keys, console_feed, run_bench, user_accounts, worker_list

    served = {desk.spec.name: desk for desk in desks}
    specs = [desk.spec for desk in desks]
    site = create_console(
        served,
        user_accounts(database),
        console_feed(database, specs),
        run_bench(database, desks),
        public_url=public_url,
        actions=hooks.actions,
        keys=api_keys(database),
        hooks=hooks,
        workers=worker_list(database),
        single=single,
        stopping=stopping,
    )
    return site.app
