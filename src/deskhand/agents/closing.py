"""The end of an agent's work, as its own calls asked for it: `send_reply`, `create_draft`,
`escalate`.

Whoever makes the calls (a walked plan, the tool loop) collects those that went through and closes
with them, in the same visit of the stage. A run that stops for a person in between comes back here,
and what has left is not sent again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from deskhand.agents.leaving import let_leave
from deskhand.agents.sending import Calls, Sending
from deskhand.errors import PermanentError
from deskhand.model.causes import Cause
from deskhand.model.envelope import Delta, Envelope, StageResult
from deskhand.model.message import CREATE_DRAFT, ESCALATE, REPLY, SEND_REPLY, Reply
from deskhand.model.outcome import Outcome
from deskhand.model.run import RunStatus
from deskhand.ports import StageContext, ToolGate
from deskhand.tools.services import ServiceResult

FIRST_CALL = 2_000_000
"""The call index of the first delivery, out of the way of an agent's own calls."""
DRAFTED = "the agent asks for a look at this reply before it is sent"
_LEFT = "left"
"""Metadata: how many replies of which run have left."""


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A reply that waits for the end of the work."""

    reply: dict[str, Any]
    for_a_person: str | None = None
    """Why a person sends it, whatever the desk's mode."""


@dataclass(frozen=True, slots=True)
class Closing:
    """What an agent's calls come to."""

    replies: tuple[HandedIn, ...] = ()
    escalated: str | None = None
    """Why a person is asked for; then nothing leaves by itself any more."""

    def __bool__(self) -> bool:
        return bool(self.replies) or self.escalated is not None

    @classmethod
    def of(
        cls, calls: Iterable[tuple[str, Mapping[str, Any]]], envelope: Envelope, most: int = 1
    ) -> Self:
        """From the calls that went through, each a tool and its checked arguments; of the
        replies the first `most`."""
        replies: list[HandedIn] = []
        reasons: list[str] = []
        for tool, arguments in calls:
            if tool in (SEND_REPLY, CREATE_DRAFT):
                replies.append(
                    HandedIn(_reply(arguments, envelope), DRAFTED if tool == CREATE_DRAFT else None)
                )
            elif tool == ESCALATE:
                reasons.append(str(arguments.get("reason", "")))
        return cls(tuple(replies[:most]), "; ".join(reasons) if reasons else None)

    @classmethod
    def answering(cls, envelope: Envelope, text: str) -> Self:
        """What an agent said last, as a reply: for one that neither sent, drafted nor asked for
        a person."""
        return cls((HandedIn(_reply({"body": text}, envelope)),))


async def close(
    closing: Closing,
    output: dict[str, Any],
    sending: Sending | None,
    gate: ToolGate,
    ctx: StageContext,
    *,
    first: int = 0,
) -> ServiceResult:
    """Send what was handed in, or stop for what keeps it; the run ends here. `output` is what the
    stage has to show.

    `first` is how many replies this visit of the stage has closed with before, each revised since.
    """
    for number, handed_in in enumerate(closing.replies, first):
        if number < _left(ctx):
            continue
        await ctx.step(f"reply{_numbered(number)}", partial(_put_down, handed_in.reply))
        if closing.escalated is not None:
            break
        result = await _send(number, handed_in, sending or Sending(), gate, ctx)
        if result.outcome is not Outcome.SUCCESS or result.status != RunStatus.SENT:
            return _ended(result, output)
    if closing.escalated is not None:
        return ServiceResult(
            output=output,
            outcome=Outcome.TERMINATE,
            status=RunStatus.NEEDS_REVIEW,
            reason=closing.escalated,
        )
    sent = ServiceResult(output={"sent": True}, status=RunStatus.SENT)
    return _ended(sent, output)


async def _put_down(reply: dict[str, Any]) -> StageResult:
    """The reply as reviewers see it, and as one of them may have changed it when the run comes
    back."""
    return StageResult(delta=Delta(outputs={REPLY: reply}))


async def _send(
    number: int, handed_in: HandedIn, sending: Sending, gate: ToolGate, ctx: StageContext
) -> ServiceResult:
    reply = ctx.envelope.output(REPLY)
    calls = Calls(FIRST_CALL + 2 * number, FIRST_CALL + 2 * number + 1, _numbered(number))
    left = Delta(metadata={_LEFT: {"run": ctx.run_id, "replies": number + 1}})
    asked = (
        [(Cause.ESCALATED, handed_in.for_a_person)] if handed_in.for_a_person is not None else []
    )
    why = [*asked, *await sending.reasons(ctx.envelope)]
    return await let_leave(
        ctx.envelope, reply, sending, gate, ctx, calls=calls, for_a_person=why, noted=left
    )


def _ended(result: ServiceResult, output: dict[str, Any]) -> ServiceResult:
    """No further stage: what this one handed in is the answer to the message."""
    over = result.outcome is Outcome.SUCCESS
    outcome = Outcome.TERMINATE if over else result.outcome
    return result.changed(output=output | result.output, outcome=outcome)


def _left(ctx: StageContext) -> int:
    """Counted by run: what an adopted run sent is not this one's."""
    noted = ctx.envelope.metadata.get(_LEFT)
    return (
        int(noted["replies"]) if isinstance(noted, dict) and noted.get("run") == ctx.run_id else 0
    )


def _numbered(number: int) -> str:
    return f" {number + 1}" if number else ""


def _reply(arguments: Mapping[str, Any], envelope: Envelope) -> dict[str, Any]:
    if envelope.message is None:
        raise PermanentError("there is no message that could be replied to")
    reply = Reply.to_message(envelope.message, str(arguments["body"]))
    given = {name: str(arguments[name]) for name in ("to", "subject") if arguments.get(name)}
    return reply.changed(**given).model_dump(mode="json")
