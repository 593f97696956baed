"""Sends what a person wrote: a reply to a handed-over message, in a flow of its own, or a line in a
chat, whoever spoke last there."""

import re
from dataclasses import replace

from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.agents.replying.sending import Sending
from deskhand.agents.replying.services import dispatch_through
from deskhand.engine.decided import acknowledgement, decision_note
from deskhand.engine.journal import ANSWER
from deskhand.engine.loop import Flow
from deskhand.errors import IncompleteDecision, NotFound, PermanentError
from deskhand.model.envelope import Delta, Envelope, StageResult
from deskhand.model.message import REPLY, Reply
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewKind, canonical_hash
from deskhand.model.spec import AgentSpec, FlowSpec
from deskhand.ports import Store, ToolGate
from deskhand.ports.conversations import Chats

LONGEST_LINE = 10_000
"""Characters of what a colleague says at once in a chat."""
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


async def answer_chat(
    chats: Chats, chat: str, key: str, by: str, text: str, name: str | None = None
) -> bool:
    """Say something in a chat as a colleague, also first and again: the desk is silent from now on,
    and what waited for a person has its answer. Give the chat back when the desk may go on.

    `key` makes saying it twice harmless: then this is False. `name` is what the visitor is told.
    NotFound for a chat that is not there, IncompleteDecision for a text that cannot be said.
    """
    words = _UNFIT.sub(" ", text.replace("\r\n", "\n")).strip()
    if not words:
        raise IncompleteDecision("text", "the answer is empty; write something")
    if len(words) > LONGEST_LINE:
        raise IncompleteDecision("text", f"write at most {LONGEST_LINE:,} characters at once")
    if await chats.chat(chat) is None:
        raise NotFound(f"there is no chat {chat!r}")
    shown = " ".join((name or by).split())[:100]
    return await chats.answer(chat, f"{chat}/said:{key}", by, shown or by, words)


async def _leaves(category: str | None) -> str:
    """Modes are about what the desk writes; what a person wrote leaves in any of them."""
    return "auto"


def manual_reply_flow(gate: ToolGate, sending: Sending, parts: Parts) -> Flow:
    """A flow of one stage: gate, undo window and delivery of what a person wrote."""
    by_person = replace(sending, mode_for=_leaves, spot_checks=None)
    services = {"dispatch": dispatch_through(gate, by_person)}
    stage = AgentSpec(name=ANSWER, service="dispatch", output_key=ANSWER)
    spec = FlowSpec(name=ANSWER, start=ANSWER, stages={ANSWER: stage})
    return Flow(spec, {ANSWER: Agent(stage, replace(parts, services=services)).process})


async def newest_answer(store: Store, run_id: str) -> Review | None:
    """The last review of a run that a person answered; None where nobody did."""
    newest: Review | None = None
    after: tuple[float, str] | None = None
    while reviews := await store.find_reviews(ReviewFilter(run_id=run_id), after=after):
        newest = next(filter(_was_answered, reversed(reviews)), newest)
        after = (reviews[-1].created_at, reviews[-1].id)
    return newest


def _was_answered(review: Review) -> bool:
    """Whether a person wrote to the customer where the desk had nothing to send."""
    wrote = review.decision in (Decision.ANSWER, Decision.ACKNOWLEDGE)
    return wrote and review.kind is not ReviewKind.REPLY


def answer_in(review: Review, envelope: Envelope) -> StageResult:
    """The row that the answer becomes: a reply to this message, approved by who wrote it."""
    if envelope.message is None:
        raise PermanentError("there is no message that could be answered")
    written = review.edit or {}
    language = review.facts.get("language")
    reply = Reply.to_message(envelope.message, str(written.get("text") or ""), language=language)
    if written.get("subject"):
        reply = reply.changed(subject=str(written["subject"]))
    if "to" in written:
        reply = reply.changed(to=str(written["to"]))
    if "cc" in written:
        reply = reply.changed(cc=tuple(written["cc"]))
    if "attachments" in written:
        reply = reply.changed(attachments=tuple(written["attachments"]))
    output = reply.model_dump(mode="json")
    note = {**decision_note(review), "reply_hash": canonical_hash(output), "waits": None}
    metadata = {"decision": note, **acknowledgement(review)}
    return StageResult(delta=Delta(outputs={REPLY: output}, metadata=metadata, hops=-envelope.hops))
