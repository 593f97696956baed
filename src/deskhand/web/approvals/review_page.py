"""One review as the page shows it: plain values for a template, rendered from the records."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from deskhand.engine.descriptions import DECIDED, actor_of, describe_decision, describe_event
from deskhand.engine.review_file import ReviewFile, read_review_file
from deskhand.mail.reply import visible_reply
from deskhand.model.message import INVITATION_ANSWERS, REPLY, Reply
from deskhand.model.run import (
    DECISIONS,
    EXPIRY,
    BegunEdit,
    Decision,
    Review,
    ReviewKind,
    ReviewState,
)
from deskhand.web.api.access import ServedDesk
from deskhand.web.approvals.labels import age, iso, origin

_EARLIER = 5


async def read_review_page(desk: ServedDesk, review_id: str, me: str, now: float) -> dict[str, Any]:
    review_file = await read_review_file(desk.store, review_id)
    review = review_file.review
    run = await desk.store.run(review.run_id)
    earlier = await desk.store.conversation(
        review.conversation, before=run.position, limit=_EARLIER
    )
    reply = _reply(review_file)
    return {
        "review_file": review_file,
        "review": review,
        "open": review.state is ReviewState.OPEN,
        "age": age(now - review.created_at),
        "decided": _decided(review),
        "decisions": list(DECISIONS[review.kind]) if review.state is ReviewState.OPEN else [],
        "message": review_file.message,
        "said": ""
        if review_file.message is None
        else visible_reply(review_file.message.words) or review_file.message.words,
        "earlier": [(turn.message, age(now - turn.run.created_at)) for turn in earlier],
        "reply": reply,
        "action": "approve" if isinstance(review.payload.get("reply"), dict) else "answer",
        "draft": _draft(review_file, reply or {}, me),
        "typing": typing_words(review_file.edits, me),
        "mine": _unsent(review_file, me),
        "findings": [_finding(one) for one in review.payload.get("findings") or ()],
        "held": _call(review.payload) if "call_hash" in review.payload else None,
        "error": review.payload.get("error"),
        "calls": [_call(call) for call in review_file.tool_calls],
        "sources": [_source(source) for source in review_file.sources],
        "history": [
            (actor_of(event), describe_event(event, iso), iso(event.at))
            for event in review_file.history
        ],
        "canned": review_file.canned(desk.spec.reviews.canned, me),
        "mode": await _mode(desk, review),
        "needed": int(review.payload.get("approvals_needed", 1)),
        "snoozes": snoozes(now, desk.spec.time_zone),
        "run": run,
    }


async def _mode(desk: ServedDesk, review: Review) -> str | None:
    """What the desk may do with such a reply: what it met, else what is in force now."""
    if review.kind is not ReviewKind.REPLY:
        return None
    met = review.payload.get("mode")
    return (
        str(met) if met else (await desk.trust.place(str(review.facts.get("category") or ""))).mode
    )


def _reply(review_file: ReviewFile) -> dict[str, Any] | None:
    """What is decided about; for a message that was handed over, what a person may begin an
    answer with."""
    review, message = review_file.review, review_file.message
    reply = review.payload.get(REPLY)
    if isinstance(reply, dict) or message is None or Decision.ANSWER not in DECISIONS[review.kind]:
        return reply if isinstance(reply, dict) else None
    drafted = review_file.outputs.get(REPLY)
    text = drafted.get("text") if isinstance(drafted, dict) else None
    return Reply.to_message(message, str(text or "")).model_dump(mode="json")


def _draft(review_file: ReviewFile, reply: Mapping[str, Any], me: str) -> dict[str, Any]:
    """What stands in the fields: what this person typed last, else what the desk wrote."""
    review = review_file.review
    mine = next((one for one in review_file.edits if one.by == me), None)
    edit = (
        review.edit or {}
        if review.state is not ReviewState.OPEN
        else mine.edit
        if mine is not None
        else {}
    )
    return {
        "text": str(edit.get("text") or reply.get("text") or ""),
        "subject": str(edit.get("subject") or reply.get("subject") or ""),
        "invitation": edit.get("invitation") or reply.get("invitation"),
        "changed": bool(edit),
    }


def typing_words(edits: Sequence[BegunEdit], me: str) -> str:
    """Who else has begun to write."""
    others = [one.by for one in edits if one.by != me]
    return (
        f"{', '.join(others)} {'has' if len(others) == 1 else 'have'} begun to edit it."
        if others
        else ""
    )


def decided_words(review: Review, now: float) -> str:
    """What became of a review while somebody else looked at it."""
    if review.state is ReviewState.OPEN:
        signed = (
            f"{review.signed_by} has approved it, the first of two. " if review.signed_by else ""
        )
        return f"{signed}It has changed since you opened it."
    if review.decision is None:
        return "It is no longer open: the customer wrote again, or the run is over."
    who = (
        "Nobody decided in time"
        if review.decided_by == EXPIRY
        else f"{review.decided_by} was faster"
    )
    return f"{who}: {DECIDED[review.decision]} {_ago(now - (review.decided_at or now))}."


def _decided(review: Review) -> str | None:
    """How a closed review was decided, as the beginning of a sentence."""
    if review.decision is None:
        return None
    words = describe_decision(review)
    return words[0].upper() + words[1:]


def _ago(seconds: float) -> str:
    passed = age(seconds)
    return "just now" if passed == "now" else f"{passed} ago"


def _unsent(review_file: ReviewFile, me: str) -> str | None:
    """What somebody typed into a review that somebody else decided."""
    review = review_file.review
    mine = next((str(one.edit.get("text") or "") for one in review_file.edits if one.by == me), "")
    sent = str(
        (review.edit or {}).get("text") or (review.payload.get(REPLY) or {}).get("text") or ""
    )
    return (
        mine
        if review.state is not ReviewState.OPEN and review.decided_by != me and mine != sent
        else None
    )


def _finding(one: Mapping[str, Any]) -> tuple[str, str]:
    """What speaks against the reply, and the words it is about."""
    if one.get("sentence"):
        return f"nothing stands behind {one.get('value')}", str(one["sentence"])
    return str(one.get("reason", "")), str(one.get("text", ""))


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    """The server's rendering of a call, never the model's summary."""
    where = call.get("origin") or {}
    return {
        "tool": call.get("tool"),
        "arguments": [
            (name, _written(value), origin(str(where.get(name, ""))))
            for name, value in (call.get("arguments") or {}).items()
        ],
        "verdict": call.get("verdict", "hold"),
        "ok": call.get("ok", False),
        "rule": call.get("rule"),
        "reason": call.get("reason"),
    }


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _source(source: Mapping[str, Any]) -> tuple[str, str]:
    title = source.get("title") or source.get("article") or source.get("source") or source["stage"]
    path = " › ".join(map(str, source.get("heading_path") or ()))
    return f"{title}" + (f" › {path}" if path else ""), str(
        source.get("quote") or source.get("text") or ""
    )


def snoozes(now: float, time_zone: str) -> list[tuple[str, str]]:
    """When something may come back: for how many seconds, in words."""
    here = datetime.fromtimestamp(now, ZoneInfo(time_zone))
    morning = here.replace(hour=9, minute=0, second=0, microsecond=0)
    tomorrow, monday = morning + timedelta(days=1), morning + timedelta(days=7 - here.weekday())
    named = [
        ("in an hour", now + 3600),
        ("in four hours", now + 4 * 3600),
        ("tomorrow at 9", tomorrow.timestamp()),
    ]
    named += [("on Monday at 9", monday.timestamp())] if monday != tomorrow else []
    return [(str(int(at)), words) for words, at in named]


def typed(review: Review, form: Mapping[str, str]) -> dict[str, str]:
    """What a form's fields changed of the reply; nothing when they say what was there."""
    if "text" not in form:
        return {}
    text, subject = form["text"].strip(), " ".join(form.get("subject", "").split())
    reply = review.payload.get("reply")
    if not isinstance(reply, dict):
        return {"text": text} | ({"subject": subject} if subject else {}) if text else {}
    same_text = text == str(reply.get("text", "")).replace("\r\n", "\n").strip()
    same_subject = subject in ("", " ".join(str(reply.get("subject", "")).split()))
    answer = form.get("invitation", "")
    same_answer = answer not in INVITATION_ANSWERS or answer == reply.get("invitation")
    if same_text and same_subject and same_answer:
        return {}
    changed = {"text": text} | ({} if same_subject else {"subject": subject})
    return changed | ({} if same_answer else {"invitation": answer})
