"""DBOS in our words: a workflow a pass of a run, on a queue a desk, one at a time within a
conversation.

The only file that knows DBOS, imported when it is used. DBOS brings the queue: durable, partitioned
by conversation, shared by any number of workers. It records no steps, since the journal does: its
workflows hold nothing but the run's id, and any version of code or flow may take any of them.
Everything here blocks: call it from a thread.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from deskhand.adapters.dispatch.queue_connections import QueueConnections, address_of
from deskhand.errors import ConfigError

if TYPE_CHECKING:
    from dbos import DBOSClient

APPLICATION = "deskhand"
VERSION = "1"
"""Of what a workflow holds, not of code or flow: raise it only when its arguments change."""
WORKFLOW = "work"
SCHEMA_LOCK, SWEEP_LOCK = 0x64626F73, 0x64626F74
_TRY_SWEEP = sa.text("SELECT pg_try_advisory_xact_lock(:key)")
PAGE = 1000
ENDED = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")


class Left(BaseException):
    """Raised in a workflow to leave it for whoever gets it next: DBOS would record any Exception
    as its end."""


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run to be worked, as the queue knows it."""

    run_id: str
    desk: str
    conversation: str


@dataclass(frozen=True, slots=True)
class TakenWorkflow:
    """A workflow that some worker has taken from the queue."""

    id: str
    queue: str
    worker: str | None


@dataclass(frozen=True, slots=True)
class QueueSettings:
    in_flight: int
    everywhere: int | None
    """At most so many on all workers together; DBOS then takes conversations one by one, which
    is much slower."""
    poll: float


def queue_of(desk: str) -> str:
    return f"deskhand.{desk}"


class Queues:
    """The queues of a database: any process may hand runs in, look, and hand workflows back."""

    def __init__(self, url: str) -> None:
        client = _dbos().DBOSClient
        _quieten()
        self._url = url
        self._connections = QueueConnections(url, size=2, overflow=2)
        self._client: DBOSClient = client(
            system_database_engine=self._connections.engine,
            application_name=APPLICATION,
            retry_connection_errors=False,
            lazy=True,
        )

    def prepare(self) -> None:
        """Make DBOS's own tables unless a worker has: whoever comes first, intake or worker."""
        with _one_at_a_time(address_of(self._url)):
            self._client._sys_db.run_migrations()

    def close(self) -> None:
        self._client.destroy()
        self._connections.close()

    def hand_in(self, tickets: Sequence[QueuedRun]) -> None:
        """Put runs on their queues, in one commit; those handed in before are left as they are."""
        self._enqueue([(ticket.run_id, ticket) for ticket in tickets])

    def make_sure(self, tickets: Sequence[QueuedRun]) -> int | None:
        """Give every run a workflow that has none under way.

        Returns how many had to be made, None while another worker does it.

        The first pass of a run has the run's id, its n-th continuation `run.n`. Two who do this at
        once choose the same id, and the second changes nothing.
        """
        states = self._states([ticket.run_id for ticket in tickets])
        wanted = [(ticket.run_id, ticket) for ticket in tickets if ticket.run_id not in states]
        for ticket in tickets:
            if states.get(ticket.run_id) in ENDED:
                following = self._continuation(ticket.run_id)
                wanted += [(following, ticket)] if following else []
        return len(wanted) if self._enqueue(wanted, sweeping=True) else None

    def taken(self, queues: Sequence[str]) -> list[TakenWorkflow]:
        """The workflows that some worker has taken and not finished."""
        pending = self._list(status="PENDING", queue_name=list(queues))
        return [
            TakenWorkflow(workflow.workflow_id, workflow.queue_name, workflow.executor_id)
            for workflow in pending
        ]

    def hand_back(self, taken: Iterable[TakenWorkflow]) -> int:
        """Put workflows back on their queues, in their old places; returns how many.

        Ended ones stay ended.
        """
        by_queue: dict[str, list[str]] = {}
        for workflow in taken:
            by_queue.setdefault(workflow.queue, []).append(workflow.id)
        for queue, ids in by_queue.items():
            self._client.resume_workflows(sorted(ids), queue_name=queue)
        return sum(map(len, by_queue.values()))

    def forget(self, queues: Sequence[str], ended_before: float) -> int:
        """Delete workflows that ended before this time, a page at most; returns how many.

        The journal keeps the runs.
        """
        before = datetime.fromtimestamp(ended_before, UTC).isoformat()
        ended = self._list(
            status=list(ENDED), queue_name=list(queues), completed_before=before, limit=PAGE
        )
        if ended:
            self._client.delete_workflows([workflow.workflow_id for workflow in ended])
        return len(ended)

    def _enqueue(self, wanted: Sequence[tuple[str, QueuedRun]], *, sweeping: bool = False) -> bool:
        """Put runs into the queue; False where somebody else sweeps already.

        They go in by their ids, the order of acceptance, so that two who insert the same ones
        cannot lock each other.
        """
        if not wanted:
            return True
        with self._connections.engine.begin() as connection:
            if sweeping and not connection.execute(_TRY_SWEEP, {"key": SWEEP_LOCK}).scalar():
                return False
            for workflow_id, ticket in sorted(wanted, key=itemgetter(0)):
                self._client.enqueue_in_transaction(
                    connection,
                    {
                        "workflow_name": WORKFLOW,
                        "workflow_id": workflow_id,
                        "queue_name": queue_of(ticket.desk),
                        "queue_partition_key": ticket.conversation,
                    },
                    ticket.desk,
                    ticket.run_id,
                )
        return True

    def _states(self, ids: list[str]) -> dict[str, str]:
        if not ids:
            return {}
        workflows = self._list(workflow_ids=ids)
        return {workflow.workflow_id: workflow.status for workflow in workflows}

    def _continuation(self, run_id: str) -> str | None:
        """The id of the next pass; None while one is under way."""
        workflows = self._list(workflow_id_prefix=f"{run_id}.")
        passes = {workflow.workflow_id: workflow.status for workflow in workflows}
        if any(status not in ENDED for status in passes.values()):
            return None
        numbers = [int(name.rpartition(".")[2]) for name in passes]
        return f"{run_id}.{max(numbers, default=0) + 1}"

    def _list(self, **criteria: Any) -> list[Any]:
        return list(self._client.list_workflows(load_input=False, load_output=False, **criteria))


class Executor:
    """This process as one of DBOS's executors: it takes workflows from the queues and has each
    worked.

    DBOS is one a process. Its threads wait while our own loop works: `work(desk, run_id)` blocks
    until the run is at rest, or raises Left.
    """

    def __init__(self, url: str, worker: str, work: Callable[[str, str], None]) -> None:
        self._url, self._worker, self._work = url, worker, work
        self._connections = QueueConnections(url, size=8)

    def launch(self, desks: Sequence[str], settings: QueueSettings) -> None:
        """Start taking; one process at a time, since the first of all makes DBOS's own tables."""
        dbos = _dbos().DBOS
        queues = [queue_of(desk) for desk in desks]
        dbos(config=self._config())
        _quieten()
        dbos.workflow(name=WORKFLOW, max_recovery_attempts=None)(_entry(self._work))
        dbos.listen_queues(queues)
        with _one_at_a_time(address_of(self._url)):
            dbos.launch()
            for queue in queues:
                dbos.register_queue(
                    queue,
                    worker_concurrency=settings.in_flight,
                    global_concurrency=settings.everywhere,
                    partition_concurrency=1,
                    polling_interval_sec=settings.poll,
                    on_conflict="always_update",
                )

    def destroy(self, patience: float) -> None:
        """Stop taking at once, then wait for what is at work, at most so many seconds."""
        _dbos().DBOS.destroy(
            destroy_registry=True, workflow_completion_timeout_sec=round(patience + 0.5)
        )
        self._connections.close()

    def _config(self) -> Any:
        return {
            "name": APPLICATION,
            "application_version": VERSION,
            "executor_id": self._worker,
            "system_database_engine": self._connections.engine,
            "use_listen_notify": False,
            "log_level": "ERROR",
        }


@contextmanager
def _one_at_a_time(url: str) -> Iterator[None]:
    """Asked for again and again: DBOS builds indexes concurrently, which waits for whoever waits
    in a statement."""
    engine = sa.create_engine(url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        while not connection.execute(
            sa.text("SELECT pg_try_advisory_lock(:key)"), {"key": SCHEMA_LOCK}
        ).scalar():
            time.sleep(0.1)
        yield


def _entry(work: Callable[[str, str], None]) -> Callable[[str, str], None]:
    def entry(desk: str, run_id: str) -> None:
        work(desk, run_id)

    return entry


def _dbos() -> Any:
    try:
        import dbos
    except ImportError:
        raise ConfigError(
            "many workers need DBOS, which is not installed", fix="pip install deskhand[scale]"
        ) from None
    return dbos


def _quieten() -> None:
    """Only errors, and those through our own logging."""
    logger = logging.getLogger("dbos")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
    logger.propagate = True
    logger.setLevel(logging.ERROR)
