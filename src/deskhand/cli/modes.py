"""`deskhand modes`: how far each category of a desk is trusted, and why."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.databases import existing_database, opened_database
from deskhand.cli.plain_table import escape_markup
from deskhand.cli.terminal import (
    console,
    moment,
    print_json,
    print_line,
    print_table,
    printable,
    run_async,
)

if TYPE_CHECKING:
    from deskhand.engine.trust_modes import Trust

app = typer.Typer(help="How far each category of a desk is trusted.", no_args_is_help=True)

Category = Annotated[str, typer.Argument(help="A category of the desk.", metavar="CATEGORY")]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept with the change.", metavar="TEXT")]
_COLOURS = {"auto": "green", "draft": "yellow", "shadow": "bright_black"}


@app.command("show")
def show(
    desk: options.Desk,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Show every category's mode, what people made of its replies, and whether the next mode is
    justified."""
    overview = run_async(_show(desk, database))
    print_json(overview) if as_json else _print_modes(overview, desk)


@app.command("promote")
def promote(
    desk: options.Desk,
    category: Category,
    force: Annotated[
        bool, typer.Option("--force", help="Also when the figures do not justify it.")
    ] = False,
    reason: Reason = "",
    by: options.By = None,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Give a category the next mode; refused with the figures, and exit 1, when they do not
    justify it."""
    _tell(
        run_async(_promote(desk, database, category, by or options.login_name(), force, reason)),
        as_json,
    )


@app.command("lower")
def lower(
    desk: options.Desk,
    category: Category,
    reason: Annotated[
        str, typer.Option("--reason", help="Why; kept with the change.", metavar="TEXT")
    ],
    to: Annotated[str, typer.Option("--to", help="draft or shadow.", metavar="MODE")] = "draft",
    by: options.By = None,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Give a category a lower mode, from its next reply on, in every process."""
    from deskhand.errors import ConfigError

    if to not in ("draft", "shadow"):
        raise ConfigError(f"{to!r} is no lower mode", fix="write --to draft or --to shadow")
    _tell(
        run_async(_lower(desk, database, category, to, by or options.login_name(), reason)), as_json
    )


@app.command("sample")
def sample(
    desk: options.Desk,
    category: Annotated[
        str | None, typer.Option("--category", help="Only of this category.", metavar="CATEGORY")
    ] = None,
    count: Annotated[int, typer.Option("--count", min=1, max=200, metavar="N")] = 10,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Draw replies that left by themselves and that nobody has looked at yet.

    Read each with `deskhand runs show RUN`, then say `deskhand modes judge DESK RUN right`.
    """
    drawn = run_async(_sample(desk, database, category, count))
    if as_json:
        print_json({"desk": desk, "drawn": drawn})
        return
    if not drawn:
        console().print("somebody has looked at every reply that left by itself")
        return
    rows = [(reply["run"], reply["category"] or "(none)", moment(reply["at"])) for reply in drawn]
    print_table(("run", "category", "left"), (), rows)


@app.command("judge")
def judge(
    desk: options.Desk,
    run: Annotated[str, typer.Argument(help="The run whose reply left by itself.", metavar="RUN")],
    verdict: Annotated[str, typer.Argument(help="right or wrong.", metavar="right|wrong")],
    by: options.By = None,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Say whether a reply that left by itself was right; it counts for the category's mode."""
    from deskhand.errors import ConfigError

    if verdict not in ("right", "wrong"):
        raise ConfigError(f"{verdict!r} is no verdict", fix="write right or wrong")
    drawn = run_async(_judge(desk, database, run, verdict, by or options.login_name()))
    if as_json:
        print_json({"run": run, "judged": verdict, "drawn": drawn})
        return
    counts = drawn or verdict == "wrong"
    words = "it counts" if counts else "it was not drawn, so it is noted and does not count"
    console().print(f"the reply of {run} was {verdict}; {words}", markup=False, soft_wrap=True)


@asynccontextmanager
async def _trust(desk: str, database: str | None) -> "AsyncIterator[Trust]":
    from deskhand.wiring import open_trust, read_desk

    spec = read_desk(desk).spec
    async with opened_database(database) as opened:
        yield open_trust(spec, opened)


async def _show(desk: str, database: str | None) -> dict[str, Any]:
    from deskhand.engine.trust_report import modes_of
    from deskhand.wiring import opened_modes, read_desk

    spec = read_desk(desk).spec
    async with opened_modes(spec, existing_database(database)) as modes:
        return await modes_of(modes)


async def _sample(
    desk: str, database: str | None, category: str | None, count: int
) -> list[dict[str, Any]]:
    async with _trust(desk, database) as trust:
        drawn = await trust.sample(category, count)
    return [{"run": reply.run_id, "category": reply.category, "at": reply.at} for reply in drawn]


async def _judge(desk: str, database: str | None, run: str, verdict: str, by: str) -> bool:
    from deskhand.model.judgement import Judged

    async with _trust(desk, database) as trust:
        return await trust.look_back(run, Judged(verdict), by)


async def _promote(
    desk: str, database: str | None, category: str, by: str, force: bool, reason: str
) -> dict[str, Any]:
    from deskhand.engine.trust_report import change_of

    async with _trust(desk, database) as trust:
        return change_of(await trust.promote(category, by, force=force, reason=reason))


async def _lower(
    desk: str, database: str | None, category: str, mode: str, by: str, reason: str
) -> dict[str, Any]:
    from deskhand.engine.trust_report import change_of

    async with _trust(desk, database) as trust:
        return change_of(await trust.lower(category, mode, by, reason))


def _tell(change: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(change)
        return
    words = (
        f"{change['category']} is in {change['mode']} from now on (was {change['before']}):"
        f" {change['reason']}"
    )
    console().print(printable(words), markup=False, soft_wrap=True)


def _print_modes(overview: dict[str, Any], desk: str) -> None:
    rows: list[tuple[str, ...]] = []
    for category in overview["categories"]:
        mode = f"[{_COLOURS[category['mode']]}]{category['mode']}[/]"
        rows.append(
            (
                f"[bold]{escape_markup(category['category'] or '(none)')}[/]",
                mode,
                *_cells(category["totals"]),
            )
        )
        if len(category["languages"]) > 1:
            for language, totals in category["languages"].items():
                cells = [f"[dim]{cell}[/]" for cell in _cells(totals)]
                rows.append((f"  [dim]{escape_markup(language)}[/]", "", *cells))
    if not rows:
        print_line(("the desk has no categories, and nothing was judged yet", ""))
    else:
        head = (
            "category",
            "mode",
            "sent and right",
            "edited",
            "revised",
            "rejected",
            "taken over",
            "sent and wrong",
            "not looked at",
        )
        print_table(head, (), rows)
    _print_advice(overview, desk)
    for change in overview["changes"][-5:]:
        line = (
            f"{moment(change['at'])}  {change['category']}: {change['before']} → {change['mode']}"
            f" by {change['by']}"
        )
        print_line((printable(f"{line}, {change['reason']}"), "dim"))


def _print_advice(overview: dict[str, Any], desk: str) -> None:
    print_line()
    if not overview["earned"]:
        words = (
            "modes are what desk.yaml says; with `trust: {start: draft}` they are earned and lost"
            " by these figures"
        )
        print_line((words, "dim"))
        return
    for category in overview["categories"]:
        is_justified = category["justified"]
        print_line((printable(_outlook(category)), "green" if is_justified else ""))
        if is_justified:
            print_line((f"  deskhand modes promote {desk} {category['category']}", ""))
    print_line()


def _cells(totals: dict[str, Any]) -> tuple[str, ...]:
    """Counts in the order of the table; nothing where there was nothing."""

    def cell(name: str, share: str = "") -> str:
        count = totals[name]
        changed = f" ({totals[share]:.0%} of it)" if share and totals[share] is not None else ""
        return f"{count:,}{changed}" if count else "[dim]–[/]"

    plain = ("revised", "rejected", "taken_over", "sent_and_wrong", "not_looked_at")
    return (cell("sent_and_right"), cell("edited", "edited_share"), *map(cell, plain))


def _outlook(category: dict[str, Any]) -> str:
    """Where a category could go from here, in a sentence."""
    name = category["category"] or "(none)"
    if category["mode"] == "auto":
        doubt = (
            f"; doubt is at {category['doubt']:.0%} of what makes it fall back"
            if category["doubt"]
            else ""
        )
        checked = f"{category['checked']:.0%} of the replies are looked at before they leave"
        return f"{name}: {checked}{doubt}"
    if category["next"] is None:
        return f"{name}: {category['mode']} is the most that desk.yaml allows"
    word = "is justified" if category["justified"] else "not yet"
    counts = f"{category['good']} of {category['judged']} were good"
    return f"{name}: {category['next']} {word}; {counts}, {category['why']}"
