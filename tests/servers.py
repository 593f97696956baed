"""Real servers for tests, started on free loopback ports in temporary folders and stopped at the
end."""

import asyncio
import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg

from deskhand.adapters.stores.postgres_database import PostgresDatabase
from tests.at_end import at_end
from tests.waiting import PATIENCE

NOBODY = 65534


LOWEST_PORT = 15_000
PORTS = 17_000


def free_port() -> int:
    """A port that nobody uses, below those that the kernel gives to clients.

    A client that calls a server which is down for a moment would otherwise be given, some day,
    the server's own port, and keep it from coming back.
    """
    while True:
        port = LOWEST_PORT + secrets.randbelow(PORTS)
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


def postgres_programs() -> Path | None:
    """Where initdb and pg_ctl lie; None when PostgreSQL's server is not installed."""
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).parent
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3])
    )
    return found[-1].parent if found else None


MEMORY = Path("/dev/shm")
MEMORY_NEEDED = 8 * 2**30
"""More than the servers of a few test processes fill: each keeps the databases of a file, and those
of `make soak` grow to gigabytes."""


def _memory_folder() -> Path | None:
    """A folder whose files lie in memory, if this machine has one that is large enough."""
    with contextlib.suppress(OSError):
        if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= MEMORY_NEEDED:
            return MEMORY
    return None


class PostgresServer:
    """A throw-away server; root drops to nobody, since PostgreSQL refuses to run as root.

    One that need not be durable keeps its files in memory where it can: each database is a
    thousand files, made and removed in half a thousand tests.
    """

    def __init__(self, *, durable: bool = False) -> None:
        programs = postgres_programs()
        assert programs is not None, "PostgreSQL is not installed"
        self._programs = programs
        place = None if durable else _memory_folder()
        self._folder = Path(tempfile.mkdtemp(prefix="deskhand-postgres-", dir=place))
        self.port = free_port()
        self._durable = durable
        if os.getuid() == 0:
            os.chown(self._folder, NOBODY, NOBODY)
        self._run(
            "initdb",
            "-D",
            self._data,
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "-N",
        )
        self.start()

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    @property
    def pid(self) -> int:
        """Of the process that all others are children of."""
        return int((self._folder / "data" / "postmaster.pid").read_text().split()[0])

    def url(self, name: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def start(self) -> None:
        switches = (
            ""
            if self._durable
            else "-c fsync=off -c synchronous_commit=off -c full_page_writes=off"
        )
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c max_connections=300 -k {self._folder}"
            f" {switches}"
        )
        self._run(
            "pg_ctl",
            "-D",
            self._data,
            "-w",
            "-t",
            f"{PATIENCE:.0f}",
            "-s",
            "-l",
            str(self._folder / "log"),
            "-o",
            options,
            "start",
        )

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", self._data, "-w", "-s", "-m", mode, "stop", check=False)

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        command = [str(self._programs / program), *arguments]
        if os.getuid() == 0:
            drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            command = [*drop, "env", f"HOME={self._folder}", *command]
        done = subprocess.run(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
            timeout=PATIENCE,
        )
        if check and done.returncode != 0:
            raise RuntimeError(f"{program} failed: {done.stderr.decode()}")


@cache
def postgres() -> PostgresServer:
    """The one server all tests share."""
    server = PostgresServer()
    at_end(server.remove)
    return server


TEMPLATE = "deskhand_template"
UNFINISHED = "deskhand_template_unfinished"
"""The template's name until its migrations are through."""
TEMPLATE_LOCK = 0x74656D70


_databases: list[str] = []
"""The names of those that tests were given and that are not dropped yet."""


def new_database(template: str = "") -> str:
    """The address of a fresh, migrated database, or of a copy of one that `keep_database` named.
    Not to be called from inside a running loop.

    It lives until the tests of the file that asked for it are through.
    """
    name = f"test_{uuid4().hex[:12]}"
    asyncio.run(copy_template(postgres(), name, template or _template()))
    _databases.append(name)
    return postgres().url(name)


def keep_database(url: str) -> str:
    """The name of a database that stays as long as the server, for others to begin as copies."""
    name = url.rpartition("/")[2]
    _databases.remove(name)
    return name


async def copy_template(server: PostgresServer, name: str, template: str) -> None:
    """Copies files, as PostgreSQL did before version 15: writing each page to the log as well
    takes twice the CPU and more."""
    connection = await asyncpg.connect(server.url())
    try:
        knows_strategies = connection.get_server_version().major >= 15
        strategy = "STRATEGY FILE_COPY" if knows_strategies else ""
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} {strategy}")
    finally:
        await connection.close()


def drop_databases() -> None:
    """Each takes ten megabytes: kept to the end, those of a whole run filled four gigabytes."""
    names = [_databases.pop() for _ in range(len(_databases))]
    if names:
        asyncio.run(_execute(*(f"DROP DATABASE {name} WITH (FORCE)" for name in names)))


@cache
def _template() -> str:
    asyncio.run(make_template(postgres()))
    return TEMPLATE


async def make_template(server: PostgresServer) -> None:
    """A migrated database to copy: migrating afresh for every test would be most of the time.

    It gets its name last, so what was left half-made is seen by its name, dropped and made again.
    """
    connection = await asyncpg.connect(server.url())
    try:
        await connection.execute(f"SELECT pg_advisory_lock({TEMPLATE_LOCK})")
        if await _has_database(connection, TEMPLATE):
            return
        await connection.execute(f"DROP DATABASE IF EXISTS {UNFINISHED} WITH (FORCE)")
        await connection.execute(f"CREATE DATABASE {UNFINISHED}")
        migrated = await PostgresDatabase.open(server.url(UNFINISHED))
        await migrated.close()
        await connection.execute(f"ALTER DATABASE {UNFINISHED} RENAME TO {TEMPLATE}")
    finally:
        await connection.close()


async def _has_database(connection: Any, name: str) -> bool:
    query = "SELECT EXISTS(SELECT 1 FROM pg_database WHERE datname = $1)"
    return bool(await connection.fetchval(query, name))


async def _execute(*statements: str) -> None:
    connection = await asyncpg.connect(postgres().url())
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


class RedisServer:
    """A throw-away server that keeps nothing on disk."""

    def __init__(self, port: int | None = None) -> None:
        self.port = port or free_port()
        command = [
            "redis-server",
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        ]
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + PATIENCE
        while not self.answers():
            assert time.monotonic() < deadline, "redis-server did not come up"
            time.sleep(0.02)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def remove(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=PATIENCE)


@cache
def redis() -> RedisServer:
    """The one server all tests share."""
    server = RedisServer()
    at_end(server.remove)
    return server
