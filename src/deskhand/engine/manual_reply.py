"""Sends a reply that a person wrote to a handed-over message, in a flow of its own."""

from dataclasses import replace

from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.agents.replying.sending import Sending
from deskhand.agents.replying.services import dispatch_through
from deskhand.engine.decided import acknowledgement, decision_note
from deskhand.engine.journal import ANSWER
from deskhand.engine.loop import Flow
from deskhand.errors import PermanentError
from deskhand.model.envelope import Delta, Envelope, StageResult
from deskhand.model.message import REPLY, Reply
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewKind, canonical_hash
from deskhand.model.spec import AgentSpec, FlowSpec
from deskhand.ports import Store, ToolGate


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
