"""`deskhand telemetry`: what the stages of conversations tell, and how far sinks have been told."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.databases import name_of, opened_database
from deskhand.cli.terminal import console, print_json, print_table, run_async, when
from deskhand.model.documents import iso_at

if TYPE_CHECKING:
    from deskhand.model.telemetry import TelemetryEvent
    from deskhand.ports.telemetry import SinkMark

app = typer.Typer(help="What conversations tell, stage by stage.", no_args_is_help=True)


@app.callback()
def telemetry() -> None:
    """What conversations tell, stage by stage."""


@app.command("show")
def show(
    desk: options.Desk,
    run: Annotated[str, typer.Argument(help="The run of a message.", metavar="RUN")],
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Show what a run tells, as the `print` sink prints it. It needs no sink."""
    from deskhand.telemetry.sinks import printed

    events = run_async(_events(desk, run, database))
    if as_json:
        print_json({"events": [event.document() for event in events]})
        return
    for event in events:
        console().print(printed(event), markup=False, highlight=False)
        console().print()


@app.command("sinks")
def sinks(
    desk: options.Desk, database: options.Database = None, as_json: options.Json = False
) -> None:
    """List the desk's sinks, how far each has been told, and why one was not told more."""
    from rich.markup import escape

    newest, marks = run_async(_marks(desk, database))
    if as_json:
        print_json({"newest": newest, "sinks": [_document(mark, newest) for mark in marks]})
        return
    if not marks:
        console().print("no sink has been told anything; name one under `telemetry` in desk.yaml")
        return
    rows = [tuple(map(escape, _shown(mark, newest))) for mark in marks]
    print_table(("sink", "behind", "last told"), ("failure",), rows)


def _shown(mark: "SinkMark", newest: int) -> tuple[str, ...]:
    told_at = "" if mark.told_at is None else when(mark.told_at)
    return mark.sink, str(newest - mark.number), told_at, mark.failure or ""


def _document(mark: "SinkMark", newest: int) -> dict[str, Any]:
    return {
        "sink": mark.sink,
        "behind": newest - mark.number,
        "told_at": None if mark.told_at is None else iso_at(mark.told_at),
        "failure": mark.failure,
    }


async def _events(desk: str, run_id: str, url: str | None) -> "list[TelemetryEvent]":
    from deskhand.telemetry.telling import RunTeller
    from deskhand.wiring import read_desk, telemetry_feed

    spec = read_desk(desk).spec
    async with opened_database(url) as database:
        run = await telemetry_feed(database, spec.name).of_run(run_id)
        return RunTeller.of(spec).told_in(run)


async def _marks(desk: str, url: str | None) -> "tuple[int, list[SinkMark]]":
    from deskhand.wiring import find_desk, telemetry_feed

    name = name_of(str(find_desk(desk)))
    async with opened_database(url) as database:
        feed = telemetry_feed(database, name)
        return await feed.newest(), await feed.marks()
