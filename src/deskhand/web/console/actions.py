"""What people do on the page: each action is one of the store's, bound to what was shown."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from deskhand.engine.decisions import TAKE_TEXT
from deskhand.errors import Conflict
from deskhand.model.access import Role, User
from deskhand.model.run import LETS_GO, Decision, Review, ReviewKind, Verdict
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.problems import Refused
from deskhand.web.console.review_page import FILE_FIELD, attached_in, typed
from deskhand.web.console.session import Visit
from deskhand.web.undo import undo

Form = Mapping[str, str]


async def act(
    desk: ServedDesk, action: str, review_id: str, form: Form, user: User, *, patience: float
) -> Review:
    """NotFound, Conflict or Refused say why not. `patience` are the seconds to wait for the run."""
    me = user.name
    if action in list(Decision):
        decided = await _decide(desk, Decision(action), review_id, form, me)
        if decided.decision in LETS_GO:
            await _worked(desk, decided.run_id, patience)
        return decided
    if action not in ACTIONS:
        raise Refused(404, f"there is no action {action!r}")
    return await ACTIONS[action](desk, review_id, form, me)


def role_for(action: str) -> Role:
    """Who may do this with a review: what decides it needs more than what prepares it."""
    decides = action in list(Decision) or action == "undo"
    return Role.APPROVER if decides else Role.AGENT


async def bring_files(desk: ServedDesk, review_id: str, visit: Visit) -> Form:
    """Keep the files that were chosen in a form; returns its fields with them as attached.

    Conflict where one is too large; then none is kept, and what was typed is.
    """
    most = desk.spec.limits.max_attachment_bytes
    for file in visit.files:
        if len(file.content) > most:
            await _keep(desk, review_id, visit.form, visit.name)
            raise Conflict(f"{file.name} has {len(file.content):,} bytes; attach at most {most:,}")
    fields = dict(visit.form)
    for file in visit.files:
        stored = await desk.store.attach(review_id, visit.name, file)
        fields[f"{FILE_FIELD}{stored.id}"] = "yes"
    return fields


async def _decide(
    desk: ServedDesk, decision: Decision, review_id: str, form: Form, me: str
) -> Review:
    review = await desk.store.review(review_id)
    edit = typed(review, form)
    if edit:
        # whatever comes of the decision, nothing that was typed is lost
        await desk.store.keep_edit(review_id, me, edit)

    decided = await desk.store.decide(review_id, _verdict(review, decision, edit, form, me))
    desk.dispatcher.wake()
    return decided


def _verdict(
    review: Review, decision: Decision, edit: dict[str, Any], form: Form, me: str
) -> Verdict:
    """The page has one button for a reply as it is and a reply that was changed."""
    lets_pass = decision in (Decision.APPROVE, Decision.EDIT)
    if lets_pass:
        decision = Decision.EDIT if edit else Decision.APPROVE
    takes_text = decision in TAKE_TEXT and bool(edit or review.kind is not ReviewKind.REPLY)
    due = form.get("due") if decision is Decision.ACKNOWLEDGE else None
    due_at = float(_number(due)) if due else None
    shown = form.get("hash")
    if not shown:
        raise Refused(422, "the form does not say which draft you saw; load the page again")
    return Verdict(
        decision,
        me,
        _number(form.get("version")),
        shown,
        form.get("note", "").strip() or None,
        edit if takes_text else None,
        due_at=due_at,
        final=lets_pass and form.get("final") == "yes",
    )


async def _worked(desk: ServedDesk, run_id: str, patience: float) -> None:
    """Give the run a moment to reach the point where its reply waits to be sent."""
    try:
        async with asyncio.timeout(patience):
            await desk.dispatcher.wait(run_id)
    except TimeoutError:
        return


async def _snooze(desk: ServedDesk, review_id: str, form: Form, me: str) -> Review:
    until = form.get("until", "")
    return await desk.store.snooze(review_id, me, float(_number(until)) if until else None)


async def _assign(desk: ServedDesk, review_id: str, form: Form, me: str) -> Review:
    return await desk.store.assign(review_id, me, form.get("to", "").strip() or None)


async def _note(desk: ServedDesk, review_id: str, form: Form, me: str) -> Review:
    return await desk.store.note_review(review_id, me, form.get("note", "").strip())


async def _undo(desk: ServedDesk, review_id: str, form: Form, me: str) -> Review:
    return await undo(desk, review_id, me)


async def _keep(desk: ServedDesk, review_id: str, form: Form, me: str) -> Review:
    review = await desk.store.review(review_id)
    reply = review.payload.get("reply")
    as_written = {name: str((reply or {}).get(name, "")) for name in ("text", "subject")}
    files = attached_in(form)
    edit: dict[str, Any] = typed(review, form) or as_written
    await desk.store.keep_edit(review_id, me, {**edit, "attachments": files} if files else edit)
    return review


ACTIONS: dict[str, Callable[[ServedDesk, str, Form, str], Awaitable[Review]]] = {
    "snooze": _snooze,
    "assign": _assign,
    "note": _note,
    "undo": _undo,
    "keep": _keep,
    "attach": _keep,
}
"""What is done beside deciding."""


def leaving_until(review: Review) -> float | None:
    """When the reply of a review leaves by itself."""
    return (
        review.expires_at
        if review.leaves_by_itself and (review.expires_at or 0) > time.time()
        else None
    )


def _number(text: str | None) -> int:
    if text is None or not text.isdecimal() or len(text) > 12:
        raise Refused(400, "the form cannot be read; load the page again")
    return int(text)
