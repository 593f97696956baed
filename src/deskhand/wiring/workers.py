"""Many workers on one database."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.errors import ConfigError
from deskhand.model.ids import new_id
from deskhand.wiring.databases import Database
from deskhand.wiring.desks import LoadedDesk

if TYPE_CHECKING:
    from deskhand.adapters.dispatch.worker_process import WorkerProcess
    from deskhand.adapters.dispatch.worker_registry import WorkerRegistry


def join_workers(
    database: Database,
    loaded: Sequence[LoadedDesk],
    *,
    in_flight: int | None = None,
    everywhere: int | None = None,
    lease: float = 10.0,
) -> "WorkerProcess":
    """This process as a worker of these desks, or with nothing in flight as one that takes
    messages in for them."""
    if isinstance(database, SqliteDatabase):
        raise ConfigError(
            "many workers need PostgreSQL",
            fix="name one with --database postgresql://user@host/name",
        )
    from deskhand.adapters.dispatch.worker_process import WorkerLimits, WorkerProcess

    specs = [one.spec for one in loaded]
    in_flight = min(spec.limits.max_in_flight for spec in specs) if in_flight is None else in_flight
    limits = WorkerLimits(
        in_flight=in_flight if everywhere is None else min(in_flight, everywhere),
        everywhere=everywhere,
        backlog=min(spec.limits.max_backlog for spec in specs),
        lease=lease,
    )
    return WorkerProcess(database, new_id("own"), [spec.name for spec in specs], limits)


def worker_registry(database: Database) -> "WorkerRegistry":
    """Who works the desks of this database."""
    if isinstance(database, SqliteDatabase):
        raise ConfigError(
            "many workers need PostgreSQL",
            fix="name one with --database postgresql://user@host/name",
        )
    from deskhand.adapters.dispatch.worker_registry import WorkerRegistry

    return WorkerRegistry(database, database.name)
