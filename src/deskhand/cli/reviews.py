"""`deskhand reviews`: see what waits for a person, and decide it."""

import sys
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.attaching import attached
from deskhand.cli.databases import noted, opened_desk, opened_lists, opened_store
from deskhand.cli.review_screen import print_review_file, print_reviews
from deskhand.cli.terminal import console, print_json, run_async

if TYPE_CHECKING:
    from deskhand.engine.review_file import ReviewFile
    from deskhand.engine.review_search import ReviewHit
    from deskhand.model.causes import Cause
    from deskhand.model.queue import ReviewFilter
    from deskhand.model.run import Review

app = typer.Typer(help="See what waits for a person, and decide it.", no_args_is_help=True)

ReviewId = Annotated[str, typer.Argument(help="The review's id, as rev_06gx…", metavar="REVIEW")]
Note = Annotated[
    str | None, typer.Option("--note", help="Why; kept with the decision.", metavar="TEXT")
]
Version = Annotated[
    int | None,
    typer.Option(
        "--version",
        help="The version you looked at; refused if it changed since.",
        metavar="NUMBER",
    ),
]
Final = Annotated[
    bool,
    typer.Option("--final", help="The reply is the answer, even if it says that one will follow."),
]


# --- looking


@app.command("list")
def list_reviews(
    state: Annotated[
        str, typer.Option("--state", help="open, decided, stale, expired or all.")
    ] = "open",
    cause: Annotated[
        str | None, typer.Option("--cause", help="Why it is there, as below_threshold.")
    ] = None,
    category: Annotated[str | None, typer.Option("--category", help="As complaint.")] = None,
    language: Annotated[str | None, typer.Option("--language", help="As cs.")] = None,
    words: Annotated[
        str, typer.Option("--search", help="Words of sender, subject, text or draft.")
    ] = "",
    assignee: Annotated[
        str | None, typer.Option("--assignee", help="Whose it is to look at.", metavar="NAME")
    ] = None,
    mine: Annotated[bool, typer.Option("--mine", help="Only what is assigned to you.")] = False,
    snoozed: Annotated[
        bool, typer.Option("--snoozed", help="Only what is snoozed; else it is left out.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000)] = 50,
    after: Annotated[
        str | None, typer.Option("--after", help="The last one seen: go on after it.")
    ] = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """List reviews, the oldest first; of open ones emergencies before all others."""
    from deskhand.engine.review_search import terms_of
    from deskhand.model.queue import ReviewFilter
    from deskhand.model.run import ReviewState

    wanted_state = None
    if state != "all":
        wanted_state = ReviewState(_check_word("state", state, [*ReviewState, "all"]))
    if mine:
        assignee = options.login_name()
    snoozing_matters = snoozed or state == ReviewState.OPEN
    wanted = ReviewFilter(
        state=wanted_state,
        cause=_cause(cause),
        category=category,
        language=language,
        assignee=assignee,
        snoozed=snoozed if snoozing_matters else None,
        terms=terms_of(words),
    )
    items = run_async(_list(database, desk, wanted, limit, after))
    if as_json:
        print_json({"reviews": [review_document(item.review) for item in items]})
        return
    print_reviews(items)
    if len(items) == limit:
        more = f"there may be more; go on with: --after {items[-1].review.id}"
        console().print(more, style="dim", markup=False)


async def _list(
    database: str | None,
    desk: str | None,
    wanted: "ReviewFilter",
    limit: int,
    after: str | None,
) -> "list[ReviewHit]":
    from deskhand.engine.review_search import search, walk
    from deskhand.model.run import ReviewState

    async with opened_lists(database, desk) as store:
        seen = None if after is None else (await store.review(after)).place
        if wanted.state is ReviewState.OPEN:
            return await walk(store, wanted, beyond=seen, limit=limit)
        place = seen and seen[2:]
        return await search(store, wanted, after=place, limit=limit)


def _cause(word: str | None) -> "Cause | None":
    from deskhand.model.causes import Cause

    return None if word is None else Cause(_check_word("cause", word, list(Cause)))


def _check_word(what: str, word: str, words: list[str]) -> str:
    from deskhand.errors import ConfigError

    if word not in words:
        raise ConfigError(f"there is no {what} {word!r}", fix=f"write one of: {', '.join(words)}")
    return word


@app.command("show")
def show_review(
    review: ReviewId,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Show exactly what a decision would be about."""
    review_file = run_async(_show(database, desk, review))
    if as_json:
        print_json(_document(review_file))
        return
    print_review_file(review_file)


async def _show(database: str | None, desk: str | None, review: str) -> "ReviewFile":
    from deskhand.engine.review_file import read_review_file

    async with opened_store(database, desk) as store:
        return await read_review_file(store, review)


def review_document(review: "Review") -> dict[str, Any]:
    """A review by the names that the API uses."""
    from deskhand.web.api.review_views import ReviewView

    return ReviewView.of(review).model_dump(mode="json")


def _document(review_file: "ReviewFile") -> dict[str, Any]:
    from deskhand.web.api.review_views import ReviewDocument

    return ReviewDocument.of_file(review_file, time.time()).model_dump(mode="json")


# --- deciding


def _decision(name: str, help: str) -> Callable[..., None]:
    """A command that decides with nothing but a note."""

    def command(
        review: ReviewId,
        by: options.By = None,
        note: Note = None,
        version: Version = None,
        database: options.Database = None,
        desk: options.DeskName = None,
        as_json: options.Json = False,
    ) -> None:
        decided = decide(name.replace("-", "_"), review, by, note, version, database, desk)
        tell(run_async(decided), as_json)

    app.command(name, help=help)(command)
    return command


@app.command("approve")
def approve(
    review: ReviewId,
    final: Final = False,
    by: options.By = None,
    note: Note = None,
    version: Version = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Let it happen exactly as shown. A holding reply leaves, and the matter stays open."""
    decided = decide("approve", review, by, note, version, database, desk, final=final)
    tell(run_async(decided), as_json)


reject = _decision("reject", "Do not let it happen.")
take_over = _decision(
    "take-over", "Answer yourself; the desk stays silent until `conversations give-back`."
)
close = _decision("close", "End a handed-over run; nothing more happens.")
retry = _decision("retry", "Try a handed-over run again where it stopped.")
left = _decision("left", "Say of a reply that may have left that it did.")
send_again = _decision("send-again", "Send a reply that may have left, unless its copy is found.")


To = Annotated[str | None, typer.Option("--to", help="Whom it goes to: one address.")]
Copies = Annotated[
    list[str] | None,
    typer.Option("--cc", help='Who gets a copy; once for each, or "" for nobody.'),
]


class InvitationAnswer(StrEnum):
    """What is answered to an invitation."""

    ACCEPTED = "accepted"
    TENTATIVE = "tentative"
    DECLINED = "declined"


@app.command("edit")
def edit(
    review: ReviewId,
    text: Annotated[str | None, typer.Option("--text", help="The new text of the reply.")] = None,
    file: Annotated[Path | None, typer.Option("--file", help="A file with the new text.")] = None,
    subject: Annotated[str | None, typer.Option("--subject", help="A new subject.")] = None,
    invitation: Annotated[
        InvitationAnswer | None,
        typer.Option("--invitation", help="What an organizer's calendar is told."),
    ] = None,
    final: Final = False,
    to: To = None,
    cc: Copies = None,
    attach: options.Attach = None,
    by: options.By = None,
    note: Note = None,
    version: Version = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Change the reply and send it. What you do not change stays as it is."""
    from deskhand.errors import ConfigError

    if file is not None:
        text = file.read_text(encoding="utf-8", errors="replace")
    answer = None if invitation is None else invitation.value
    fields = (("text", text), ("subject", subject), ("invitation", answer))
    changed = {name: value for name, value in fields if value} | _recipients(to, cc)
    if not changed and not attach:
        fix = "give --text, --file, --subject, --invitation, --to, --cc or --attach"
        raise ConfigError("nothing was changed", fix=fix)
    decided = decide(
        "edit", review, by, note, version, database, desk, changed, final=final, attach=attach
    )
    tell(run_async(decided), as_json)


@app.command("answer")
def answer(
    review: ReviewId,
    text: Annotated[
        str | None, typer.Option("--text", help="What to write to the customer.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="A file with the text; - reads what is piped in.")
    ] = None,
    subject: Annotated[str | None, typer.Option("--subject", help="A subject of your own.")] = None,
    to: To = None,
    cc: Copies = None,
    attach: options.Attach = None,
    by: options.By = None,
    note: Note = None,
    version: Version = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Answer a handed-over message in your own words; the answer leaves as every reply does."""
    from deskhand.errors import ConfigError

    if file is not None:
        text = (
            sys.stdin.read()
            if str(file) == "-"
            else file.read_text(encoding="utf-8", errors="replace")
        )
    if text is None:
        raise ConfigError("the answer is empty", fix="give --text or --file")
    written: dict[str, Any] = {"text": text.strip(), **_recipients(to, cc)}
    if subject:
        written["subject"] = subject
    decided = decide("answer", review, by, note, version, database, desk, written, attach=attach)
    tell(run_async(decided), as_json)


@app.command("revise")
def revise(
    review: ReviewId,
    note: Annotated[
        str, typer.Option("--note", help="What to do better; the draft is written again.")
    ],
    by: options.By = None,
    version: Version = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Have the reply drafted again, with an instruction."""
    tell(run_async(decide("revise", review, by, note, version, database, desk)), as_json)


async def decide(
    decision: str,
    review: str,
    by: str | None,
    note: str | None,
    version: int | None,
    database: str | None,
    desk: str | None,
    edit: dict[str, Any] | None = None,
    *,
    due_at: float | None = None,
    final: bool = False,
    attach: list[Path] | None = None,
) -> "Review":
    """Decide a review as it stands, or as it stood in `version`."""
    from deskhand.model.run import Decision, Verdict
    from deskhand.wiring import open_store

    me = by or options.login_name()
    async with opened_desk(database, desk) as (opened, name):
        store = open_store(opened, name)
        seen = await store.review(review)
        if attach:
            edit = await attached(store, seen, me, attach, edit)
        if decision == Decision.EDIT or (decision == Decision.ACKNOWLEDGE and edit):
            edit = {"text": _shown_text(seen), **(edit or {})}
        verdict = Verdict(
            Decision(decision),
            by=me,
            version=seen.version if version is None else version,
            payload_hash=seen.payload_hash,
            note=note,
            edit=edit,
            due_at=due_at,
            final=final,
        )
        async with noted(opened, f"reviews {decision} {review}", by):
            return await store.decide(review, verdict)


def _recipients(to: str | None, cc: list[str] | None) -> dict[str, Any]:
    """What was said about whom a reply goes to; `--cc ""` takes every copy away."""
    chosen: dict[str, Any] = {} if to is None else {"to": to.strip()}
    if cc is not None:
        chosen["cc"] = [address.strip() for address in cc if address.strip()]
    return chosen


def _shown_text(review: "Review") -> str:
    """The reply as it stands, for an edit that changes something else."""
    reply = review.payload.get("reply")
    return str(reply.get("text") or "") if isinstance(reply, dict) else ""


def tell(review: "Review", as_json: bool) -> None:
    from deskhand.engine.descriptions import describe_decision

    if as_json:
        print_json(review_document(review))
        return
    if review.decision is None:
        words = (
            f"{review.id}: approved by {review.signed_by}, the first of two; another person must"
            " approve it as well"
        )
        console().print(words, markup=False, soft_wrap=True)
        return
    follows = review.decision not in ("take_over", "close")
    after = "; the serving process goes on with the run (deskhand serve)" if follows else ""
    if review.decision == "acknowledge":
        after += "; then somebody owes the customer an answer (deskhand reviews list)"
    words = f"{review.id}: {describe_decision(review)}{after}"
    console().print(words, markup=False, soft_wrap=True)
