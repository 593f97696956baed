"""`deskhand reviews acknowledge`: tell the customer that somebody will answer, and keep it open."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from deskhand.cli import options, review_queue
from deskhand.cli.review_queue import chosen_moment
from deskhand.cli.reviews import Note, ReviewId, Version, decide, tell
from deskhand.cli.terminal import run_async

app = review_queue.app


@app.command("acknowledge")
def acknowledge(
    review: ReviewId,
    text: Annotated[
        str | None, typer.Option("--text", help="What to write; else the reply as it stands.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="A file with the text; - reads what is piped in.")
    ] = None,
    subject: Annotated[str | None, typer.Option("--subject", help="A subject of your own.")] = None,
    attach: options.Attach = None,
    within: Annotated[
        str | None, typer.Option("--within", help="How long an answer may take, as 2 days.")
    ] = None,
    due: Annotated[
        str | None, typer.Option("--due", help="When the answer is due, as 2026-11-16T09:00.")
    ] = None,
    by: options.By = None,
    note: Note = None,
    version: Version = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Send the reply and keep the matter open: a task is left, with the time it is due."""
    due_at = chosen_moment(due, within) if due or within else None
    if file is not None:
        piped = str(file) == "-"
        text = sys.stdin.read() if piped else file.read_text(encoding="utf-8", errors="replace")
    fields = (("text", (text or "").strip()), ("subject", subject))
    edit = {name: value for name, value in fields if value}
    decided = decide(
        "acknowledge",
        review,
        by,
        note,
        version,
        database,
        desk,
        edit or None,
        due_at=due_at,
        attach=attach,
    )
    tell(run_async(decided), as_json)
