"""`deskhand replay`: recorded messages through a desk once more."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.cli import options
from deskhand.cli.terminal import console, print_json, printable, run_async, shortened

if TYPE_CHECKING:
    from deskhand.engine.story import Document
    from deskhand.evals.recorded_runs import RunRange

NO = 1
_COLOURS = {"changed": "yellow", "unknown": "magenta"}
_AFTERWARDS = ("status", "error", "stages", "review", "question", "reply")


def replay(
    run: Annotated[str | None, typer.Argument(help="One run.", metavar="[RUN]")] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            help="Runs from then on: 2026-03-01, 2026-03-01T09:00, 24h, 7d.",
            metavar="WHEN",
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", help="Runs before then.", metavar="WHEN")
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            help="The desk to replay through; by default that of --desk.",
            metavar="FOLDER",
        ),
    ] = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Ask the model where nothing is recorded; tools stay captured."
        ),
    ] = False,
    parallel: Annotated[
        int, typer.Option("--parallel", min=1, max=256, help="Conversations side by side.")
    ] = 16,
    desk: options.DeskName = None,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Work recorded messages again, through the desk as it is now or through another, and tell what
    changes.

    What models, tools and people said is taken from the record where the question is the same. Exit
    1 when a route, a status, a verdict, a tool call or a reply comes out differently.
    """
    from deskhand.errors import ConfigError
    from deskhand.evals.recorded_runs import RunRange

    if (run is None) == (since is None and until is None):
        raise ConfigError(
            "say what to replay", fix="name a run, or a time with --since (and --until)"
        )
    window = RunRange(run, _moment(since, 0.0), _moment(until, float("inf")))
    report = run_async(_replay(window, config, desk, database, live, parallel))
    if as_json:
        print_json(report)
    else:
        _tell(report)
    raise typer.Exit(NO if report["changed"] or report["unknown"] else 0)


async def _replay(
    window: "RunRange",
    config: str | None,
    desk: str | None,
    database: str | None,
    live: bool,
    parallel: int,
) -> "Document":
    from deskhand.cli.databases import opened_store
    from deskhand.cli.terminal import ProgressBar
    from deskhand.evals.recorded_chat import RecordedChat
    from deskhand.evals.recorded_runs import read_conversations
    from deskhand.evals.replay import replay_conversations
    from deskhand.wiring import open_sandbox, read_desk

    async with opened_store(database, desk) as store:
        loaded = read_desk(config or desk or store.desk)
        conversations = await read_conversations(store, window)
    total = sum(len(conversation.runs) for conversation in conversations)
    chat = RecordedChat()
    with ProgressBar("runs", total) as bar:
        async with open_sandbox(
            loaded, chat=lambda own: chat.before(own if live else None), rest=0.0
        ) as sandbox:
            replayed = await replay_conversations(
                conversations, sandbox, chat, parallel=parallel, done=bar.advance
            )
    counts = Counter(str(run["verdict"]) for run in replayed.runs)
    not_identical = [run for run in replayed.runs if run["verdict"] != "identical"]
    return {
        "desk": store.desk,
        "config": str(loaded.spec.folder),
        "total": len(replayed.runs),
        **{verdict: counts[verdict] for verdict in ("identical", "changed", "unknown")},
        "model_requests": {
            "recorded": chat.tally.recorded,
            "not_recorded": chat.tally.all_missing,
            "asked": chat.tally.asked,
        },
        "tool_results": {
            "recorded": replayed.tool_results,
            "captured": replayed.tool_results_missing,
        },
        "decisions": {"applied": replayed.decisions, "left_out": replayed.decisions_left_out},
        "skipped": replayed.skipped,
        "runs": not_identical,
    }


def _moment(text: str | None, otherwise: float) -> float:
    """Seconds since the epoch; `otherwise` where no time was given."""
    return otherwise if text is None else options.past_moment(text)


def _worth_showing(run: "Document") -> "list[Document]":
    """How a run ended for want of a model's answer says nothing about the desk."""
    if run["verdict"] != "unknown":
        return list(run["changes"])
    return [
        change
        for change in run["changes"]
        if change["what"] not in _AFTERWARDS and not _breaks_off(change)
    ]


def _breaks_off(change: "Document") -> bool:
    """Whether the list is what it was, as far as it goes."""
    was, now = change["before"], change["now"]
    return isinstance(was, list) and isinstance(now, list) and was[: len(now)] == now


def _print_run(run: "Document") -> None:
    """A run that did not come out as recorded, with what changed."""
    from deskhand.evals.recorded_chat import divergence_in_words
    from deskhand.evals.report import lines_of, value_in_words

    out = console()
    message = run["message"]
    about = shortened(f"{message['subject']}  from {message['from']}", 90).replace("[", r"\[")
    out.print(f"[{_COLOURS[run['verdict']]}]{run['verdict']}[/] [bold]{run['run']}[/]  {about}")
    for divergence in run["apart"]:
        out.print(f"    {printable(divergence_in_words(divergence))}", markup=False)
    for change in _worth_showing(run):
        out.print(f"    {change['what']}", markup=False)
        before, now = lines_of(change["before"]), lines_of(change["now"])
        if len(before) > 1 or len(now) > 1:
            _print_diff(before, now)
            continue
        for name, value in (("was", change["before"]), ("now", change["now"])):
            out.print(
                f"      {name} {printable(value_in_words(value))}", markup=False, soft_wrap=True
            )


def _print_diff(before: "list[str]", now: "list[str]") -> None:
    """Line by line, as `diff -u` shows it: what went in red, what came in green."""
    from difflib import unified_diff

    shown = list(unified_diff(before, now, lineterm="", n=2))[2:]
    for line in shown:
        style = {"+": "green", "-": "red", "@": "dim"}.get(line[:1])
        console().print(f"      {printable(line)}", style=style, markup=False, soft_wrap=True)


def _tell(report: "Document") -> None:
    out = console()
    for run in report["runs"]:
        _print_run(run)
    verdict_counts = [
        f"{report[verdict]} {verdict}" for verdict in ("identical", "changed", "unknown")
    ]
    out.print(f"{report['total']} run{'s' * (report['total'] != 1)}: {', '.join(verdict_counts)}")
    asked, results, decisions = (
        report["model_requests"],
        report["tool_results"],
        report["decisions"],
    )
    if sum(asked.values()):
        out.print(
            f"model requests: {asked['recorded']} answered from the record, {asked['not_recorded']}"
            f" not recorded, {asked['asked']} asked anew"
        )
    if results["captured"]:
        out.print(
            f"tool calls: {results['recorded']} as recorded, {results['captured']} new, captured"
        )
    if decisions["left_out"]:
        out.print(
            f"decisions: {decisions['applied']} applied, {decisions['left_out']} not, their"
            " question has changed"
        )
    for skipped in report["skipped"]:
        out.print(f"[dim]left out {skipped['run']}: {skipped['why']}[/]")
