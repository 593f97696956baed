"""Reviews in a terminal: the queue, and one of them with all that is needed to decide it."""

import time
from typing import TYPE_CHECKING, Any

from deskhand.cli.plain_table import escape_markup
from deskhand.cli.terminal import (
    console,
    moment,
    print_line,
    print_table,
    printable,
    shortened,
    status_text,
    when,
)

if TYPE_CHECKING:
    from rich.text import Text

    from deskhand.engine.review_file import ReviewFile
    from deskhand.engine.review_search import ReviewHit
    from deskhand.model.run import Review

_WIDEST = 100
_MOST_LINES = 12


def print_reviews(items: "list[ReviewHit]") -> None:
    if not items:
        print_line(("nothing waits for a person", ""))
        return
    rows = [
        (
            item.review.id,
            when(item.review.created_at),
            next(iter(item.review.causes), item.review.kind),
            escape_markup(shortened(item.review.assignee or "", 20)),
            escape_markup(shortened(_sender(item), 40)),
            escape_markup(shortened(_subject(item), 80)),
        )
        for item in items
    ]
    print_table(("review", "since", "cause", "for"), ("from", "subject"), rows)


def _sender(item: "ReviewHit") -> str:
    if item.message is None:
        return ""
    writer = item.message.writer
    return writer.name or writer.address


def _subject(item: "ReviewHit") -> str:
    return "(erased)" if item.message is None else item.message.subject or "(no subject)"


def print_review_file(review_file: "ReviewFile") -> None:
    from rich.text import Text

    from deskhand.cli.trace import payload_lines

    review, to = review_file.review, console()
    to.print(
        Text(review.id, style="bold"),
        status_text(review.state),
        f"[dim]version {review.version}[/]",
    )
    to.print(Text(printable(f"  {review.kind}: {review.reason}"), style="yellow"), soft_wrap=True)
    for line in (
        *_fact_lines(review_file),
        *_message_lines(review_file),
        *payload_lines(review.payload),
        *_beside(review_file),
    ):
        to.print(line, soft_wrap=True)
    _print_how(review)


def _fact_lines(review_file: "ReviewFile") -> "list[Text]":
    from rich.text import Text

    from deskhand.engine.descriptions import describe_confidence

    review, message = review_file.review, review_file.message
    about = "" if message is None else f"  {message.subject}  from {message.sender}"
    lines = [f"  {review.run_id}{about}", *_named_people(review_file)]
    facts: dict[str, Any] = {
        name: review.facts[name] for name in ("category", "language") if name in review.facts
    }
    sure = describe_confidence(review.facts)
    if sure:
        least = review.facts.get("threshold")
        below = f"; with the category below {least:g} a person looks" if least else ""
        facts["confidence"] = f"{sure}{below}"
    facts |= {"why": ", ".join(review.causes)} if review.causes else {}
    facts |= {"for": review.assignee} if review.assignee else {}
    facts |= {"snoozed until": moment(review.snoozed_until)} if review.snoozed_until else {}
    facts |= {"the answer is due": moment(review.due_at)} if review.due_at else {}
    lines += [f"  {name}: {value}" for name, value in facts.items()]
    if review.expires_at is not None:
        left = review.expires_at - time.time()
        then = f": then {review.fallback}" if review.fallback else ""
        lines.append(f"  over {moment(review.expires_at)} (in {max(0, left) / 60:.0f} min){then}")
    return [Text(printable(line), style="dim") for line in lines]


def _named_people(review_file: "ReviewFile") -> list[str]:
    """Where the message asks for answers, and who else got it."""
    from deskhand.mail.reply_to import reply_to

    message = review_file.message
    if message is None:
        return []
    named = (("reply-to", reply_to(message)), ("cc", message.cc))
    return [f"  {name}: {', '.join(map(str, people))}" for name, people in named if people]


def _message_lines(review_file: "ReviewFile") -> "list[Text]":
    """What the customer wrote, its beginning."""
    from rich.text import Text

    if review_file.message is None or not review_file.message.body.strip():
        return []
    lines = [line for line in review_file.message.body.strip().splitlines() if line.strip()]
    shown = [shortened(line, _WIDEST) for line in lines[:_MOST_LINES]]
    more = [f"… {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    return [
        Text(""),
        *(Text("  ┊ ", style="magenta").append(line, style="default") for line in (*shown, *more)),
    ]


def _beside(review_file: "ReviewFile") -> "list[Text]":
    """Calls that were made, what the draft was drawn from, and what colleagues did and said."""
    from rich.text import Text

    from deskhand.cli.trace import in_one_line
    from deskhand.engine.descriptions import actor_of, describe_event

    lines: list[str] = []
    for call in review_file.tool_calls:
        written = in_one_line(call["arguments"])
        lines.append(
            f"  ⚒ {call['tool']} {written}  {call['verdict']}{'' if call['ok'] else ', not done'}"
        )
    lines += [f"  ? {_ask(ask)}" for ask in review_file.asks]
    lines += [f"  ❝ {_source(source)}" for source in review_file.sources]
    lines += [
        f"  ☞ {moment(event.at)} {actor_of(event)} {describe_event(event, moment)}"
        for event in review_file.history
    ]
    if not lines:
        return []
    return [Text(""), *(Text(shortened(line, 160), style="dim") for line in lines)]


def _ask(ask: dict[str, Any]) -> str:
    """What is asked, and how sure the draft is of its answer."""
    sure = "sure" if ask.get("answered") else "not sure, read it closely"
    words = " ".join(str(ask.get("ask", "")).split())
    article = ask.get("article") or "no article"
    return f"“{words[:80]}”  {article} {ask.get('confidence', 0):.2f}, {sure}"


def _source(source: dict[str, Any]) -> str:
    """What a source is called, as far as it has a name; else which stage named it."""
    named = (source.get(name) for name in ("title", "article", "source", "stage"))
    return str(next(filter(None, named), ""))


def _print_how(review: "Review") -> None:
    from rich.text import Text

    from deskhand.engine.decisions import decisions_for
    from deskhand.engine.descriptions import describe_decision

    to = console()
    if review.payload.get("approvals_needed", 1) > 1:
        signed = (
            f"{review.signed_by} has approved it"
            if review.signed_by
            else "nobody has approved it yet"
        )
        to.print(
            Text(printable(f"\n  two people must approve it; {signed}"), style="yellow"),
            soft_wrap=True,
        )
    if review.state == "open":
        possible = decisions_for(review)
        choices = ", ".join(decision.value.replace("_", "-") for decision in possible)
        to.print(Text(f"\n  deskhand reviews [{choices}] {review.id}", style="dim"), soft_wrap=True)
    elif review.decision:
        to.print(Text(f"\n  {describe_decision(review)} {moment(review.decided_at)}", style="dim"))
