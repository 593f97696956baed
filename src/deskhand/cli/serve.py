"""`deskhand serve`: desks at work behind the HTTP API until somebody stops them."""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import login_options, options
from deskhand.cli.service_process import (
    answer_while_reading,
    keep_memory_compact,
    keep_what_was_started,
    log_what_leaves,
    opened_together,
    outbox_folders,
)
from deskhand.cli.terminal import run_async
from deskhand.cli.web_server import InFront, web_server

if TYPE_CHECKING:
    import uvicorn

    from deskhand.wiring import Database, Desk, LoadedDesk

log = logging.getLogger("deskhand.serve")

_BACKLOG = 2048


def serve(
    desks: Annotated[
        list[str],
        typer.Argument(help="Folders of desks, or names of shipped ones.", metavar="DESK..."),
    ],
    database: options.Database = None,
    outbox: options.Outbox = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8080,
    workers: Annotated[
        bool,
        typer.Option(
            "--workers", help="Take messages in only; `deskhand worker` processes do the work."
        ),
    ] = False,
    public_url: Annotated[
        str | None,
        typer.Option(
            "--public-url",
            envvar="DESKHAND_PUBLIC_URL",
            help="The address browsers use, where a proxy is in front: https://desk.example.com",
            metavar="URL",
        ),
    ] = None,
    proxies: Annotated[
        list[str] | None,
        typer.Option(
            "--trusted-proxy",
            envvar="DESKHAND_TRUSTED_PROXIES",
            help="A proxy whose X-Forwarded-For and X-Forwarded-Proto count, by its address or"
            " network; repeat for several.",
            metavar="ADDRESS",
        ),
    ] = None,
    oidc_issuer: login_options.Issuer = None,
    oidc_client: login_options.Client = None,
    oidc_name: login_options.Name = "",
    oidc_scopes: login_options.Scopes = "openid email profile",
    oidc_groups_claim: login_options.GroupsClaim = "groups",
    oidc_role: login_options.Roles = None,
    oidc_unknown: login_options.Unknown = "refuse",
    oidc_desk: login_options.Desks = None,
    oidc_trust_email: login_options.TrustsAddresses = False,
    password_login: login_options.Passwords = True,
    log_json: Annotated[
        bool, typer.Option("--log-json", help="Log JSON lines; so does DESKHAND_LOG=json.")
    ] = False,
) -> None:
    """Work desks and take messages over HTTP; SIGTERM or Ctrl-C stops once what runs has come to
    rest."""
    from deskhand.logs import set_up_logging

    set_up_logging(logging.INFO, as_json=log_json or None)
    keep_memory_compact()
    answer_while_reading()
    login = login_options.LoginOptions(
        oidc_issuer,
        oidc_client,
        oidc_name,
        oidc_scopes,
        oidc_groups_claim,
        tuple(oidc_role or ()),
        oidc_unknown,
        tuple(oidc_desk or ()),
        oidc_trust_email,
        password_login,
    )
    run_async(
        _serve(
            desks,
            database or options.DEFAULT_DATABASE,
            outbox or options.DEFAULT_OUTBOX,
            host,
            port,
            workers,
            InFront(_public_origin(public_url), tuple(map(_proxy, proxies or ())), login),
        )
    )


def _proxy(written: str) -> str:
    """An address or a network; ConfigError where it is neither."""
    from ipaddress import ip_network

    from deskhand.errors import ConfigError

    try:
        ip_network(written.strip(), strict=False)
    except ValueError:
        raise ConfigError(
            f"{written!r} is not the address of a proxy",
            fix="write --trusted-proxy 127.0.0.1, or a network as in 10.0.0.0/8",
        ) from None
    return written.strip()


def _public_origin(url: str | None) -> str | None:
    """The address as browsers name it in `Origin`; ConfigError where it is none."""
    from urllib.parse import urlsplit

    from deskhand.errors import ConfigError

    if not url:
        return None
    parts = urlsplit(url.strip())
    has_more = parts.path not in ("", "/") or parts.query or parts.fragment or parts.username
    if parts.scheme not in ("http", "https") or not parts.hostname or has_more:
        raise ConfigError(
            f"{url!r} is not the address of a site",
            fix="write --public-url https://desk.example.com, without a path",
        )
    usual = {"http": 80, "https": 443}[parts.scheme]
    port = "" if parts.port in (None, usual) else f":{parts.port}"
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{name}{port}"


async def _serve(
    names: list[str],
    url: str,
    outbox: Path,
    host: str,
    port: int,
    workers: bool,
    in_front: InFront,
) -> None:
    from deskhand.wiring import open_database, read_desk

    loaded = [read_desk(name) for name in names]
    _check_names(loaded)
    with listening(host, port) as listener:
        log.info(
            "opening %s: new articles and examples are read first",
            ", ".join(loaded_desk.spec.name for loaded_desk in loaded),
        )
        async with (
            open_database(url) as database,
            opened(loaded, database, outbox, workers) as desks,
        ):
            where = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
            log.info(
                "serving %s at %s",
                ", ".join(desk.spec.name for desk in desks),
                where,
                extra={"database": options.shown(url)},
            )
            await log_what_leaves(log, desks, database)
            await _warn_without_people(database, in_front.public_url or where)
            server = await web_server(desks, database, in_front)
            keep_what_was_started()
            await until_stopped(server, desks, listener)
            log.info("stopping: what runs comes to rest or is handed back")
    log.info("stopped")


@asynccontextmanager
async def opened(
    loaded: "Sequence[LoadedDesk]", database: "Database", outbox: Path, workers: bool
) -> "AsyncIterator[list[Desk]]":
    """All desks under one owner: they share the lease of this process. With workers they only
    take messages in."""
    from deskhand.model.ids import new_id
    from deskhand.wiring import join_workers, open_desk

    owner = new_id("own")
    worker_process = join_workers(database, loaded, in_flight=0) if workers else None
    folders = outbox_folders(outbox, loaded)
    async with opened_together(
        open_desk(
            loaded_desk,
            database,
            outbox=folder,
            owner=owner,
            worker_process=worker_process,
            listen=True,
        )
        for loaded_desk, folder in zip(loaded, folders, strict=True)
    ) as desks:
        yield desks


async def until_stopped(
    server: "uvicorn.Server", desks: "list[Desk]", listener: socket.socket
) -> None:
    """Serve until a signal comes or the lease is lost; Fenced in the latter case."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    stopping = asyncio.create_task(stop.wait())
    lost = [desk.dispatcher.lost for desk in desks]
    awaited: set[asyncio.Future[Any]] = {serving, stopping, *lost}
    try:
        done, _ = await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        begin_to_stop(server)
        await serving
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
    for future in lost:
        if future in done:
            future.result()


def begin_to_stop(server: "uvicorn.Server") -> None:
    """Take no more requests and answer those that wait for a run: what was accepted is worked
    by whoever serves next."""
    from deskhand.web.api.app import answer_who_waits

    answer_who_waits(server.config.app)  # type: ignore[arg-type]
    server.should_exit = True


async def _warn_without_people(database: "Database", where: str) -> None:
    from deskhand.web.api.environment_key import API_KEY
    from deskhand.wiring import api_keys, user_accounts

    if any(user.removed_at is None for user in await user_accounts(database).list()):
        log.info("console at %s/", where)
    else:
        secret = await user_accounts(database).setup_link()
        log.warning(
            "nobody can log in yet. Make the first account at %s/setup?token=%s (works once,"
            " within a day), or with `deskhand users add NAME --desk DESK --role admin`",
            where,
            secret,
        )
    keys = [key for key in await api_keys(database).list() if key.revoked_at is None]
    if not keys and not os.environ.get(API_KEY):
        log.warning(
            "nobody can call the API yet: deskhand keys add NAME --scope messages:write --desk DESK"
        )


def _check_names(loaded: "Sequence[LoadedDesk]") -> None:
    from deskhand.errors import ConfigError

    seen: dict[str, Path] = {}
    for desk in loaded:
        if desk.spec.name in seen:
            raise ConfigError(
                f"two desks are called {desk.spec.name!r}: {seen[desk.spec.name]} and"
                f" {desk.spec.folder}",
                fix="give one another name in its desk.yaml",
            )
        seen[desk.spec.name] = desk.spec.folder


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """The socket, opened before anything else: a port in use is said at once."""
    from deskhand.errors import ConfigError

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        words = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise ConfigError(
            f"cannot listen on {host}:{port}: {words}", fix="choose another --port or --host"
        ) from None
    # Every accepted connection inherits this. Without it an answer in two pieces waits for the
    # client's delayed acknowledgement, about 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with listener:
        yield listener
