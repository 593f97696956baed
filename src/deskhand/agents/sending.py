"""What happens to a reply before it leaves: its mode, its conversation's pace, the time to
change one's mind."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from deskhand.agents.held import Held
from deskhand.errors import DeskhandError, PermanentError, RetryableError
from deskhand.model.causes import Cause, cause_of_rule, each_once
from deskhand.model.envelope import Ask, Envelope, StageResult
from deskhand.model.message import ON_REQUEST, Message
from deskhand.model.outcome import Outcome
from deskhand.model.results import ToolResult
from deskhand.model.run import EXPIRY, Decision, ReviewKind, RunStatus, canonical_hash
from deskhand.model.understanding import Understanding
from deskhand.ports import SpotChecks, StageContext, ToolGate
from deskhand.scheduling.invitations import DECLINED
from deskhand.tools.delivery import KEEP_DRAFT
from deskhand.tools.effects import outcome_unknown
from deskhand.tools.rules.replies import ALWAYS_ASK, COMMITMENT, CONTENT
from deskhand.tools.services import ServiceResult
from deskhand.trust.standing import MODES

UNDO, HOLD, DRAFT, SPOT_CHECK, RETRY = "undo", "hold", "draft", "spot_check", "retry"
TIME_LOST = "time_lost"
RETRY_AFTER = (2.0, 5.0, 15.0, 60.0, 300.0, 900.0, 1800.0, *[3600.0] * 23)
"""Seconds before each further attempt while a mail server is away: about a day in all, as mail
servers do it."""
SHADOWED = "shadow mode: written, not sent"
ASKED_IN_DRAFT = "draft mode: a question to the customer is a person's to ask"


class Calls(NamedTuple):
    """Where among a visit's effects a reply is delivered and its draft kept, and what its steps
    are called."""

    deliver: int = 0
    draft: int = 1
    number: str = ""
    """After the names of its steps, where a visit may have several replies."""


DISPATCH = Calls()

ReasonsFor = Callable[[Envelope], Awaitable[list[tuple[Cause, str]]]]
"""Why a person looks at a reply first, the weightiest reason first."""


async def _no_reason(envelope: Envelope) -> list[tuple[Cause, str]]:
    return []


async def _none_lately(conversation: str, run_id: str) -> int:
    return 0


async def _always_auto(category: str | None) -> str:
    return "auto"


@dataclass(frozen=True, slots=True)
class Sending:
    """How a desk lets replies leave."""

    mode_for: Callable[[str | None], Awaitable[str]] = _always_auto
    """The mode in force, `auto`, `draft` or `shadow`, by category; read anew for every reply,
    since it may change."""
    undo_for: Callable[[Message | None], float] = lambda message: 0.0
    """Seconds a reply to this message waits before it leaves."""
    by_mail: Callable[[Message | None], bool] = lambda message: False
    """Whether the message's channel has a place for drafts, and a server that may be away for a
    while."""
    sent_lately: Callable[[str, str], Awaitable[int]] = _none_lately
    """How many replies left in a conversation within the last hour, those of one run not
    counted."""
    replies_per_hour: int = 10
    replies_per_run: int = 1
    """How many replies an agent may hand in."""
    confirm_times: Callable[[Sequence[str], bool], Awaitable[str | None]] | None = None
    """Makes the times that these runs hold the customer's, or gives them back where he does not
    want them (False); why that cannot be. None where no times are held."""
    always_ask: frozenset[str] = frozenset()
    """Categories that are always a person's: the gate holds their replies, and only what
    desk.yaml asks is asked."""
    own_questions: frozenset[str] = frozenset()
    """What desk.yaml asks the customer, word for word."""
    reasons: ReasonsFor = _no_reason
    """What the flow's own review stage would ask a person about: it holds for replies that do
    not come by it, too."""
    spot_checks: SpotChecks | None = None
    """Who says which replies a person looks at although they could leave by themselves; None for
    nobody."""

    async def mode_of(self, understanding: Understanding) -> str:
        """The mode in force for a message; the lowest where its intent and category differ."""
        modes = [await self.mode_for(topic) for topic in understanding.topics or (None,)]
        return min(modes, key=MODES.index)

    async def too_many(self, envelope: Envelope) -> str | None:
        """Why no further reply may leave in this conversation by itself: two machines may be
        talking to each other."""
        if envelope.message is None:
            return None
        count = await self.sent_lately(envelope.message.conversation, envelope.run_id)
        if count < self.replies_per_hour:
            return None
        return f"{count} replies have left in this conversation within an hour"

    async def keeps_question(
        self, envelope: Envelope, text: str
    ) -> tuple[RunStatus, str, Cause] | None:
        """Where a run ends instead of asking the customer by itself, and why."""
        understanding = Understanding.of(envelope)
        mode = await self.mode_of(understanding)
        if mode == "shadow":
            return RunStatus.DONE, SHADOWED, Cause.MODE
        topic = understanding.topic_in(self.always_ask)
        if topic is not None and text.strip() not in self.own_questions:
            words = f"{topic} is always looked at by a person, a question to the customer as well"
            return RunStatus.NEEDS_REVIEW, words, Cause.ALWAYS_ASK
        if mode == "draft":
            words = ASKED_IN_DRAFT
            return RunStatus.NEEDS_REVIEW, words, Cause.MODE
        reason = await self.too_many(envelope)
        return None if reason is None else (RunStatus.NEEDS_REVIEW, reason, Cause.PACE)


async def before_leaving(
    envelope: Envelope,
    reply: dict[str, Any],
    sending: Sending,
    gate: ToolGate,
    ctx: StageContext,
    *,
    calls: Calls = DISPATCH,
    for_a_person: Sequence[tuple[Cause, str]] = (),
) -> ServiceResult | None:
    """What keeps a reply from leaving now; None when nothing does. `for_a_person` is why a
    person sends it anyway."""
    message = envelope.message
    understanding = Understanding.of(envelope)
    mode = await sending.mode_of(understanding)
    if mode == "shadow":
        return ServiceResult(
            output={"sent": False, "mode": mode}, status=RunStatus.DONE, reason=SHADOWED
        )
    if not _approved(envelope, reply):
        if message is not None and ON_REQUEST in message.headers:
            words = "older mail, handed in on request: a person looks at every answer"
            return _wait(reply, HOLD, words, Cause.ON_REQUEST, mode=mode)
        if (fast := await sending.too_many(envelope)) is not None:
            return _wait(reply, HOLD, fast, Cause.PACE, mode=mode)
        if mode == "draft" or for_a_person:
            kept = await _keep_draft(reply, gate, ctx, calls) if sending.by_mail(message) else {}
            why = for_a_person or ((Cause.MODE, "draft mode: a person sends it"),)
            words, causes = "; ".join(words for _, words in why), tuple(cause for cause, _ in why)
            return _wait(reply, DRAFT, words, *causes, mode=mode, counts=not for_a_person, **kept)
        if sending.spot_checks is not None and await sending.spot_checks.checks(
            envelope.run_id, understanding.topic
        ):
            words = "spot check: it could have left by itself"
            return _wait(reply, SPOT_CHECK, words, Cause.SPOT_CHECK, mode=mode, counts=True)
    undo = sending.undo_for(message)
    if undo > 0 and not _waited(envelope, reply):
        words = f"leaves by itself after {undo:g} s unless somebody stops it"
        return _wait(reply, UNDO, words, Cause.UNDO_WINDOW, expires_in=undo, mode=mode)
    return await _times_lost(envelope, reply, sending)


async def _times_lost(
    envelope: Envelope, reply: dict[str, Any], sending: Sending
) -> ServiceResult | None:
    """The last thing before a reply leaves: the times it may speak of become the customer's, or
    a person looks."""
    if sending.confirm_times is None or _decided(envelope, reply).get("waits") == TIME_LOST:
        return None
    adopted = envelope.metadata.get("adopted_from")
    runs = [envelope.run_id, *([adopted] if isinstance(adopted, str) else [])]
    lost = await sending.confirm_times(runs, reply.get("invitation") != DECLINED)
    return None if lost is None else _wait(reply, TIME_LOST, lost, Cause.UNBACKED_PROMISE)


def held_reply(reply: dict[str, Any], held: Held) -> ServiceResult | None:
    """A reply held for what it says is a reviewer's to edit, too; None when it was held for
    something else."""
    if held.answer.rule not in (ALWAYS_ASK, CONTENT, COMMITMENT):
        return None
    shown, rule = held.answer.review(str(held.key)), held.answer.rule
    found = shown.get("findings", [])
    return _wait(reply, HOLD, held.answer.reason, cause_of_rule(rule), rule=rule, findings=found)


def try_later(
    envelope: Envelope, reply: dict[str, Any], why: str, sending: Sending
) -> ServiceResult | None:
    """A reply that did not leave now waits without holding anything up; None when it has waited
    long enough."""
    waits = str(_decided(envelope, reply).get("waits") or "")
    tried = int(waits.partition(":")[2]) if waits.startswith(f"{RETRY}:") else 0
    if tried >= len(RETRY_AFTER) or not sending.by_mail(envelope.message):
        return None
    pause = RETRY_AFTER[tried]
    words = f"{why}; tried again after {pause:g} s"
    return _wait(reply, f"{RETRY}:{tried + 1}", words, Cause.DELIVERY, expires_in=pause)


def _wait(
    reply: dict[str, Any],
    waits: str,
    reason: str,
    *causes: Cause,
    expires_in: float | None = None,
    **more: Any,
) -> ServiceResult:
    payload = {"reply": reply, "waits": waits, **more}
    ask = Ask(
        kind=ReviewKind.REPLY,
        reason=reason,
        text=str(reply["text"]),
        payload=payload,
        causes=each_once(causes),
        again=True,
        expires_in=expires_in,
        fallback=None if expires_in is None else Decision.APPROVE,
    )
    return ServiceResult(
        output={"sent": False, "waits": waits}, outcome=Outcome.CONFIRM, ask=ask, reason=reason
    )


async def _keep_draft(
    reply: dict[str, Any], gate: ToolGate, ctx: StageContext, calls: Calls
) -> dict[str, Any]:
    async def keep() -> StageResult:
        answer = await gate.call(
            KEEP_DRAFT, reply, allowed=(KEEP_DRAFT,), ctx=ctx, index=calls.draft
        )
        if answer.verdict == "hold":
            raise Held(answer, ctx.effect_key(calls.draft))
        if not answer.result.ok:
            raise undelivered("the draft could not be kept", answer.result)
        return StageResult(call=answer.record() | {"result": answer.result.data})

    kept = await ctx.step(f"draft{calls.number}", keep)
    return {"draft": ((kept.call or {}).get("result") or {}).get("draft")}


def undelivered(what: str, result: ToolResult) -> DeskhandError:
    """Worth another attempt where it may have left, or may leave another time."""
    words = f"{what}: {result.for_model()['error']}"
    if result.error is not None and result.error.details.get("retry") == "ask_person":
        return PermanentError(words)
    if outcome_unknown(result) or (result.error is not None and result.error.recoverable):
        return RetryableError(words)
    return PermanentError(words)


def _decided(envelope: Envelope, reply: dict[str, Any]) -> dict[str, Any]:
    """The decision that let exactly this reply pass; nothing when there was none."""
    note = envelope.metadata.get("decision")
    fits = isinstance(note, dict) and note.get("reply_hash") == canonical_hash(reply)
    return note if fits and isinstance(note, dict) else {}


def _approved(envelope: Envelope, reply: dict[str, Any]) -> bool:
    """A person said yes to it, or its time to be stopped is over: then it was looked at before
    that began."""
    return bool(_decided(envelope, reply))


def _waited(envelope: Envelope, reply: dict[str, Any]) -> bool:
    note = _decided(envelope, reply)
    return (
        str(note.get("waits") or "").partition(":")[0] in (UNDO, RETRY) or note.get("by") == EXPIRY
    )
