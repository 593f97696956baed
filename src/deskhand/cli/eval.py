"""`deskhand eval`: a desk held against its golden cases."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from deskhand.cli import options
from deskhand.cli.terminal import print_json, print_plain, run_async

if TYPE_CHECKING:
    from deskhand.engine.story import Document
    from deskhand.evals.case_runner import CaseResult
    from deskhand.evals.cases import Case

NO = 1
RUN = "run"


class RunByDefault(TyperGroup):
    """`deskhand eval DESK` is `deskhand eval run DESK`: what is no command is a desk."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [RUN, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=RunByDefault,
    no_args_is_help=True,
    subcommand_metavar="DESK | add RUN",
    help="Hold a desk against its golden cases.",
)


@app.command(RUN)
def run(
    desk: options.Desk,
    brain: Annotated[
        str | None,
        typer.Option(
            "--brain",
            help="scripted, embedded, llm or cascade; the desk's own by default.",
            metavar="NAME",
        ),
    ] = None,
    case: Annotated[
        list[str] | None, typer.Option("--case", help="Only this case.", metavar="ID")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="Only cases with this tag.")
    ] = None,
    repeat: Annotated[
        int, typer.Option("--repeat", min=1, max=100, help="Run each case K times.", metavar="K")
    ] = 1,
    parallel: Annotated[
        int, typer.Option("--parallel", min=1, max=256, help="Cases side by side.", metavar="N")
    ] = 8,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            help="The model, or its role, that judges `judge:` criteria.",
            metavar="MODEL",
        ),
    ] = None,
    live: Annotated[
        bool,
        typer.Option("--live", help="Ask an agent's model also where a case says what it says."),
    ] = False,
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare",
            help="An earlier report (--json): exit 1 only where it got worse.",
            metavar="FILE",
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", help="Write JUnit XML here.", metavar="FILE")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write one HTML page here.", metavar="FILE")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Run a desk's golden cases through the real loop, in a sandbox that nothing leaves.

    Cases lie in DESK/evals.yaml or DESK/evals/*.yaml. Exit 1 when a case fails; with --compare,
    when one that passed before fails now.
    """
    from deskhand.evals.comparison import compare as compared
    from deskhand.evals.comparison import read_report

    base = None if compare is None else read_report(compare)
    report = run_async(_run(desk, brain, case or [], tag or [], repeat, parallel, judge, live))
    if base is not None:
        report["compare"] = compared(base, report)
    _write(report, junit, html)
    if as_json:
        print_json(report)
    else:
        from deskhand.cli.eval_table import tell

        tell(report)
    worse = report["compare"]["regressions"] if base is not None else report["failed"]
    raise typer.Exit(NO if worse else 0)


@app.command("add")
def add(
    run_id: Annotated[str, typer.Argument(help="The recorded run.", metavar="RUN")],
    desk: Annotated[
        str,
        typer.Option("--desk", envvar="DESKHAND_DESK", help="The desk's folder.", metavar="FOLDER"),
    ],
    case_id: Annotated[
        str | None,
        typer.Option("--id", help="The case's name; the run's id by default.", metavar="NAME"),
    ] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag of the case.")] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            help="The file to add it to; evals.yaml, else evals/recorded.yaml.",
            metavar="FILE",
        ),
    ] = None,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Turn a recorded run into a case: what happened becomes what must happen.

    The case holds what the customer wrote, word for word: look before you share the file.
    """
    path = run_async(_add(run_id, desk, case_id or run_id, tag or [], file, database))
    if as_json:
        print_json({"case": case_id or run_id, "file": str(path)})
    else:
        print_plain(
            f"{case_id or run_id} is a case now, in {path}; try it with: deskhand eval {desk}"
        )


async def _add(
    run_id: str, name: str, case_id: str, tags: list[str], file: Path | None, database: str | None
) -> Path:
    from deskhand.cli.databases import opened_desk
    from deskhand.errors import ConfigError
    from deskhand.evals.case_from_run import append_case, case_of
    from deskhand.evals.cases import case_files
    from deskhand.evals.recorded_runs import RunRange, read_conversations
    from deskhand.evals.recorded_tickets import tickets_before
    from deskhand.wiring import SHIPPED, desk_cases, find_desk, open_store, open_tickets, read_desk

    folder = find_desk(name)
    if folder.is_relative_to(SHIPPED):
        raise ConfigError(
            f"{name!r} is a shipped desk", fix="make one of your own first: deskhand init my-desk"
        )
    loaded = read_desk(name)
    cases = desk_cases(loaded)[0] if case_files(folder) else []
    if any(case.id == case_id for case in cases):
        raise ConfigError(f"there is a case {case_id!r} already", fix="name it otherwise with --id")
    async with (
        opened_desk(database, name) as (opened, desk),
        open_tickets(opened, desk) as service,
    ):
        [conversation] = await read_conversations(open_store(opened, desk), RunRange(run_id))
        tickets = await tickets_before(service, conversation)
    single = folder / "evals.yaml"
    path = file or (single if single.is_file() else folder / "evals" / "recorded.yaml")
    before = path.read_bytes() if path.is_file() else None
    append_case(path, case_of(conversation, case_id, tags, tickets))
    try:
        desk_cases(loaded)
    except ConfigError:
        _put_back(path, before)
        raise
    return path


def _put_back(path: Path, before: bytes | None) -> None:
    if before is None:
        path.unlink()
    else:
        path.write_bytes(before)


async def _run(
    name: str,
    brain: str | None,
    ids: Sequence[str],
    tags: Sequence[str],
    repeat: int,
    parallel: int,
    judge: str | None,
    live: bool,
) -> "Document":
    from deskhand.cli.terminal import ProgressBar
    from deskhand.evals.case_runner import Settings, run_cases
    from deskhand.evals.report import report_of
    from deskhand.evals.sealed import sealed
    from deskhand.telemetry.telling import RunTeller
    from deskhand.wiring import desk_cases, judging_brain, open_sandbox, read_desk, with_brain

    loaded = with_brain(read_desk(name), brain)
    every, scorers = desk_cases(loaded)
    cases = _chosen(every, ids, tags)
    kind = loaded.spec.brain.kind
    failed: list[str] = []
    with ProgressBar("cases", len(cases)) as bar:

        def done(result: "CaseResult") -> None:
            failed.extend([] if result.passed else [result.case.id])
            bar.advance(label=f"cases, [red]{len(failed)} failed[/]" if failed else None)

        asks = live or not all(case.says for case in cases)
        async with (
            open_sandbox(loaded, agents_ask=asks) as sandbox,
            judging_brain(loaded, judge) as judging,
        ):
            clauses, waits = loaded.spec.commitments, kind in ("llm", "cascade")
            settings = Settings(
                scorers,
                judging,
                repeat,
                parallel,
                clauses,
                waits=waits or live,
                live=live,
                tells=RunTeller.of(loaded.spec),
            )
            with sealed():
                results = await run_cases(cases, sandbox, settings, done)
            cost = sum(call.cost for call in await sandbox.store.calls())
    return report_of(results, desk=loaded.spec.name, brain=kind, repeat=repeat, cost=cost)


def _chosen(cases: "Sequence[Case]", ids: Sequence[str], tags: Sequence[str]) -> "list[Case]":
    from deskhand.config.suggestions import did_you_mean
    from deskhand.errors import ConfigError

    all_ids = {case.id for case in cases}
    all_tags = {tag for case in cases for tag in case.tags}
    for what, asked, existing in (("case", ids, all_ids), ("tag", tags, all_tags)):
        for name in asked:
            if name not in existing:
                raise ConfigError(
                    f"there is no {what} {name!r}",
                    fix=did_you_mean(name, existing, otherwise="name another"),
                )
    return [
        case
        for case in cases
        if (not ids or case.id in ids) and (not tags or set(tags) & set(case.tags))
    ]


def _write(report: "Document", junit: Path | None, html: Path | None) -> None:
    from deskhand.private_files import write_private_file

    if junit is not None:
        from deskhand.evals.report_files import junit_of

        write_private_file(junit, junit_of(report).encode())
    if html is not None:
        from deskhand.evals.report_files import html_of

        write_private_file(html, html_of(report).encode())
