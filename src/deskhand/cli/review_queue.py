"""`deskhand reviews`, short of deciding: snooze, assign, note, undo, canned replies."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.cli import options, reviews
from deskhand.cli.databases import opened_store
from deskhand.cli.reviews import ReviewId, review_document
from deskhand.cli.terminal import console, moment, print_json, print_plain, printable, run_async
from deskhand.model.documents import document

if TYPE_CHECKING:
    from deskhand.engine.canned_replies import Canned
    from deskhand.model.run import Review
    from deskhand.wiring import DeskStore

app = reviews.app


def _changed(
    change: "Callable[[DeskStore], Awaitable[Review]]",
    database: str | None,
    desk: str | None,
    as_json: bool,
    words: "Callable[[Review], str]",
) -> None:
    async def work() -> "Review":
        async with opened_store(database, desk) as store:
            return await change(store)

    review = run_async(work())
    if as_json:
        print_json(review_document(review))
        return
    console().print(printable(f"{review.id}: {words(review)}"), markup=False, soft_wrap=True)


@app.command("snooze")
def snooze(
    review: ReviewId,
    until: Annotated[
        str | None, typer.Option("--until", help="When it comes back, as 2026-11-16T09:00.")
    ] = None,
    for_: Annotated[
        str | None, typer.Option("--for", help="How long, as 2 hours or 3 days.")
    ] = None,
    wake: Annotated[bool, typer.Option("--wake", help="Bring it back now.")] = False,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Put it out of sight for a while."""
    then = None if wake else chosen_moment(until, for_)

    def words(snoozed: "Review") -> str:
        return f"comes back {moment(snoozed.snoozed_until)}" if snoozed.snoozed_until else "is back"

    name = by or options.login_name()
    _changed(lambda store: store.snooze(review, name, then), database, desk, as_json, words)


def chosen_moment(until: str | None, for_: str | None) -> float:
    """When that is: at a named time, or after a length of time; ConfigError for neither."""
    import time
    from datetime import datetime

    from deskhand.errors import ConfigError
    from deskhand.measures import measure

    if (until is None) == (for_ is None):
        raise ConfigError(
            "until when?", fix='give --until 2026-11-16T09:00, --for "2 hours" or --wake'
        )
    if for_ is not None:
        length = measure(for_)
        if length is None or length[0] != "duration":
            raise ConfigError(
                f"{for_!r} is no length of time", fix="write 2 hours, 3 days or 1 week"
            )
        return time.time() + float(length[1].total_seconds())
    try:
        return datetime.fromisoformat(until or "").astimezone().timestamp()
    except ValueError:
        raise ConfigError(f"{until!r} is no time", fix="write 2026-11-16T09:00") from None


@app.command("assign")
def assign(
    review: ReviewId,
    to: Annotated[
        str | None, typer.Argument(help="Whose it is; leave it out for nobody's.", metavar="[NAME]")
    ] = None,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Say whose it is to look at; anybody may still decide it."""
    name = by or options.login_name()

    def words(assigned: "Review") -> str:
        return (
            f"is {assigned.assignee}'s to look at"
            if assigned.assignee
            else "is everybody's to look at"
        )

    _changed(lambda store: store.assign(review, name, to), database, desk, as_json, words)


@app.command("note")
def note(
    review: ReviewId,
    text: Annotated[str, typer.Argument(help="A word for colleagues; customers never see it.")],
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Leave a word for colleagues."""
    name = by or options.login_name()
    _changed(
        lambda store: store.note_review(review, name, text),
        database,
        desk,
        as_json,
        lambda _: "noted",
    )


@app.command("undo")
def undo(
    review: ReviewId,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Stop a reply that would leave by itself; its review stays open until somebody decides it."""
    name = by or options.login_name()

    def words(held: "Review") -> str:
        return f"{held.reason}; it waits for a decision now"

    _changed(lambda store: store.hold_back(review, name), database, desk, as_json, words)


@app.command("canned")
def canned(
    review: ReviewId,
    name: Annotated[
        str | None, typer.Argument(help="One of them: its text alone.", metavar="[NAME]")
    ] = None,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """The desk's canned replies, filled in for this review."""
    from deskhand.errors import NotFound

    replies = run_async(_canned(database, desk, review, by or options.login_name()))
    if name is not None:
        replies = [reply for reply in replies if reply.name == name]
        if not replies:
            raise NotFound(f"the desk has no canned reply {name!r}")
    if as_json:
        print_json({"canned": [document(reply) for reply in replies]})
    elif name is not None:
        print_plain(printable(replies[0].text))
    else:
        for reply in replies:
            missing = f"  (fill in: {', '.join(reply.missing)})" if reply.missing else ""
            console().print(printable(f"{reply.name}{missing}"), style="bold", markup=False)
            console().print(printable(reply.text), markup=False, soft_wrap=True)


async def _canned(
    database: str | None, desk: str | None, review: str, reviewer: str
) -> "list[Canned]":
    from deskhand.engine.review_file import read_review_file
    from deskhand.errors import ConfigError
    from deskhand.wiring import read_desk

    if desk is None:
        raise ConfigError(
            "canned replies stand in desk.yaml", fix="name the desk's folder with --desk"
        )
    spec = read_desk(desk).spec
    async with opened_store(database, desk) as store:
        return (await read_review_file(store, review)).canned(spec.reviews.canned, reviewer)
