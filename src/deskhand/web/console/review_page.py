"""One review as the page shows it: plain values for its template, read from the records."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from deskhand.engine.attachment_list import list_files
from deskhand.engine.decisions import decisions_for, holds_out_an_answer
from deskhand.engine.descriptions import DECIDED
from deskhand.engine.review_file import ReviewFile, read_review_file
from deskhand.mail.reply import visible_reply
from deskhand.mail.reply_to import reply_to
from deskhand.model.attached_files import FileOrigin, StoredFile
from deskhand.model.contact import Contact
from deskhand.model.message import INVITATION_ANSWERS, REPLY, Message, Reply
from deskhand.model.placeholders import unfilled_placeholders
from deskhand.model.queue import BegunEdit
from deskhand.model.run import (
    DECISIONS,
    EXPIRY,
    ConversationTurn,
    Decision,
    Event,
    Review,
    ReviewKind,
    ReviewState,
)
from deskhand.web.api.access import ServedDesk
from deskhand.web.console.draft_changes import Changes, changes_of
from deskhand.web.console.event_phrases import actor_words, decision_words, event_words
from deskhand.web.console.findings import Finding, effects_of, read_findings, rules_of
from deskhand.web.console.labels import ORIGIN_LOOKS, age, due, iso, origin
from deskhand.web.console.translation import Phrase

_EARLIER = 5
FILE_FIELD = "file-"
"""How the fields of a form begin that name an attached file."""


async def read_review_page(desk: ServedDesk, review_id: str, me: str, now: float) -> dict[str, Any]:
    review_file = await read_review_file(desk.store, review_id)
    review = review_file.review
    run = review_file.run
    message = review_file.message
    earlier, effects, mode, people, contact = await asyncio.gather(
        desk.store.conversation(review.conversation, before=run.position, limit=_EARLIER),
        desk.store.effects(review.run_id),
        _mode(desk, review),
        desk.store.reviewers(),
        _contact(desk, message),
    )
    reply = _reply(review_file)
    is_open = review.state is ReviewState.OPEN
    decisions = decisions_for(review)
    listed = list_files(message, review_file.files)
    from_customer = [file for file in listed if file.origin is FileOrigin.MESSAGE]
    origins = {file.origin for file in review_file.files}
    held = _call(review.payload) if "call_hash" in review.payload else None
    draft = _draft(review_file, reply or {}, me)
    sources = list(map(_source, review_file.sources))
    findings = read_findings(review, sources)
    calls = list(map(_call, review_file.tool_calls))
    return {
        "review_file": review_file,
        "review": review,
        "open": is_open,
        "age": age(now - review.created_at),
        "decided": _decided(review),
        "decisions": list(decisions),
        "message": message,
        "said": _new_words(message),
        "headers": _headers(message),
        "earlier": _earlier(earlier, now),
        "files": from_customer,
        "has_page": FileOrigin.PAGE in origins,
        "reply": reply,
        "in_doubt": _in_doubt(review),
        "action": _main_action(review),
        "draft": draft,
        "changes": _changes(reply or {}, draft["text"], findings, sources),
        "typing": typing_words(review_file.edits, me),
        "mine": _unsent(review_file, me),
        "findings": findings,
        "open_findings": _still_open(findings, draft["text"]),
        "unfilled": unfilled_placeholders(draft["text"]),
        "rules": rules_of(review),
        "drafts": review_file.revisions + 1,
        "effects": effects_of(effects, calls),
        "held": held,
        "error": review.payload.get("error"),
        "calls": calls,
        "sources": sources,
        "asks": review_file.asks,
        "history": list(map(_history_line, review_file.history)),
        "canned": review_file.canned(desk.spec.reviews.canned, me),
        "mode": mode,
        "needed": int(review.payload.get("approvals_needed", 1)),
        "snoozes": snoozes(now, desk.spec.time_zone),
        "holding": holds_out_an_answer(review),
        "answer_within": age(desk.spec.reviews.answer_within),
        "due": due(review, now),
        "sent": _sent_so_far(review),
        "people": people,
        "contact": contact,
        "run": run,
    }


async def _contact(desk: ServedDesk, message: Message | None) -> Contact | None:
    return None if message is None else await desk.contacts.seen(message.writer.address)


def _new_words(message: Message | None) -> str:
    """What the customer wrote this time, without what the mail quotes."""
    if message is None:
        return ""
    return visible_reply(message.words) or message.words


def _headers(message: Message | None) -> list[tuple[str, str]]:
    """Whom else the message names: where answers are asked for, and who else got it."""
    if message is None:
        return []
    named = (("Reply-To", reply_to(message)), ("To", message.recipients), ("Cc", message.cc))
    return [(name, ", ".join(map(str, people))) for name, people in named if people]


def _earlier(turns: Sequence[ConversationTurn], now: float) -> list[tuple[Message, str]]:
    return [(turn.message, age(now - turn.run.created_at)) for turn in turns]


def _main_action(review: Review) -> str:
    """What the button below the text does: send the desk's reply, or a person's own answer."""
    if not isinstance(review.payload.get(REPLY), dict):
        return "answer"
    return "acknowledge" if holds_out_an_answer(review) else "approve"


def _history_line(event: Event) -> tuple[str, str, str]:
    return actor_words(event), event_words(event), iso(event.at)


async def _mode(desk: ServedDesk, review: Review) -> str | None:
    """What the desk may do with such a reply: what it met, else what is in force now."""
    if review.kind is not ReviewKind.REPLY:
        return None
    met = review.payload.get("mode")
    return (
        str(met) if met else (await desk.trust.place(str(review.facts.get("category") or ""))).mode
    )


def _reply(review_file: ReviewFile) -> dict[str, Any] | None:
    """The reply to decide about; for a handed-over message, a start for the person's answer."""
    review = review_file.review
    message = review_file.message
    reply = review.payload.get(REPLY)
    if review.kind is ReviewKind.DELIVERY:
        return None  # nobody can change what may have left
    if isinstance(reply, dict) or message is None or Decision.ANSWER not in DECISIONS[review.kind]:
        return reply if isinstance(reply, dict) else None
    is_answered = review.kind is ReviewKind.FOLLOW_UP  # what was drafted has left already
    drafted = None if is_answered else review_file.outputs.get(REPLY)
    text = drafted.get("text") if isinstance(drafted, dict) else None
    return Reply.to_message(message, str(text or "")).model_dump(mode="json")


def _sent_so_far(review: Review) -> str:
    """What the customer has been told in this matter; empty where that is nothing, or unknown."""
    sent_texts = (review.payload.get(name) for name in ("acknowledged_with", "sent_before"))
    return str(next(filter(None, sent_texts), ""))


def _in_doubt(review: Review) -> dict[str, Any] | None:
    """The reply that may have left; None where nobody doubts it."""
    reply = review.payload.get(REPLY)
    return reply if review.kind is ReviewKind.DELIVERY and isinstance(reply, dict) else None


def _draft(review_file: ReviewFile, reply: Mapping[str, Any], me: str) -> dict[str, Any]:
    """What stands in the fields: what this person typed last, else what the desk wrote."""
    review = review_file.review
    edit = _edit_of(review_file, me) if review.state is ReviewState.OPEN else review.edit or {}
    return {
        "text": str(edit.get("text") or reply.get("text") or ""),
        "subject": str(edit.get("subject") or reply.get("subject") or ""),
        "invitation": edit.get("invitation") or reply.get("invitation"),
        "to": str(edit.get("to", reply.get("to")) or ""),
        "cc": ", ".join(edit.get("cc", reply.get("cc")) or ()),
        "files": _attached(review_file, edit.get("attachments", reply.get("attachments")) or ()),
        "changed": bool(edit),
    }


def _attached(review_file: ReviewFile, named: Sequence[str]) -> list[StoredFile]:
    """The files that leave with the reply, as far as they are kept."""
    return [file for file in review_file.files if file.id in named]


def _edit_of(review_file: ReviewFile, person: str) -> Mapping[str, Any]:
    """What a person has typed so far; nothing where they have not begun."""
    edits = (begun.edit for begun in review_file.edits if begun.by == person)
    return next(edits, {})


def typing_words(edits: Sequence[BegunEdit], me: str) -> str:
    """Who else is editing; empty where nobody is."""
    others = [begun.by for begun in edits if begun.by != me]
    if not others:
        return ""
    return Phrase("{names} have begun to edit it.", count=len(others), names=", ".join(others))


def decided_words(review: Review, now: float) -> str:
    """What became of a review while somebody else looked at it."""
    if review.state is ReviewState.OPEN:
        if not review.signed_by:
            return Phrase("It has changed since you opened it.")
        return Phrase(
            "{who} has approved it, the first of two. It has changed since you opened it.",
            who=review.signed_by,
        )
    if review.decision is None:
        return Phrase("It is no longer open: the customer wrote again, or the run is over.")
    what = Phrase(DECIDED[review.decision])
    ago = _ago(now - (review.decided_at or now))
    if review.decided_by == EXPIRY:
        return Phrase("Nobody decided in time: {what} {ago}.", what=what, ago=ago)
    who = review.decided_by
    return Phrase("{who} was faster: {what} {ago}.", who=who, what=what, ago=ago)


def _decided(review: Review) -> str | None:
    """How a closed review was decided."""
    return None if review.decision is None else decision_words(review)


def _ago(seconds: float) -> Phrase:
    passed = age(seconds)
    return Phrase("just now") if passed == "now" else Phrase("{age} ago", age=passed)


def _unsent(review_file: ReviewFile, me: str) -> str | None:
    """What somebody typed into a review that somebody else decided."""
    review = review_file.review
    mine = str(_edit_of(review_file, me).get("text") or "")
    sent = str(
        (review.edit or {}).get("text") or (review.payload.get(REPLY) or {}).get("text") or ""
    )
    return (
        mine
        if review.state is not ReviewState.OPEN and review.decided_by != me and mine != sent
        else None
    )


def _changes(
    reply: Mapping[str, Any],
    text: str,
    findings: Sequence[Finding],
    sources: Sequence[tuple[str, str]],
) -> Changes:
    """The draft beside the desk's own, with what nothing backs and what is quoted."""
    loose = [finding.words for finding in findings]
    quotes = [quote for _, quote in sources]
    return changes_of(str(reply.get("text") or ""), text, loose, quotes)


def _still_open(findings: Sequence[Finding], text: str) -> int:
    """How many findings the text has not been rid of."""
    plain = " ".join(text.split())
    return sum(" ".join(finding.words.split()) in plain for finding in findings)


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    """The server's rendering of a call, never the model's summary."""
    where = call.get("origin") or {}
    how = call.get("read") or {}
    return {
        "tool": call.get("tool"),
        "arguments": [
            (
                name,
                _written(value),
                origin(str(where.get(name, "")), str(how.get(name, ""))),
                ORIGIN_LOOKS.get(str(where.get(name, "")).partition(":")[0], ""),
            )
            for name, value in (call.get("arguments") or {}).items()
        ],
        "verdict": call.get("verdict", "hold"),
        "ok": call.get("ok", False),
        "rule": call.get("rule"),
        "reason": call.get("reason"),
        "allowed_by": call.get("approved_by"),
    }


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _source(source: Mapping[str, Any]) -> tuple[str, str]:
    title = source.get("title") or source.get("article") or source.get("source") or source["stage"]
    path = " › ".join(map(str, source.get("heading_path") or ()))
    quote = str(source.get("quote") or source.get("text") or "")
    return f"{title} › {path}" if path else str(title), quote


def snoozes(now: float, time_zone: str) -> list[tuple[str, str]]:
    """When something may come back: for how many seconds, in words."""
    here = datetime.fromtimestamp(now, ZoneInfo(time_zone))
    morning = here.replace(hour=9, minute=0, second=0, microsecond=0)
    tomorrow = morning + timedelta(days=1)
    monday = morning + timedelta(days=7 - here.weekday())
    named = [
        ("in an hour", now + 3600),
        ("in four hours", now + 4 * 3600),
        ("tomorrow at 9", tomorrow.timestamp()),
    ]
    named += [("on Monday at 9", monday.timestamp())] if monday != tomorrow else []
    return [(str(int(at)), words) for words, at in named]


def typed(review: Review, form: Mapping[str, str]) -> dict[str, Any]:
    """What a form's fields change in the reply; nothing where they say what was there."""
    if "text" not in form:
        return {}
    text = form["text"].strip()
    subject = " ".join(form.get("subject", "").split())
    reply = review.payload.get("reply")
    if not isinstance(reply, dict):
        shown = {"to": form.get("to_was", ""), "cc": _addresses(form.get("cc_was", ""))}
        changed = _typed_addresses(form, shown)
        if attached_in(form):
            changed["attachments"] = attached_in(form)
        return _answer(text, subject, changed)
    changed = _typed_addresses(form, reply)
    if attached_in(form) != list(reply.get("attachments") or ()):
        changed["attachments"] = attached_in(form)
    if subject not in ("", " ".join(str(reply.get("subject", "")).split())):
        changed["subject"] = subject
    answer = form.get("invitation", "")
    if answer in INVITATION_ANSWERS and answer != reply.get("invitation"):
        changed["invitation"] = answer
    if not changed and text == str(reply.get("text", "")).replace("\r\n", "\n").strip():
        return {}
    return {"text": text, **changed}


def attached_in(form: Mapping[str, str]) -> list[str]:
    """The files that a form names as attached, in its order."""
    return [name.removeprefix(FILE_FIELD) for name in form if name.startswith(FILE_FIELD)]


def _typed_addresses(form: Mapping[str, str], reply: Mapping[str, Any]) -> dict[str, Any]:
    """Recipients that are not those of the reply; a page without these fields changes none."""
    changed: dict[str, Any] = {}
    to = form.get("to", "").strip()
    if "to" in form and to != str(reply.get("to", "")):
        changed["to"] = to
    copies = _addresses(form.get("cc", ""))
    if "cc" in form and copies != list(reply.get("cc") or ()):
        changed["cc"] = copies
    return changed


def _addresses(written: str) -> list[str]:
    pieces = [piece.strip() for piece in re.split(r"[,;\n]", written)]
    return list(filter(None, pieces))


def _answer(text: str, subject: str, addresses: dict[str, Any]) -> dict[str, Any]:
    """A person's own answer; nothing while it has no text."""
    if not text:
        return {}
    written = {"text": text, **addresses}
    return {**written, "subject": subject} if subject else written
