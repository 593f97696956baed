"""`deskhand worker`: work desks together with other workers, on any number of machines."""

import asyncio
import logging
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.service_process import (
    keep_memory_compact,
    keep_what_was_started,
    log_what_leaves,
    opened_together,
    outbox_folders,
)
from deskhand.cli.terminal import run_async

if TYPE_CHECKING:
    from deskhand.wiring import Database, LoadedDesk

log = logging.getLogger("deskhand.worker")

_TRY_AGAIN = 2.0


def worker(
    desks: Annotated[
        list[str],
        typer.Argument(help="Folders of desks, or names of shipped ones.", metavar="DESK..."),
    ],
    database: options.Database = None,
    outbox: options.Outbox = None,
    in_flight: Annotated[
        int | None,
        typer.Option("--in-flight", min=1, help="Runs at work in this process, each desk."),
    ] = None,
    everywhere: Annotated[
        int | None,
        typer.Option(
            "--in-flight-everywhere", min=1, help="Runs at work on all workers together; slower."
        ),
    ] = None,
    lease: Annotated[
        float,
        typer.Option(
            "--lease", min=1, help="Seconds of silence after which others take up our runs."
        ),
    ] = 10.0,
    rate: Annotated[
        list[str] | None,
        typer.Option(
            "--rate",
            help="Calls a minute of a model, over all workers.",
            metavar="PROVIDER/MODEL=N",
        ),
    ] = None,
    grace: Annotated[
        float, typer.Option("--grace", min=0, help="Seconds to finish what runs when stopped.")
    ] = 20.0,
    log_json: Annotated[
        bool, typer.Option("--log-json", help="Log JSON lines; so does DESKHAND_LOG=json.")
    ] = False,
) -> None:
    """Work desks beside other workers on one PostgreSQL; SIGTERM or Ctrl-C hands back what does
    not finish in time."""
    from deskhand.logs import set_up_logging
    from deskhand.wiring import read_desk

    set_up_logging(logging.INFO, as_json=log_json or None)
    keep_memory_compact()
    settings = {"in_flight": in_flight, "everywhere": everywhere, "lease": lease}
    setup = _WorkerSetup(
        database or options.DEFAULT_DATABASE,
        outbox or options.DEFAULT_OUTBOX,
        settings,
        _rates(rate or []),
        grace,
    )
    loaded = [read_desk(name) for name in desks]
    keep_what_was_started()
    run_async(_work(loaded, setup))


class _WorkerSetup:
    """Where and how to work."""

    def __init__(
        self,
        database: str,
        outbox: Path,
        settings: dict[str, Any],
        rates: dict[str, float],
        grace: float,
    ) -> None:
        self.database, self.outbox, self.settings, self.rates, self.grace = (
            database,
            outbox,
            settings,
            rates,
            grace,
        )


async def _work(loaded: "list[LoadedDesk]", setup: _WorkerSetup) -> None:
    """One life after another: a worker that was taken for dead, or lost its database at the
    start, begins anew."""
    from deskhand.errors import Fenced, StoreUnavailable
    from deskhand.wiring import open_database

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    while not stop.is_set():
        try:
            async with open_database(setup.database) as database:
                await _live(loaded, database, setup, stop)
        except Fenced as error:
            log.warning("%s; starting anew", error)
        except StoreUnavailable as error:
            log.error("waiting for the database: %s", error)
            await asyncio.wait({asyncio.ensure_future(stop.wait())}, timeout=_TRY_AGAIN)
    log.info("stopped")


async def _live(
    loaded: "list[LoadedDesk]", database: "Database", setup: _WorkerSetup, stop: asyncio.Event
) -> None:
    from deskhand.wiring import join_workers, open_desk

    worker_process = join_workers(database, loaded, **setup.settings)
    folders = outbox_folders(setup.outbox, loaded)
    async with opened_together(
        open_desk(
            loaded_desk,
            database,
            outbox=folder,
            worker_process=worker_process,
            rates=setup.rates or None,
            grace=setup.grace,
            listen=True,
        )
        for loaded_desk, folder in zip(loaded, folders, strict=True)
    ) as desks:
        names = ", ".join(desk.spec.name for desk in desks)
        log.info(
            "worker %s works %s",
            worker_process.worker_id,
            names,
            extra={"database": options.shown(setup.database)},
        )
        await log_what_leaves(log, desks, database)
        stopping = asyncio.ensure_future(stop.wait())
        ends: set[asyncio.Future[Any]] = {stopping, worker_process.lost}
        done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if worker_process.lost in done:
            worker_process.lost.result()
        log.info("stopping: what runs comes to rest or is handed back")


def _rates(written: list[str]) -> dict[str, float]:
    from deskhand.errors import ConfigError

    rates: dict[str, float] = {}
    for text in written:
        model, _, number = text.rpartition("=")
        try:
            rates[model] = float(number)
        except ValueError:
            rates[model] = 0.0
        if not model or not 0 < rates[model] < float("inf"):
            raise ConfigError(
                f"--rate {text!r} is not a rate",
                fix="write --rate openai/gpt-6-luna=600, calls a minute",
            )
    return rates
