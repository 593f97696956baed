"""The way every reply leaves: held back by whatever holds it, else delivered once by the gate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from deskhand.agents.replying.closing import Closing, PendingReply
from deskhand.agents.replying.doubt import LOOK_AFTER, InDoubt, asked_about
from deskhand.agents.replying.held_replies import handed_over, released_after, wait_for_person
from deskhand.agents.replying.sending import LEFT, SHADOWED, ReviewReason, Sending, status_once_left
from deskhand.errors import DeskhandError, PermanentError, RetryableError
from deskhand.model.authorship import WRITTEN
from deskhand.model.causes import Cause, cause_of_rule
from deskhand.model.envelope import Delta, Envelope, StageResult
from deskhand.model.message import DELIVER, KEEP_DRAFT, ON_REQUEST, OUTBOX_AWAY, REPLY
from deskhand.model.outcome import Outcome
from deskhand.model.results import ToolResult
from deskhand.model.run import RunStatus, canonical_hash
from deskhand.model.understanding import Understanding
from deskhand.model.waiting import Waiting, WaitKind
from deskhand.ports import Held, StageContext, ToolGate
from deskhand.scheduling.invitations import DECLINED
from deskhand.tools.effects import outcome_unknown
from deskhand.tools.rules.limits import OVER_CAP
from deskhand.tools.rules.recipients import RECIPIENT
from deskhand.tools.rules.replies import (
    ALWAYS_ASK,
    CLAIM,
    COMMITMENT,
    CONTENT,
    DOUBT,
    SUBJECT,
)
from deskhand.tools.services import ServiceResult

RETRY_AFTER = (2.0, 5.0, 15.0, 60.0, 300.0, 900.0, 1800.0, *[3600.0] * 23)
"""Seconds before each further attempt while a mail server is away: about a day in all."""
FIRST_CALL = 2_000_000
"""The call index of an agent's first delivery, out of the way of the agent's own calls."""
_AFTER_THE_UNDO_WINDOW = (WaitKind.UNDO, WaitKind.RETRY, WaitKind.DOUBT)
_ABOUT_REPLIES = (ALWAYS_ASK, CONTENT, COMMITMENT, CLAIM, SUBJECT, DOUBT, RECIPIENT, OVER_CAP)
"""Rules of the gate that speak of a reply: a reviewer may edit what they hold."""
_LEFT = "left"
"""Metadata: how many replies of which run have left."""


class Calls(NamedTuple):
    """Where among a visit's effects a reply is delivered and its draft kept."""

    deliver: int = 0
    draft: int = 1
    suffix: str = ""
    """After the names of its steps, where a visit may have several replies."""

    @classmethod
    def numbered(cls, number: int) -> "Calls":
        """The calls for the reply of this number, counted from 0, that an agent handed in."""
        first = FIRST_CALL + 2 * number
        return cls(first, first + 1, f" {number + 1}" if number else "")


DISPATCH = Calls()
"""The only reply of a `dispatch` stage."""


class UndeliveredError(RetryableError):
    """A delivery failed that may succeed another time."""

    def __init__(self, what: str, problem: str, *, waits: bool = False) -> None:
        """`waits` where whatever keeps it here may take hours, also for a reply that is no mail."""
        super().__init__(f"{what}: {problem}")
        self.problem = problem
        self.waits = waits


def undelivered(what: str, result: ToolResult) -> DeskhandError:
    """The error for a failed delivery: worth another attempt where it may have left, or may leave
    another time."""
    problem = str(result.for_model()["error"])
    error = result.error
    if error is not None and error.details.get("retry") == "ask_person":
        return PermanentError(f"{what}: {problem}")
    if outcome_unknown(result) or (error is not None and error.recoverable):
        is_outbox = error is not None and error.error_type == OUTBOX_AWAY
        return UndeliveredError(what, problem, waits=is_outbox)
    return PermanentError(f"{what}: {problem}")


def held_result(held: Held, stage: str | None = None) -> ServiceResult:
    """The stage stops until a person decides about a held call, or the desk is resumed."""
    return ServiceResult(
        outcome=Outcome.CONFIRM, ask=held.ask, reason=held.answer.reason, resume=stage
    )


@dataclass(frozen=True, slots=True)
class ReplyDelivery:
    """Delivers the replies of one visit of a stage, or says what each of them waits for."""

    envelope: Envelope
    sending: Sending
    gate: ToolGate
    ctx: StageContext
    calls: Calls = DISPATCH

    async def deliver_reply(
        self,
        reply: dict[str, Any],
        review_reasons: Sequence[ReviewReason] = (),
        noted: Delta | None = None,
    ) -> ServiceResult:
        """Deliver a reply (status `sent`, `answered` for a program), or return what it waits for.

        `review_reasons` is why a person must send it. `noted` is recorded with the delivery.
        """
        held_back = await self.hold_back(reply, review_reasons)
        if held_back is not None:
            return held_back
        unread = await self._unread(reply)
        if unread is not None:
            return unread
        try:
            time_lost = await self._time_lost(reply)
            if time_lost is not None:
                return time_lost
            delivered = await self.ctx.step(
                f"deliver{self.calls.suffix}",
                partial(self._deliver, reply, noted or Delta()),
                at_once=False,  # the ledger has it already
            )
        except InDoubt as doubt:
            return self._ask_whether_it_left(reply, doubt)
        except RetryableError as error:
            later = self.try_later(reply, error)
            if later is None:
                raise
            return later
        if isinstance(delivered, Held):
            return self._held_reply(reply, delivered) or held_result(delivered)
        result = (delivered.call or {})["result"]
        status = status_once_left(self.envelope.message)
        return ServiceResult(output={"sent": True, **result}, status=status)

    async def close(
        self, closing: Closing, output: dict[str, Any], first: int = 0
    ) -> ServiceResult:
        """Send what an agent handed in, or stop for what holds it back; the run ends here.

        `output` is what the stage has to show. `first` is how many replies this visit has closed
        with before, each revised since. A run that stopped for a person comes back here, and what
        has left is not sent again.
        """
        for number, handed_in in enumerate(closing.replies, first):
            if number < self._left():
                continue
            calls = Calls.numbered(number)
            await self.ctx.step(f"reply{calls.suffix}", partial(_record_reply, handed_in))
            if closing.escalated is not None:
                break
            result = await self._send(number, handed_in)
            if result.outcome is not Outcome.SUCCESS or result.status not in LEFT:
                return _ended(result, output)
        if closing.escalated is not None:
            return ServiceResult(
                output=output,
                outcome=Outcome.TERMINATE,
                status=RunStatus.NEEDS_REVIEW,
                reason=closing.escalated,
            )
        status = status_once_left(self.envelope.message)
        return _ended(ServiceResult(output={"sent": True}, status=status), output)

    async def hold_back(
        self, reply: dict[str, Any], review_reasons: Sequence[ReviewReason] = ()
    ) -> ServiceResult | None:
        """What keeps a reply from leaving now; None when nothing does."""
        understanding = Understanding.of(self.envelope)
        mode = await self.sending.mode_of(understanding)
        if mode == "shadow":
            output = {"sent": False, "mode": mode}
            return ServiceResult(output=output, status=RunStatus.DONE, reason=SHADOWED)
        if not self._is_approved(reply):
            silent = await self.sending.taken_over(self.envelope.message)
            if silent is not None:
                return handed_over(silent)
            for_person = await self._for_a_person(reply, mode, review_reasons)
            if for_person is not None:
                return for_person
            checks = self.sending.spot_checks
            topic = understanding.topic
            if checks is not None and await checks.checks(self.envelope.run_id, topic):
                why = (Cause.SPOT_CHECK, "spot check: it could have left by itself")
                more = {"mode": mode, "counts": True}
                return wait_for_person(reply, Waiting(WaitKind.SPOT_CHECK), [why], more)
        undo = self.sending.undo_for(self.envelope.message)
        if undo > 0 and not self._has_waited(reply):
            words = f"leaves by itself after {undo:g} s unless somebody stops it"
            waits = wait_for_person(
                reply, Waiting(WaitKind.UNDO), [(Cause.UNDO_WINDOW, words)], {"mode": mode}
            )
            return released_after(undo, waits)
        return None

    def try_later(self, reply: dict[str, Any], error: RetryableError) -> ServiceResult | None:
        """A reply that did not leave now waits without holding anything up; None when it has
        waited long enough."""
        waited = Waiting.of(self._decision_about(reply))
        tried = waited.attempt if waited is not None and waited.kind is WaitKind.RETRY else 0
        may_wait = self.sending.by_mail(self.envelope.message)
        if isinstance(error, UndeliveredError):
            may_wait = may_wait or error.waits
        if tried >= len(RETRY_AFTER) or not may_wait:
            return None
        pause = RETRY_AFTER[tried]
        why = (Cause.DELIVERY, f"{error}; tried again after {pause:g} s")
        problem = error.problem if isinstance(error, UndeliveredError) else str(error)
        waiting = Waiting(WaitKind.RETRY, tried + 1, problem)
        return released_after(pause, wait_for_person(reply, waiting, [why]))

    def _ask_whether_it_left(self, reply: dict[str, Any], doubt: InDoubt) -> ServiceResult:
        """Look for the copy of a reply a few times, then ask a person; raises where looking
        again at once is enough."""
        waited = Waiting.of(self._decision_about(reply))
        looked = waited.attempt if waited is not None and waited.kind is WaitKind.DOUBT else 0
        by_mail = self.sending.by_mail(self.envelope.message)
        if not by_mail and not doubt.for_good:
            raise doubt
        is_over = doubt.for_good or looked >= len(LOOK_AFTER)
        key = self.ctx.effect_key(self.calls.deliver)
        waiting = Waiting(WaitKind.DOUBT, looked + 1, doubt.problem)
        return asked_about(reply, waiting, key, None if is_over else LOOK_AFTER[looked])

    async def _unread(self, reply: dict[str, Any]) -> ServiceResult | None:
        """Have a second model read what another one wrote; the gate looks at what it says. Where
        nobody can be asked, the reply waits."""
        reader = self.sending.second_reader
        if reader is None:
            return None
        to_read = await self.gate.to_read_again(reply, self.ctx)
        step = f"read again{self.calls.suffix}"
        problem = await reader.read_again(to_read, self.envelope, self.ctx, step)
        if problem is None:
            return None
        findings = list(await self.gate.look_through(reply, self.ctx))
        why = (Cause.UNBACKED_CLAIM, problem)
        more = {"rule": CLAIM, "findings": findings}
        return wait_for_person(reply, Waiting(WaitKind.HOLD), [why], more)

    # --- what a person looks at first

    async def _for_a_person(
        self, reply: dict[str, Any], mode: str, review_reasons: Sequence[ReviewReason]
    ) -> ServiceResult | None:
        """Why a person must look at a reply that nobody has approved; None where nobody must."""
        message = self.envelope.message
        if message is not None and ON_REQUEST in message.headers:
            words = "older mail, handed in on request: a person looks at every answer"
            why = (Cause.ON_REQUEST, words)
            return wait_for_person(reply, Waiting(WaitKind.HOLD), [why], {"mode": mode})
        too_many = await self.sending.too_many(self.envelope)
        if too_many is not None:
            why = (Cause.PACE, too_many)
            return wait_for_person(reply, Waiting(WaitKind.HOLD), [why], {"mode": mode})
        if mode != "draft" and not review_reasons:
            return None
        draft = await self._keep_draft(reply) if self.sending.by_mail(message) else {}
        if isinstance(draft, Held):
            return self._held_reply(reply, draft) or held_result(draft)
        reasons = review_reasons or [(Cause.MODE, "draft mode: a person sends it")]
        more = {"mode": mode, "counts": not review_reasons, **draft}
        return wait_for_person(reply, Waiting(WaitKind.DRAFT), reasons, more)

    async def _time_lost(self, reply: dict[str, Any]) -> ServiceResult | None:
        """The last thing before a reply leaves: the times it may speak of become the customer's,
        or a person looks."""
        waited = Waiting.of(self._decision_about(reply))
        looked_at = waited is not None and waited.kind is WaitKind.TIME_LOST
        if self.sending.confirm_times is None or looked_at:
            return None
        runs = [self.envelope.run_id]
        adopted = self.envelope.metadata.get("adopted_from")
        if isinstance(adopted, str):
            runs.append(adopted)
        lost = await self.sending.confirm_times(runs, reply.get("invitation") != DECLINED)
        if lost is None:
            return None
        return wait_for_person(reply, Waiting(WaitKind.TIME_LOST), [(Cause.UNBACKED_PROMISE, lost)])

    def _held_reply(self, reply: dict[str, Any], held: Held) -> ServiceResult | None:
        """A reply held for what it says, for whom it goes to, or because many have left today may
        be edited by a reviewer; None when it was held for something else."""
        rule = held.answer.rule
        if rule not in _ABOUT_REPLIES:
            return None
        findings = held.answer.review(str(held.key)).get("findings", [])
        cause = Cause.RECIPIENT if rule == RECIPIENT else cause_of_rule(rule)
        why = (cause, held.answer.reason)
        return wait_for_person(
            reply, Waiting(WaitKind.HOLD), [why], {"rule": rule, "findings": findings}
        )

    # --- through the gate

    async def _deliver(self, reply: dict[str, Any], noted: Delta) -> StageResult | Held:
        index = self.calls.deliver
        answer = await self.gate.call(DELIVER, reply, allowed=(DELIVER,), ctx=self.ctx, index=index)
        if answer.verdict == "hold":
            return Held(answer, self.ctx.effect_key(index))
        if outcome_unknown(answer.result):
            raise InDoubt.of(answer.result)
        if not answer.result.ok:
            raise undelivered("the reply could not be delivered", answer.result)
        return StageResult(call=answer.record() | {"result": answer.result.data}, delta=noted)

    async def _keep_draft(self, reply: dict[str, Any]) -> dict[str, Any] | Held:
        """Keep a draft in the mailbox; returns its id as the field `draft`."""

        async def keep() -> StageResult | Held:
            index = self.calls.draft
            answer = await self.gate.call(
                KEEP_DRAFT, reply, allowed=(KEEP_DRAFT,), ctx=self.ctx, index=index
            )
            if answer.verdict == "hold":
                return Held(answer, self.ctx.effect_key(index))
            if not answer.result.ok:
                raise undelivered("the draft could not be kept", answer.result)
            return StageResult(call=answer.record() | {"result": answer.result.data})

        kept = await self.ctx.step(f"draft{self.calls.suffix}", keep)
        if isinstance(kept, Held):
            return kept
        return {"draft": ((kept.call or {}).get("result") or {}).get("draft")}

    async def _send(self, number: int, handed_in: PendingReply) -> ServiceResult:
        """Deliver one of the replies that an agent handed in, as its record stands now."""
        envelope = self.ctx.envelope
        left = Delta(metadata={_LEFT: {"run": self.ctx.run_id, "replies": number + 1}})
        reasons: list[ReviewReason] = []
        if handed_in.review_reason is not None:
            reasons.append((Cause.ESCALATED, handed_in.review_reason))
        reasons += await self.sending.review_reasons(envelope)
        delivery = replace(self, envelope=envelope, calls=Calls.numbered(number))
        return await delivery.deliver_reply(envelope.output(REPLY), reasons, left)

    # --- what was decided before

    def _left(self) -> int:
        """How many replies of this run have left; what an adopted run sent does not count."""
        noted = self.ctx.envelope.metadata.get(_LEFT)
        if not isinstance(noted, dict) or noted.get("run") != self.ctx.run_id:
            return 0
        return int(noted["replies"])

    def _decision_about(self, reply: dict[str, Any]) -> dict[str, Any]:
        """The decision that let exactly this reply pass; empty when there was none."""
        note = self.envelope.metadata.get("decision")
        if not isinstance(note, dict) or note.get("reply_hash") != canonical_hash(reply):
            return {}
        return note

    def _is_approved(self, reply: dict[str, Any]) -> bool:
        """A person approved it, or its undo window is over, which begins after approval."""
        return bool(self._decision_about(reply))

    def _has_waited(self, reply: dict[str, Any]) -> bool:
        """Whether its undo window is over. A tool call that nobody decided about in time ends no
        window."""
        waited = Waiting.of(self._decision_about(reply))
        return waited is not None and waited.kind in _AFTER_THE_UNDO_WINDOW


async def _record_reply(handed_in: PendingReply) -> StageResult:
    """Record the reply and who wrote it: reviewers see it here, and one of them may change it."""
    reply = handed_in.reply
    written = handed_in.written.as_metadata(str(reply["text"]))
    return StageResult(delta=Delta(outputs={REPLY: reply}, metadata={WRITTEN: written}))


def _ended(result: ServiceResult, output: dict[str, Any]) -> ServiceResult:
    """No further stage: what this one handed in is the answer to the message."""
    is_over = result.outcome is Outcome.SUCCESS
    outcome = Outcome.TERMINATE if is_over else result.outcome
    return result.changed(output=output | result.output, outcome=outcome)
