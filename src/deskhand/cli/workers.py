"""`deskhand workers`: who works the desks of a database, and what waits."""

from typing import TYPE_CHECKING

import typer

from deskhand.cli import options
from deskhand.cli.databases import opened_database
from deskhand.cli.stop import describe_stop
from deskhand.cli.terminal import console, print_json, print_table, printable, run_async, when
from deskhand.model.documents import document

if TYPE_CHECKING:
    from deskhand.model.totals import Stop
    from deskhand.model.workers import Depth, Member

app = typer.Typer(help="See who works the desks of a database.", no_args_is_help=True)


@app.command("list")
def list_workers(database: options.Database = None, as_json: options.Json = False) -> None:
    """List the workers that are alive, what each has in hand, and what waits on each desk."""
    members, depths, stops = run_async(_list(database))
    if as_json:
        stopped = [{"desk": desk, **document(stop)} for desk, stop in stops.items()]
        workers = [document(member) for member in members]
        queues = [document(depth) for depth in depths]
        print_json({"workers": workers, "queues": queues, "stopped": stopped})
        return
    _print_workers(members)
    for desk, stop in stops.items():
        words = (
            f"{desk} is STOPPED {describe_stop(stop)}; nothing leaves until: deskhand resume {desk}"
        )
        console().print(printable(words), style="bold red", markup=False, soft_wrap=True)
    for depth in depths:
        console().print(
            f"{depth.desk}: {depth.queued} queued, the oldest for {depth.oldest_age:.0f} s"
        )
    if not depths:
        console().print("nothing is queued")


async def _list(url: str | None) -> "tuple[list[Member], list[Depth], dict[str, Stop]]":
    from deskhand.wiring import worker_registry

    async with opened_database(url) as database:
        registry = worker_registry(database)
        return await registry.members(), await registry.depths(), await registry.stops()


def _print_workers(members: "list[Member]") -> None:
    if not members:
        console().print(
            "no workers; start one with: deskhand worker DESK --database postgresql://..."
        )
        return
    rows = []
    for member in members:
        more = " …" if len(member.running) > 3 else ""
        row = (
            member.id,
            f"{member.host}:{member.pid}",
            when(member.started_at),
            f"{member.silent_for:.0f} s ago",
            str(len(member.running)),
            " ".join(member.desks),
            " ".join(member.running[:3]) + more,
        )
        rows.append(row)
    print_table(("worker", "process", "since", "heartbeat", "running"), ("desks", "runs"), rows)
