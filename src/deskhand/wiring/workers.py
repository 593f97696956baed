"""Who works a desk's runs: this process alone, or many workers that share a database."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from deskhand.engine.clock import SystemClock
from deskhand.engine.dispatcher import DispatchLimits, InProcessDispatcher
from deskhand.engine.worker import Worker
from deskhand.errors import ConfigError
from deskhand.model.ids import new_id
from deskhand.wiring.databases import Database, DeskStore
from deskhand.wiring.desks import LoadedDesk
from deskhand.wiring.routing import flow_of, routed_by

if TYPE_CHECKING:  # the driver takes a tenth of a second to import: only for those who use it
    from deskhand.adapters.dispatch.dbos_dispatcher import DbosDispatcher
    from deskhand.adapters.dispatch.worker_process import WorkerProcess
    from deskhand.adapters.dispatch.worker_registry import WorkerRegistry
    from deskhand.adapters.stores.postgres import PostgresStore

DeskDispatcher: TypeAlias = "InProcessDispatcher | DbosDispatcher"


@dataclass(frozen=True, slots=True)
class ServedAlone:
    """One process works all runs of the desk."""

    store: DeskStore
    in_flight: int | None = None
    """Runs at work at once; None for what desk.yaml says."""

    def dispatcher(self, loaded: LoadedDesk, worker: Worker) -> InProcessDispatcher:
        spec = loaded.spec
        limits = DispatchLimits(
            in_flight=self.in_flight or spec.limits.max_in_flight, backlog=spec.limits.max_backlog
        )
        return InProcessDispatcher(
            self.store,
            worker.work,
            flow_of(spec),
            SystemClock(),
            limits,
            routed=routed_by(loaded),
        )


@dataclass(frozen=True, slots=True)
class ServedTogether:
    """Many workers share the desk's runs; this process is one of them."""

    store: "PostgresStore"
    process: "WorkerProcess"

    def dispatcher(self, loaded: LoadedDesk, worker: Worker) -> "DbosDispatcher":
        from deskhand.adapters.dispatch.dbos_dispatcher import DbosDispatcher

        spec = loaded.spec
        versions = {name: flow.version for name, flow in spec.flows.items()}
        return DbosDispatcher(
            self.process,
            self.store,
            worker.work,
            flow_of(spec),
            versions,
            routed=routed_by(loaded),
        )


def served_by(
    database: Database,
    desk: str,
    owner: str | None,
    in_flight: int | None,
    process: "WorkerProcess | None",
) -> ServedAlone | ServedTogether:
    """Who serves a desk, with the store to do it on: alone unless this is a worker process."""
    if process is None:
        return ServedAlone(database.store(desk, owner), in_flight)
    return ServedTogether(database.for_workers().store(desk, process.worker_id), process)


def join_workers(
    database: Database,
    loaded: Sequence[LoadedDesk],
    *,
    in_flight: int | None = None,
    everywhere: int | None = None,
    lease: float = 10.0,
) -> "WorkerProcess":
    """This process as a worker of these desks.

    With nothing in flight it only takes messages in. Raises ConfigError where the database
    cannot be shared.
    """
    shared = database.for_workers()
    from deskhand.adapters.dispatch.worker_process import WorkerLimits, WorkerProcess

    specs = [desk.spec for desk in loaded]
    if in_flight is None:
        in_flight = min(spec.limits.max_in_flight for spec in specs)
    if everywhere is not None:
        in_flight = min(in_flight, everywhere)
    limits = WorkerLimits(
        in_flight=in_flight,
        everywhere=everywhere,
        backlog=min(spec.limits.max_backlog for spec in specs),
        lease=lease,
    )
    return WorkerProcess(shared, new_id("own"), [spec.name for spec in specs], limits)


def worker_registry(database: Database) -> "WorkerRegistry":
    """The workers of this database; raises ConfigError where it cannot be shared."""
    shared = database.for_workers()
    from deskhand.adapters.dispatch.worker_registry import WorkerRegistry

    return WorkerRegistry(shared, shared.name)


def worker_list(database: Database) -> "WorkerRegistry | None":
    """The workers of this database; None where a single process works it."""
    try:
        return worker_registry(database)
    except ConfigError:
        return None
