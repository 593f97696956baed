"""One review as the page shows it: plain values for a template, rendered from the records."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from deskhand.engine.docket import Docket, read_docket
from deskhand.mail.reply import visible_reply
from deskhand.model.run import DECISIONS, Decision, Event, Review, ReviewState
from deskhand.web.api.access import ServedDesk
from deskhand.web.approvals.words import PAST, age, iso, origin

_WORDS = {Decision(word): said for word, said in PAST.items()}
_OTHERS = {"signed": "approved, the first of two", "undo": "stopped it from leaving", "note": "noted"}
_EARLIER = 5


async def read_sheet(desk: ServedDesk, review_id: str, me: str, now: float) -> dict[str, Any]:
    docket = await read_docket(desk.store, review_id)
    review = docket.review
    run = await desk.store.run(review.run_id)
    earlier = await desk.store.conversation(review.conversation, before=run.position, limit=_EARLIER)
    reply = review.payload.get("reply")
    return {
        "docket": docket,
        "review": review,
        "open": review.state is ReviewState.OPEN,
        "age": age(now - review.created_at),
        "decisions": list(DECISIONS[review.kind]) if review.state is ReviewState.OPEN else [],
        "message": docket.message,
        "said": "" if docket.message is None else visible_reply(docket.message.words) or docket.message.words,
        "earlier": [(turn.message, age(now - turn.run.created_at)) for turn in earlier],
        "reply": reply if isinstance(reply, dict) else None,
        "draft": _draft(docket, reply if isinstance(reply, dict) else {}, me),
        "typing": [one.by for one in docket.edits if one.by != me and review.state is ReviewState.OPEN],
        "findings": [_finding(one) for one in review.payload.get("findings") or ()],
        "held": _call(review.payload) if "call_hash" in review.payload else None,
        "error": review.payload.get("error"),
        "calls": [_call(call) for call in docket.tool_calls],
        "sources": [_source(source) for source in docket.sources],
        "history": [(event.by or "the desk", event_words(event), iso(event.at)) for event in docket.history],
        "canned": docket.canned(desk.spec.reviews.canned, me),
        "needed": int(review.payload.get("approvals_needed", 1)),
        "snoozes": snoozes(now, desk.spec.time_zone),
        "run": run,
    }


def _draft(docket: Docket, reply: Mapping[str, Any], me: str) -> dict[str, Any]:
    """What stands in the fields: what this person typed last, else what the desk wrote."""
    review = docket.review
    mine = next((one for one in docket.edits if one.by == me), None)
    edit = review.edit or {} if review.state is not ReviewState.OPEN else mine.edit if mine is not None else {}
    return {
        "text": str(edit.get("text") or reply.get("text") or ""),
        "subject": str(edit.get("subject") or reply.get("subject") or ""),
        "changed": bool(edit),
    }


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
    return f"{title}" + (f" › {path}" if path else ""), str(source.get("quote") or source.get("text") or "")


def event_words(event: Event) -> str:
    kind, about = event.kind.removeprefix("review."), event.payload
    if kind == "snoozed":
        return f"snoozed it until {iso(about['until'])}" if about.get("until") else "brought it back"
    if kind == "assigned":
        return f"gave it to {about['to']}" if about.get("to") else "gave it back to all"
    words = _WORDS.get(Decision(kind)) if kind in list(Decision) else _OTHERS.get(kind)
    said = about.get("text") or about.get("note")
    return f"{words or kind}: {said}" if said else words or kind


def snoozes(now: float, time_zone: str) -> list[tuple[str, str]]:
    """When something may come back: for how many seconds, in words."""
    here = datetime.fromtimestamp(now, ZoneInfo(time_zone))
    morning = here.replace(hour=9, minute=0, second=0, microsecond=0)
    tomorrow, monday = morning + timedelta(days=1), morning + timedelta(days=7 - here.weekday())
    named = [("in an hour", now + 3600), ("in four hours", now + 4 * 3600), ("tomorrow at 9", tomorrow.timestamp())]
    named += [("on Monday at 9", monday.timestamp())] if monday != tomorrow else []
    return [(str(int(at)), words) for words, at in named]


def typed(review: Review, form: Mapping[str, str]) -> dict[str, str]:
    """What a form's fields changed of the reply; nothing when they say what was there."""
    reply = review.payload.get("reply")
    if not isinstance(reply, dict) or "text" not in form:
        return {}
    text, subject = form["text"].strip(), " ".join(form.get("subject", "").split())
    same_text = text == str(reply.get("text", "")).replace("\r\n", "\n").strip()
    same_subject = subject in ("", " ".join(str(reply.get("subject", "")).split()))
    if same_text and same_subject:
        return {}
    return {"text": text} | ({} if same_subject else {"subject": subject})
