"""`deskhand reviews`: see what waits for a person, and decide it."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.opening import opened_store
from deskhand.cli.terminal import (
    console,
    moment,
    print_json,
    print_table,
    printable,
    run_async,
    shortened,
    status_text,
    when,
)

if TYPE_CHECKING:
    from deskhand.model.run import Review

app = typer.Typer(help="See what waits for a person, and decide it.", no_args_is_help=True)

ReviewId = Annotated[str, typer.Argument(help="The review's id, as rev_06gx…", metavar="REVIEW")]
Note = Annotated[str | None, typer.Option("--note", help="Why; kept with the decision.", metavar="TEXT")]
Version = Annotated[
    int | None,
    typer.Option("--version", help="The version you looked at; refused if it changed since.", metavar="NUMBER"),
]


@app.command("list")
def list_reviews(
    state: Annotated[str, typer.Option("--state", help="open, decided, stale, expired or all.")] = "open",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000)] = 50,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """List reviews, oldest first."""
    found = run_async(_list(database, desk, state, limit))
    if as_json:
        print_json({"reviews": [asdict(review) for review in found]})
        return
    _print_reviews(found)


async def _list(database: str | None, desk: str | None, state: str, limit: int) -> "list[Review]":
    from deskhand.errors import ConfigError
    from deskhand.model.run import ReviewState

    known = [one.value for one in ReviewState]
    if state != "all" and state not in known:
        raise ConfigError(f"there is no state {state!r}", fix=f"write one of: {', '.join([*known, 'all'])}")
    async with opened_store(database, desk) as store:
        return await store.reviews(state=None if state == "all" else ReviewState(state), limit=limit)


@app.command("show")
def show_review(
    review: ReviewId, database: options.Database = None, desk: options.DeskName = None, as_json: options.Json = False
) -> None:
    """Show exactly what a decision would be about."""
    shown, subject = run_async(_show(database, desk, review))
    if as_json:
        print_json(asdict(shown))
        return
    _print_review(shown, subject)


async def _show(database: str | None, desk: str | None, review: str) -> "tuple[Review, str]":
    async with opened_store(database, desk) as store:
        shown = await store.review(review)
        message = await store.message(shown.run_id)
        return shown, "" if message is None else f"{message.subject}  from {message.sender}"


async def _decide(
    decision: str,
    review: str,
    by: str | None,
    note: str | None,
    version: int | None,
    database: str | None,
    desk: str | None,
    edit: dict[str, Any] | None = None,
) -> "Review":
    from deskhand.model.run import Decision, Verdict

    async with opened_store(database, desk) as store:
        seen = await store.review(review)
        verdict = Verdict(
            Decision(decision),
            by=by or options.login_name(),
            version=seen.version if version is None else version,
            payload_hash=seen.payload_hash,
            note=note,
            edit=edit,
        )
        return await store.decide(review, verdict)


def _tell(review: "Review", as_json: bool) -> None:
    if as_json:
        print_json(asdict(review))
        return
    if review.decision is None:
        words = f"{review.id}: approved by {review.signed_by}, the first of two; another person must approve it as well"
        console().print(words, markup=False, soft_wrap=True)
        return
    follows = review.decision not in ("take_over", "close")
    after = "; the serving process goes on with the run (deskhand serve)" if follows else ""
    word = str(review.decision).replace("_", " ")
    console().print(f"{review.id}: {word} by {review.decided_by}{after}", markup=False, soft_wrap=True)


@app.command("approve")
def approve(
    review: ReviewId,
    by: options.By = None,
    note: Note = None,
    version: Version = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Let it happen exactly as shown."""
    _tell(run_async(_decide("approve", review, by, note, version, database, desk)), as_json)


@app.command("reject")
def reject(
    review: ReviewId,
    by: options.By = None,
    note: Note = None,
    version: Version = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Do not let it happen."""
    _tell(run_async(_decide("reject", review, by, note, version, database, desk)), as_json)


@app.command("edit")
def edit(
    review: ReviewId,
    text: Annotated[str | None, typer.Option("--text", help="The new text of the reply.")] = None,
    file: Annotated[Path | None, typer.Option("--file", help="A file with the new text.")] = None,
    subject: Annotated[str | None, typer.Option("--subject", help="A new subject.")] = None,
    by: options.By = None,
    note: Note = None,
    version: Version = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Change the reply, then let it leave."""
    from deskhand.errors import ConfigError

    if file is not None:
        text = file.read_text(encoding="utf-8", errors="replace")
    changed = {name: value for name, value in (("text", text), ("subject", subject)) if value}
    if not changed:
        raise ConfigError("nothing was changed", fix="give --text, --file or --subject")
    _tell(run_async(_decide("edit", review, by, note, version, database, desk, changed)), as_json)


@app.command("revise")
def revise(
    review: ReviewId,
    note: Annotated[str, typer.Option("--note", help="What to do better; the draft is written again.")],
    by: options.By = None,
    version: Version = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Have the reply drafted again, with an instruction."""
    _tell(run_async(_decide("revise", review, by, note, version, database, desk)), as_json)


@app.command("undo")
def undo(
    review: ReviewId,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Stop a reply that would leave by itself; its review stays open until somebody decides it."""
    held = run_async(_undo(database, desk, review, by))
    if as_json:
        print_json(asdict(held))
        return
    console().print(f"{held.id}: {held.reason}; it waits for a decision now", markup=False, soft_wrap=True)


async def _undo(database: str | None, desk: str | None, review: str, by: str | None) -> "Review":
    async with opened_store(database, desk) as store:
        return await store.hold_back(review, by or options.login_name())


@app.command("take-over")
def take_over(
    review: ReviewId,
    by: options.By = None,
    note: Note = None,
    version: Version = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Answer yourself; the desk stays silent until `conversations give-back`."""
    _tell(run_async(_decide("take_over", review, by, note, version, database, desk)), as_json)


@app.command("close")
def close(
    review: ReviewId,
    by: options.By = None,
    note: Note = None,
    version: Version = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """End a handed-over run; nothing more happens."""
    _tell(run_async(_decide("close", review, by, note, version, database, desk)), as_json)


@app.command("retry")
def retry(
    review: ReviewId,
    by: options.By = None,
    note: Note = None,
    version: Version = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Try a handed-over run again where it stopped."""
    _tell(run_async(_decide("retry", review, by, note, version, database, desk)), as_json)


def _print_reviews(found: "list[Review]") -> None:
    from rich.markup import escape

    if not found:
        console().print("nothing waits for a person")
        return
    rows = [
        (one.id, when(one.created_at), one.kind, status_text(one.state), escape(shortened(one.reason, 70)))
        for one in found
    ]
    print_table(("review", "since", "kind", "state"), ("reason",), rows)


def _print_review(review: "Review", subject: str) -> None:
    from rich.text import Text

    from deskhand.cli.trace import payload_lines
    from deskhand.model.run import DECISIONS

    to = console()
    to.print(Text(review.id, style="bold"), status_text(review.state), f"[dim]version {review.version}[/]")
    to.print(Text(printable(f"  {review.kind}: {review.reason}"), style="yellow"), soft_wrap=True)
    to.print(Text(printable(f"  {review.run_id}  {subject}"), style="dim"), soft_wrap=True)
    for line in payload_lines(review.payload):
        to.print(line, soft_wrap=True)
    if review.payload.get("approvals_needed", 1) > 1:
        signed = f"{review.signed_by} has approved it" if review.signed_by else "nobody has approved it yet"
        to.print(Text(printable(f"\n  two people must approve it; {signed}"), style="yellow"), soft_wrap=True)
    if review.state == "open":
        choices = ", ".join(one.value.replace("_", "-") for one in DECISIONS[review.kind])
        to.print(Text(f"\n  deskhand reviews [{choices}] {review.id}", style="dim"), soft_wrap=True)
    elif review.decision:
        to.print(Text(f"\n  {review.decision} by {review.decided_by} {moment(review.decided_at)}", style="dim"))
