"""The way every reply leaves: kept back by whatever keeps it, else delivered once through the
gate."""

from collections.abc import Sequence
from typing import Any

from deskhand.agents.held import Held
from deskhand.agents.sending import (
    DISPATCH,
    Calls,
    Sending,
    before_leaving,
    held_reply,
    try_later,
    undelivered,
)
from deskhand.errors import RetryableError
from deskhand.model.causes import Cause
from deskhand.model.envelope import Delta, Envelope, StageResult
from deskhand.model.message import DELIVER
from deskhand.model.run import RunStatus
from deskhand.ports import StageContext, ToolGate
from deskhand.tools.services import ServiceResult


async def let_leave(
    envelope: Envelope,
    reply: dict[str, Any],
    sending: Sending,
    gate: ToolGate,
    ctx: StageContext,
    *,
    calls: Calls = DISPATCH,
    for_a_person: Sequence[tuple[Cause, str]] = (),
    noted: Delta | None = None,
) -> ServiceResult:
    """Deliver a reply (status `sent`), or say what it waits for. `noted` is put down together
    with the delivery."""

    async def deliver() -> StageResult:
        answer = await gate.call(DELIVER, reply, allowed=(DELIVER,), ctx=ctx, index=calls.deliver)
        if answer.verdict == "hold":
            raise Held(answer, ctx.effect_key(calls.deliver))
        if not answer.result.ok:
            raise undelivered("the reply could not be delivered", answer.result)
        return StageResult(
            call=answer.record() | {"result": answer.result.data}, delta=noted or Delta()
        )

    try:
        kept = await before_leaving(
            envelope, reply, sending, gate, ctx, calls=calls, for_a_person=for_a_person
        )
        if kept is not None:
            return kept
        delivered = await ctx.step(
            f"deliver{calls.number}", deliver, at_once=False
        )  # the ledger has it already
    except Held as held:
        return held_reply(reply, held) or held.result()
    except RetryableError as error:
        later = try_later(envelope, reply, str(error), sending)
        if later is None:
            raise
        return later
    return ServiceResult(
        output={"sent": True, **(delivered.call or {})["result"]}, status=RunStatus.SENT
    )
