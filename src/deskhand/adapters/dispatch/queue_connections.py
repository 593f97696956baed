"""Connections to PostgreSQL for DBOS, of which none stays open after `close`."""

import threading
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores.postgres_database import NOT_IDLE

LAST_CALLS_SECONDS = 5.0
CONNECT_SECONDS = "10"


class QueueConnections:
    """A pool of connections that threads share.

    When it is closed, a thread may be in the middle of a call: DBOS does not wait for its threads,
    and a call of ours goes on in its thread when the task that waits for it is cancelled.
    SQLAlchemy would take such a connection back into a pool that nobody closes any more.
    """

    def __init__(self, url: str, *, size: int, overflow: int = 0) -> None:
        self.engine = sa.create_engine(
            address_of(url), pool_size=size, max_overflow=overflow, pool_pre_ping=True
        )
        self._closed = False
        self._in_use: set[Any] = set()
        self._returned = threading.Condition()
        sa.event.listen(self.engine, "checkout", self._lend)
        sa.event.listen(self.engine, "checkin", self._take_back)

    def close(self, patience: float = LAST_CALLS_SECONDS) -> None:
        """Close every connection; those in use when they come back, which is waited for at most
        `patience` seconds."""
        with self._returned:
            self._closed = True
        pool = self.engine.pool
        self.engine.dispose()
        with self._returned:
            self._returned.wait_for(lambda: not self._in_use, patience)
        pool.dispose()

    def _lend(self, connection: Any, record: Any, proxy: Any) -> None:
        with self._returned:
            self._in_use.add(record)

    def _take_back(self, connection: Any, record: Any) -> None:
        """`connection` is None where it broke."""
        with self._returned:
            self._in_use.discard(record)
            if self._closed and connection is not None:
                connection.close()
            self._returned.notify_all()


def address_of(url: str) -> str:
    """The queue's address, with the store's settings and a limit for connecting; what the address
    says of them itself stays."""
    address = sa.make_url("postgresql+psycopg://" + url.partition("://")[2])
    switches = [f"-c{name}={value}" for name, value in NOT_IDLE.items()]
    settings = {"options": " ".join(switches), "connect_timeout": CONNECT_SECONDS}
    missing = {name: value for name, value in settings.items() if name not in address.query}
    return address.update_query_dict(missing).render_as_string(hide_password=False)
