"""`deskhand runs`: look at runs, try them again, cancel them."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.databases import opened_lists, opened_store
from deskhand.cli.plain_table import escape_markup
from deskhand.cli.stop import describe_stop
from deskhand.cli.terminal import (
    console,
    is_plain,
    print_json,
    print_line,
    print_table,
    run_async,
    shortened,
    status_text,
    when,
)
from deskhand.model.documents import document

if TYPE_CHECKING:
    from deskhand.engine.retry_many import RetryChoice
    from deskhand.engine.story import Records
    from deskhand.model.run import Run
    from deskhand.model.totals import Stop

app = typer.Typer(help="Look at runs, try them again, cancel them.", no_args_is_help=True)

RunId = Annotated[str, typer.Argument(help="The run's id, as run_06gx…", metavar="RUN")]


@app.command("list")
def list_runs(
    status: Annotated[
        str | None, typer.Option("--status", help="Only runs in this status.")
    ] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", help="Only runs of this conversation.")
    ] = None,
    screened: Annotated[
        bool,
        typer.Option(
            "--screened", help="Only messages that were not answered: a program wrote them."
        ),
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1000, help="How many, newest first.")
    ] = 20,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """List runs, newest first."""
    wanted = {"status": _status(status), "conversation": conversation, "screened": screened}
    runs, stopped = run_async(_list(database, desk, wanted, limit))
    if as_json:
        print_json({"runs": runs, "stopped": None if stopped is None else document(stopped)})
        return
    if stopped is not None:
        console().print(
            f"the desk is stopped {describe_stop(stopped)}; nothing leaves until it is resumed",
            style="yellow",
        )
    _print_runs(runs)
    if screened and runs:
        console().print("a customer among them? deskhand runs retry RUN", style="dim")


async def _list(
    database: str | None, desk: str | None, wanted: dict[str, Any], limit: int
) -> "tuple[list[dict[str, Any]], Stop | None]":
    from deskhand.model.message import message_of

    async with opened_lists(database, desk) as lists:
        runs = await lists.runs(**wanted, limit=limit)
        messages = await lists.messages([run.id for run in runs])
        listed = [_document(run) | {"message": message_of(messages.get(run.id))} for run in runs]
        return listed, await lists.stopped()


@app.command("show")
def show_run(
    run: RunId,
    state: Annotated[
        int | None,
        typer.Option(
            "--state", help="Show the full state before and after this step.", metavar="SEQ"
        ),
    ] = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Show a run's whole way: the message, every step, the reply, the reviews."""
    from deskhand.cli import trace

    records, trail = run_async(_records(database, desk, run))
    if state is not None:
        step = trace.step_at(records, state)
        print_json(step) if as_json else trace.print_state(console(), step)
    elif as_json:
        print_json(trace.document(records) | trail)
    else:
        trace.print_trace(console(), records, trail["llm_calls"])


async def _records(
    database: str | None, desk: str | None, run: str
) -> "tuple[Records, dict[str, Any]]":
    from deskhand.engine.story import read_records, trail_of

    async with opened_store(database, desk) as store:
        return await read_records(store, run), await trail_of(store, run)


@app.command("savings")
def show_savings(
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=10_000, help="Over how many runs, newest first.")
    ] = 1000,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Show what the LLM cost, and what it was not asked because the embedded brain was sure."""
    savings = run_async(_savings(database, desk, limit))
    if as_json:
        print_json(savings)
        return
    kinds = ", ".join(f"{kind} {times}" for kind, times in savings["by_task"].items())
    console().print(f"LLM asked       {savings['asked']:,} questions, spent {savings['spent']:.4f}")
    console().print(
        f"LLM not asked   {savings['spared']:,} questions,"
        f" saved about {savings['saved']:.4f}  {kinds}"
    )
    console().print(
        f"held for people {savings['held']:,} answers, because the LLM could not be had"
    )


async def _savings(database: str | None, desk: str | None, limit: int) -> dict[str, Any]:
    from deskhand.brain.savings import read_savings

    async with opened_store(database, desk) as store:
        return asdict(await read_savings(store, runs=limit))


@app.command("retry")
def retry_run(
    run: Annotated[
        str | None, typer.Argument(help="The run's id, as run_06gx…", metavar="[RUN]")
    ] = None,
    cause: Annotated[
        str | None,
        typer.Option("--cause", help="All runs that people have for this cause: `model_away`."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", help="With --cause: handed over since then, as `2h`.", metavar="WHEN"
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", help="With --cause: and until then.", metavar="WHEN")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --cause: say which, and queue none.")
    ] = False,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Queue a run again that needs a person or failed, or whose message was screened out.

    With --cause and --since, all runs that were handed over for that cause since then.
    """
    many = (cause, since, until, dry_run or None)
    if run is not None and not any(many):
        _tell(run_async(_change("requeue", run, by, database, desk)), as_json)
        return
    choice = _choice(run, cause, since, until)
    retried = run_async(_retry_many(choice, by, database, desk, dry_run=dry_run))
    _tell_many(retried, as_json)


def _choice(
    run: str | None, cause: str | None, since: str | None, until: str | None
) -> "RetryChoice":
    """Which runs to try again; ConfigError where that is not said, or said twice."""
    from deskhand.engine.retry_many import RetryChoice
    from deskhand.errors import ConfigError
    from deskhand.model.causes import Cause

    if run is not None or cause is None or since is None:
        fix = "name one run, or many with --cause and --since: --cause model_away --since 2h"
        raise ConfigError("say which runs to try again", fix=fix)
    if cause not in list(Cause):
        fix = f"write one of: {', '.join(Cause)}"
        raise ConfigError(f"there is no cause {cause!r}", fix=fix)
    end = float("inf") if until is None else options.past_moment(until)
    return RetryChoice(Cause(cause), options.past_moment(since), end)


async def _retry_many(
    choice: "RetryChoice", by: str | None, database: str | None, desk: str | None, *, dry_run: bool
) -> dict[str, Any]:
    from deskhand.engine.retry_many import retry_many

    async with opened_store(database, desk) as store:
        who = by or options.login_name()
        retried = await retry_many(store, choice, who, dry_run=dry_run)
        return {"count": len(retried.runs), "dry_run": dry_run, **document(retried)}


def _tell_many(retried: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(retried)
        return
    count = retried["count"]
    runs = f"{count} run{'s' * (count != 1)}"
    if retried["dry_run"]:
        console().print(f"{runs} would be queued again")
        for run in retried["runs"]:
            console().print(run)
        return
    served = "; the serving process takes them up (deskhand serve)" if count else ""
    console().print(f"{runs} queued again{served}")
    if retried["skipped"]:
        console().print(f"{len(retried['skipped'])} left alone: somebody has decided about them")


@app.command("cancel")
def cancel_run(
    run: RunId,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """End a run that nobody works on."""
    _tell(run_async(_change("cancel", run, by, database, desk)), as_json)


async def _change(
    action: str, run: str, by: str | None, database: str | None, desk: str | None
) -> dict[str, Any]:
    async with opened_store(database, desk) as store:
        who = by or options.login_name()
        changed = await (store.requeue(run, who) if action == "requeue" else store.cancel(run, who))
        return _document(changed)


def _tell(run: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(run)
        return
    served = (
        "; the serving process takes it up (deskhand serve)" if run["status"] == "queued" else ""
    )
    console().print(f"{run['run']} is {status_text(run['status'])}{served}")


def _status(word: str | None) -> Any:
    from deskhand.errors import ConfigError
    from deskhand.model.run import RunStatus

    if word is None or word in [status.value for status in RunStatus]:
        return None if word is None else RunStatus(word)
    raise ConfigError(f"there is no status {word!r}", fix=f"write one of: {', '.join(RunStatus)}")


def _document(run: "Run") -> dict[str, Any]:
    """Under the names that the API gives them."""
    fields = document(run)
    return {"run": fields.pop("id"), **fields}


def _print_runs(runs: list[dict[str, Any]]) -> None:
    if not runs:
        print_line(("no runs", ""))
        return
    shown = 3 if is_plain() or console().width >= 110 else 2
    rows = []
    for run in runs:
        message = run["message"] or {"from": "(erased)", "subject": ""}
        cells = (
            _address(message["from"]),
            shortened(message["subject"], 50),
            shortened(run["reason"] or "", 60),
        )
        rows.append(
            (
                run["run"],
                when(run["created_at"]),
                status_text(run["status"]),
                *map(escape_markup, cells[:shown]),
            )
        )
    print_table(("run", "accepted", "status"), ("from", "subject", "reason")[:shown], rows)


def _address(sender: str) -> str:
    return sender.rpartition("<")[2].rstrip(">")
