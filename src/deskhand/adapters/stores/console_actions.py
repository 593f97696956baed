"""What people did in the console: who, when, from where; each row is chained to the one before."""

import json
import time
from collections.abc import Callable, Collection
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase, insert_if_new
from deskhand.model.access import ConsoleAction
from deskhand.model.audited import ConsoleLog

_BEGIN = bytes(32)
_TRIES = 20
_LONGEST = 300


class SqlConsoleActions:
    """The log of a database, whichever of its desks somebody worked on."""

    def __init__(self, database: CoreDatabase, now: Callable[[], float] = time.time) -> None:
        self._database, self._now = database, now

    async def record(self, who: str, client: str, method: str, path: str, status: int) -> None:
        """Append an action. Two at once take numbers one after the other."""
        values = {
            "at": self._now(),
            "who": who[:_LONGEST],
            "client": client[:_LONGEST],
            "method": method,
            "path": path[:_LONGEST],
            "status": status,
        }

        def op(core: sa.Connection) -> None:
            for _ in range(_TRIES):
                number, chain = _last(core)
                row = {"number": number + 1, **values}
                if insert_if_new(core, t.console_actions, {**row, "chain": _next(chain, row)}):
                    return

        await self._database.write_core(op)

    async def list(self, *, limit: int = 100, before: int | None = None) -> list[ConsoleAction]:
        """Lists what people did in the console, the newest first."""
        here = t.console_actions.c
        query = sa.select(t.console_actions).order_by(here.number.desc()).limit(limit)
        if before is not None:
            query = query.where(here.number < before)
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [_action(row) for row in rows]

    async def first_changed(self) -> int | None:
        """The first row that is not what it was when it was written, or whose predecessor is
        gone; None where the log is whole."""
        log = await self._database.read_core(read_log)
        return log.first_changed


def read_log(core: sa.Connection, numbers: Collection[int] = ()) -> ConsoleLog:
    """How far the log goes, whether it is whole, and the links of these rows of it."""
    query = sa.select(t.console_actions).order_by(t.console_actions.c.number)
    chain, expected = _BEGIN, 1
    first_changed: int | None = None
    chains: dict[int, bytes] = {}
    last = 0
    for row in core.execute(query):
        fields = {name: getattr(row, name) for name in ("number", *_FIELDS)}
        chain = _next(chain, fields)
        if first_changed is None and (row.number != expected or bytes(row.chain) != chain):
            first_changed = int(row.number)
        expected += 1
        last = int(row.number)
        if last in numbers:
            chains[last] = bytes(row.chain)
    chains[last] = chain
    return ConsoleLog(last, first_changed, chains)


_FIELDS = ("at", "who", "client", "method", "path", "status")


def _last(core: sa.Connection) -> tuple[int, bytes]:
    here = t.console_actions.c
    query = sa.select(here.number, here.chain).order_by(here.number.desc()).limit(1)
    row = core.execute(query).one_or_none()
    return (0, _BEGIN) if row is None else (row.number, bytes(row.chain))


def _next(chain: bytes, row: dict[str, Any]) -> bytes:
    written = json.dumps([row["number"], *(row[name] for name in _FIELDS)])
    return sha256(chain + written.encode()).digest()


def _action(row: Any) -> ConsoleAction:
    return ConsoleAction(row.number, row.at, row.who, row.client, row.method, row.path, row.status)
