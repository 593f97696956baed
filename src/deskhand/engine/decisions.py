"""What a person may decide about a review: the rules, and the decision that counts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from deskhand.engine.descriptions import describe_decision
from deskhand.errors import Conflict, IncompleteDecision
from deskhand.mail.reply_to import is_whole
from deskhand.model.access import User
from deskhand.model.attached_files import MOST_FILES
from deskhand.model.message import INVITATION_ANSWERS, REPLY
from deskhand.model.money import Money
from deskhand.model.placeholders import ANSWER, placeholders_in, unfilled_placeholders
from deskhand.model.run import (
    DECISIONS,
    DUE_AT,
    LETS_GO,
    Decision,
    Review,
    ReviewKind,
    ReviewState,
    Verdict,
)

LONGEST_NOTE = 10_000
"""Characters."""
LONGEST_NAME = 100
"""Characters of the name that a review is assigned to."""
LETS_PASS = (*LETS_GO, Decision.RETRY, Decision.SEND_AGAIN)
"""Decisions after which something happens that was held."""
EDITABLE = ("text", "subject", "invitation", "to", "cc", "attachments")
"""What a reviewer may change in a reply."""
MOST_COPIES = 20
LONGEST_DUE = 366 * 86400.0
"""Seconds that an answer may be put off."""
REVISABLE = "revisable"
"""Among a reply's facts: whether it can be drafted again by an instruction."""
FINAL = "final"
"""Among a decided review's facts: the reply is the answer, whatever it says."""


def check_decision(review: Review, verdict: Verdict, now: float) -> None:
    """Raise Conflict unless a person may decide this review in this way, as it stands `now`.

    The only place with these rules: stores ask it in the transaction that writes the decision, so
    the page, the API and the command line need no checks of their own.
    """
    check_open(review)
    _check_same_as_shown(review, verdict)
    _check_note(verdict)
    if _sends_as_shown(review, verdict):
        _check_can_leave(review)
    else:
        _check_edit(review, verdict)
    _check_due(verdict, now)
    if verdict.decision is Decision.REVISE and review.facts.get(REVISABLE) is False:
        raise Conflict(
            f"nobody can draft {review.id} again: this desk's brain follows no instructions; edit"
            " the reply instead"
        )
    if verdict.decision not in DECISIONS[review.kind]:
        possible = ", ".join(decisions_for(review))
        raise Conflict(
            f"a {review.kind} review cannot be decided with '{verdict.decision}'; choose {possible}"
        )
    if review.expires_at is not None and review.expires_at <= now:
        raise Conflict(f"{review.id} has expired")
    if verdict.decision is Decision.APPROVE or _sends_as_shown(review, verdict):
        _check_can_leave(review)
    if verdict.decision is Decision.APPROVE:
        _check_second_person(review, verdict)


def check_rights(review: Review, verdict: Verdict, user: User, asked_by: str | None) -> None:
    """Raise Conflict where a person would let more move than he may, or what he asked for himself.

    `user` is whoever the verdict is signed by, `asked_by` the address that the message came from.
    """
    if verdict.decision not in LETS_PASS:
        return
    if user.limit is not None:
        for written in review.payload.get("moves") or ():
            moved = Money.of(str(written))
            if moved.currency != user.limit.currency or moved > user.limit:
                raise Conflict(
                    f"{moved} is above the limit of {user.name}, {user.limit}; a colleague with a"
                    " higher one must decide it"
                )
    if asked_by is not None and asked_by.casefold() in user.addresses:
        raise Conflict(f"{user.name} asked for this; somebody else must decide it")


def decisions_for(review: Review) -> tuple[Decision, ...]:
    """What a person may decide about a review as it stands; nothing once it is closed."""
    if review.state is not ReviewState.OPEN:
        return ()
    possible = DECISIONS[review.kind]
    if review.facts.get(REVISABLE) is not False:
        return possible
    return tuple(decision for decision in possible if decision is not Decision.REVISE)


def decision_meant(review: Review, verdict: Verdict) -> Verdict:
    """The decision that counts: a holding reply that somebody approves is acknowledged.

    It says that somebody will answer, so the matter is not closed by it. `final` says otherwise.
    """
    lets_pass = verdict.decision in (Decision.APPROVE, Decision.EDIT)
    if review.kind is not ReviewKind.REPLY or not lets_pass or verdict.final:
        return verdict
    if not holds_out_an_answer(review, verdict.edit):
        return verdict
    return replace(verdict, decision=Decision.ACKNOWLEDGE)


def holds_out_an_answer(review: Review, edit: Mapping[str, Any] | None = None) -> bool:
    """Whether the reply, as shown or as edited, only says that somebody will answer."""
    from deskhand.outgoing.holding import is_holding_reply  # no listing of reviews needs it

    reply = {**(review.payload.get(REPLY) or {}), **(edit or {})}
    return is_holding_reply(str(reply.get("text") or ""), reply.get("language"))


def decided_facts(verdict: Verdict) -> dict[str, Any]:
    """What a decided review keeps beside its decision: the deadline, and that it is the answer."""
    facts: dict[str, Any] = {} if verdict.due_at is None else {DUE_AT: verdict.due_at}
    return facts | ({FINAL: True} if verdict.final else {})


def is_first_approval(review: Review, verdict: Verdict) -> bool:
    """Whether two people must approve and this is the first of them."""
    needed = review.payload.get("approvals_needed", 1)
    return verdict.decision is Decision.APPROVE and needed > 1 and review.signed_by is None


def check_open(review: Review) -> None:
    """Raise Conflict with who decided what, unless the review is still open."""
    if review.state is ReviewState.STALE:
        raise Conflict(
            f"{review.id} is stale: the customer wrote again or the run is over; look at the newer"
            " review"
        )
    if review.state is not ReviewState.OPEN:
        raise Conflict(f"{review.id} was already decided: {describe_decision(review)}")


def check_colleagues_note(text: str) -> None:
    """Raise Conflict for a note to colleagues that is blank or too long."""
    if not text.strip():
        raise Conflict("the note is empty")
    _check_note_length(text)


def check_assignee(name: str | None) -> None:
    """Raise Conflict for a name that is blank or too long; None stands for nobody."""
    if name is None:
        return
    if not name.strip() or len(name) > LONGEST_NAME:
        raise Conflict(f"write a name of 1 to {LONGEST_NAME} characters")


def _check_same_as_shown(review: Review, verdict: Verdict) -> None:
    if review.version != verdict.version:
        raise Conflict(
            f"{review.id} has changed since you looked at it (version {review.version}); look again"
        )
    if verdict.payload_hash is not None and verdict.payload_hash != review.payload_hash:
        raise Conflict(f"{review.id} does not hold what you approved; look again")


def _check_note(verdict: Verdict) -> None:
    note = verdict.note or ""
    if verdict.decision is Decision.REVISE and not note.strip():
        raise IncompleteDecision("note", "say what the next draft should do differently")
    _check_note_length(note)


def _check_note_length(note: str) -> None:
    if len(note) > LONGEST_NOTE:
        raise IncompleteDecision(
            "note", f"the note is too long; write at most {LONGEST_NOTE:,} characters"
        )


def _check_due(verdict: Verdict, now: float) -> None:
    """Only an acknowledged message has a time until which it is answered."""
    if verdict.due_at is None:
        return
    if verdict.decision is not Decision.ACKNOWLEDGE:
        raise IncompleteDecision(
            "due_at", f"'{verdict.decision}' owes no answer; leave the deadline out"
        )
    if not now < verdict.due_at <= now + LONGEST_DUE:
        raise IncompleteDecision("due_at", "name a time within the next year")


def _check_edit(review: Review, verdict: Verdict) -> None:
    """Only decisions that send something bring a text; it must be complete, and ready."""
    if verdict.decision not in TAKE_TEXT:
        if verdict.edit is not None:
            raise IncompleteDecision(
                "edit", f"'{verdict.decision}' changes no reply; leave the new text out"
            )
        return

    edit = verdict.edit or {}
    text = edit.get("text")
    if not isinstance(text, str) or not text.strip():
        is_answer = review.kind is not ReviewKind.REPLY
        raise IncompleteDecision("edit", _EMPTY_ANSWER if is_answer else _EMPTY_REPLY)
    for name in edit:
        if name not in EDITABLE:
            raise IncompleteDecision("edit", f"{name!r} cannot be edited; leave it out")
    if not str(edit.get("subject", "unchanged")).strip():
        raise IncompleteDecision("edit", "the subject is empty; write one, or leave it out")
    _check_invitation_answer(review, edit)
    _check_addresses(review, edit)
    _check_attachments(edit)
    for placeholder in unfilled_placeholders(text):
        raise Conflict(f"the text still says {{{placeholder}}}; write what belongs there")


def _sends_as_shown(review: Review, verdict: Verdict) -> bool:
    is_reply = review.kind is ReviewKind.REPLY
    return is_reply and verdict.decision is Decision.ACKNOWLEDGE and verdict.edit is None


TAKE_TEXT = (Decision.EDIT, Decision.ACKNOWLEDGE, Decision.ANSWER)
"""Decisions that bring a text to be sent."""
_EMPTY_ANSWER = "the answer is empty; write something"
_EMPTY_REPLY = "the reply is empty; write the new text, or reject it"


def _check_invitation_answer(review: Review, edit: Mapping[str, Any]) -> None:
    answer = edit.get("invitation")
    if not answer:
        return
    reply = review.payload.get(REPLY) or {}
    if not reply.get("invitation"):
        raise Conflict("this reply answers no invitation")
    if answer not in INVITATION_ANSWERS:
        raise IncompleteDecision("edit", f"answer with one of: {', '.join(INVITATION_ANSWERS)}")


def _check_can_leave(review: Review) -> None:
    """Nobody can approve a reply that would go nowhere, or in which an answer is still to be
    written."""
    reply = review.payload.get(REPLY)
    if review.kind is not ReviewKind.REPLY or not isinstance(reply, dict):
        return
    if not reply.get("to"):
        raise IncompleteDecision("edit", _NO_RECIPIENT)
    if ANSWER in placeholders_in(str(reply.get("text") or "")):
        raise IncompleteDecision("edit", _NO_ANSWER)


def _check_addresses(review: Review, edit: Mapping[str, Any]) -> None:
    """Each recipient is one whole mail address where it was changed; there must be one."""
    reply = review.payload.get(REPLY)
    if "to" not in edit:
        if isinstance(reply, dict) and not reply.get("to"):
            raise IncompleteDecision("edit", _NO_RECIPIENT)
    elif not isinstance(edit["to"], str) or not is_whole(edit["to"]):
        raise IncompleteDecision("edit", f"{edit['to']!r} is not one mail address; write one")
    copies = edit.get("cc", [])
    if not isinstance(copies, list) or len(copies) > MOST_COPIES:
        raise IncompleteDecision("edit", f"`cc` is a list of at most {MOST_COPIES} addresses")
    for address in copies:
        if not isinstance(address, str) or not is_whole(address):
            raise IncompleteDecision("edit", f"{address!r} is not one mail address; correct it")


def _check_attachments(edit: Mapping[str, Any]) -> None:
    """The files of a reply are a list of ids; whose they are the store looks up."""
    named = edit.get("attachments", [])
    is_list = isinstance(named, list) and all(isinstance(name, str) for name in named)
    if not is_list or len(named) > MOST_FILES or len(set(named)) < len(named):
        raise IncompleteDecision(
            "edit", f"`attachments` is a list of at most {MOST_FILES} attachments, each once"
        )


_NO_ANSWER = f"the text still says {{{ANSWER}}}; edit it, and write the answer there"
_NO_RECIPIENT = "nobody knows whom this reply goes to; write the address"


def _check_second_person(review: Review, verdict: Verdict) -> None:
    if review.signed_by is None:
        return
    if review.signed_by.strip().casefold() == verdict.by.strip().casefold():
        raise Conflict(f"{review.id} needs two people: {review.signed_by} has approved it already")
