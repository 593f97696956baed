"""The services every desk has: `match_ticket` finds the message's ticket, `review` asks a person,
`dispatch` delivers the reply."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from deskhand.agents.replying.delivery import ReplyDelivery
from deskhand.agents.replying.reply import reply_in
from deskhand.agents.replying.review_reasons import KnownSender, never_answered, review_reasons
from deskhand.agents.replying.sending import Sending
from deskhand.config.sections.expiry import ExpirySpec
from deskhand.errors import PermanentError
from deskhand.model.causes import cause_of_rule, each_once, words_by_cause
from deskhand.model.envelope import Ask, Envelope, StageResult
from deskhand.model.message import Message, iso
from deskhand.model.outcome import Outcome
from deskhand.model.run import ReviewKind
from deskhand.model.ticket_request import asserted_info, handed_in
from deskhand.model.understanding import Understanding
from deskhand.ports import StageContext, ToolGate
from deskhand.tickets.placing import TicketPlacing
from deskhand.tools.rules.replies import CLAIM, COMMITMENT, CONTENT, SUBJECT
from deskhand.tools.services import ServiceFunction, ServiceResult, reads_only


async def review(
    envelope: Envelope,
    ctx: StageContext,
    settings: Mapping[str, Any],
    answered_before: KnownSender = never_answered,
) -> ServiceResult:
    """Pass a confident reply on and ask a person about every other one.

    Where the settings do not say what is confident, a person is asked about all of them.
    """
    reply = reply_in(envelope)
    understanding = Understanding.of(envelope)
    why = await review_reasons(envelope, settings, answered_before)
    output = {
        "requires_approval": bool(why),
        "category": understanding.category,
        "confidence": understanding.confidence,
    }
    if settings.get("auto_send_at") is not None:
        output["threshold"] = settings["auto_send_at"]
    if not why:
        return ServiceResult(output=output)
    words = words_by_cause(why)
    reason = "; ".join(words.values())
    ask = Ask(
        kind=ReviewKind.REPLY,
        reason=reason,
        text=str(reply.get("text", "")),
        payload={"reply": reply},
        causes=tuple(words),
        words=words,
    )
    revise_at = envelope.metadata.get("drafted_by")
    return ServiceResult(
        output=output, outcome=Outcome.CONFIRM, ask=ask, reason=reason, resume=revise_at
    )


def review_through(
    gate: ToolGate, answered_before: KnownSender = never_answered
) -> ServiceFunction:
    """The service `review`; whoever is asked sees what the gate finds in the reply."""

    async def reviewed(
        envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> ServiceResult:
        asked = await review(envelope, ctx, settings, answered_before)
        result = limited(asked, settings)
        if result.ask is None:
            return result
        findings = await gate.look_through(reply_in(envelope), ctx)
        if not findings:
            return result
        causes = [*result.ask.causes]
        for finding in findings:
            rule = str(finding.get("rule"))
            about_words = rule in (COMMITMENT, CLAIM, SUBJECT)
            causes.append(cause_of_rule(rule if about_words else CONTENT))
        payload = {**result.ask.payload, "findings": list(findings)}
        return result.changed(ask=result.ask.changed(payload=payload, causes=each_once(causes)))

    return reads_only(reviewed)


def limited(result: ServiceResult, settings: Mapping[str, Any]) -> ServiceResult:
    """The result with the stage's own limit on how long a reply waits for a person.

    What leaves by itself keeps its own time.
    """
    ask = result.ask
    limit = settings.get("expire")
    if ask is None or limit is None or ask.expires_in is not None:
        return result
    expiry = ExpirySpec.model_validate(limit)
    fallback = expiry.fallback(ReviewKind(ask.kind))
    if fallback is None:
        return result
    return result.changed(
        ask=ask.changed(expires_in=expiry.after, fallback=fallback, reassign_to=expiry.to)
    )


def dispatch_through(gate: ToolGate, sending: Sending | None = None) -> ServiceFunction:
    """The service `dispatch`: delivers the reply once, when nothing holds it back any more."""
    sending = sending or Sending()

    async def dispatch(
        envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> ServiceResult:
        delivery = ReplyDelivery(envelope, sending, gate, ctx)
        result = limited(await delivery.deliver_reply(reply_in(envelope)), settings)
        if result.ask is None or result.ask.kind != ReviewKind.REPLY:
            return result
        revise_at = envelope.metadata.get("drafted_by")
        return result.changed(resume=revise_at)

    return reads_only(dispatch)


TakesUp = Callable[[str, Envelope], Awaitable[StageResult | None]]
"""What the run of a message takes over of its ticket, by its id, from other conversations."""


def match_through(placing: TicketPlacing, takes_up: TakesUp | None = None) -> ServiceFunction:
    """The stage that stands before the others. Its output names the ticket and says why it is
    this one. A proven customer who joins it from another channel is answered what waits there too,
    and goes on where he was asked."""

    async def match_ticket(
        envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> ServiceResult:
        message = envelope.message
        if message is None:
            raise PermanentError("there is no message to find a ticket for")
        alone = ctx.goes_on_without_model
        placed = await placing.place(ctx.run_id, message, without_model=alone)
        fields: dict[str, Any] = placed.model_dump(mode="json")
        output = fields | _as_it_came(message, placed.thread_id)
        result = ServiceResult(output=output, answered=placed.answered or None)
        if takes_up is None or placed.is_new or not message.principal.may_act:
            return result
        taken = await takes_up(placed.ticket_id, envelope)
        if taken is None:
            return result
        await ctx.step("take up", partial(_given, taken.changed(next=None)))
        return result.changed(next=taken.next)

    return match_ticket


async def _given(result: StageResult) -> StageResult:
    return result


def _as_it_came(message: Message, thread_id: str) -> dict[str, Any]:
    """The ticket that the flow works on, which no stage changes: whose it is and what was
    written, by a program's account where one handed it in."""
    customer_id = thread_id.rpartition(":")[0]
    request = handed_in(message)
    if request is not None:
        given = request.model_dump(mode="json", include={"messages", "metadata"})
        info = asserted_info(message).model_dump(exclude_none=True)
        return {"customer_id": customer_id, "customer_info": info, **given}
    said = {
        "role": "customer",
        "content": message.words,
        "timestamp": iso(message.received_at),
    }
    return {"customer_id": customer_id, "messages": [said]}
