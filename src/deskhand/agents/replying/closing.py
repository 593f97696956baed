"""What an agent's calls of `send_reply`, `create_draft` and `escalate` come to.

Whoever makes the calls (a walked plan, the tool loop) collects those that went through.
`ReplyDelivery.close` ends the stage with them, in the same visit.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from deskhand.agents.replying.reply import reply_from_call
from deskhand.model.authorship import AGENT, Written
from deskhand.model.envelope import Envelope
from deskhand.model.message import CREATE_DRAFT, ESCALATE, REPLY, SEND_REPLY

BY_AGENT = Written(AGENT)
DRAFTED = "the agent asks for a look at this reply before it is sent"


@dataclass(frozen=True, slots=True)
class PendingReply:
    """A reply that waits for the end of the work."""

    reply: dict[str, Any]
    review_reason: str | None = None
    """Why a person must send it, whatever the desk's mode."""
    written: Written = BY_AGENT
    """Who wrote it, and what it says that it rests on."""


@dataclass(frozen=True, slots=True)
class Closing:
    """The replies that an agent handed in, or its call for a person."""

    replies: tuple[PendingReply, ...] = ()
    escalated: str | None = None
    """Why the agent asks for a person; then nothing leaves by itself any more."""

    def __bool__(self) -> bool:
        return bool(self.replies) or self.escalated is not None

    @classmethod
    def of(
        cls,
        calls: Iterable[tuple[str, Mapping[str, Any]]],
        envelope: Envelope,
        most: int = 1,
        by: str = AGENT,
    ) -> Self:
        """From the calls that went through, each a tool and its checked arguments.

        Of the replies, only the first `most` count. `by` is who made the calls.
        """
        replies: list[PendingReply] = []
        reasons: list[str] = []
        for tool, arguments in calls:
            if tool in (SEND_REPLY, CREATE_DRAFT):
                review_reason = DRAFTED if tool == CREATE_DRAFT else None
                reply = reply_from_call(arguments, envelope)
                replies.append(PendingReply(reply, review_reason, Written.of(arguments, by)))
            elif tool == ESCALATE:
                reasons.append(str(arguments.get("reason", "")))
        return cls(tuple(replies[:most]), "; ".join(reasons) if reasons else None)

    @classmethod
    def answering(cls, envelope: Envelope, text: str, written: Written = BY_AGENT) -> Self:
        """The agent's last words as a reply, where it neither sent nor drafted nor escalated."""
        return cls((PendingReply(reply_from_call({"body": text}, envelope), None, written),))

    @classmethod
    def rewriting(cls, envelope: Envelope, text: str, review_reason: str, written: Written) -> Self:
        """The agent's last words in place of the reply it handed in before, whose subject and
        recipient stay."""
        earlier = envelope.output(REPLY)
        kept: dict[str, Any] = {}
        if isinstance(earlier, dict):
            kept = {name: earlier[name] for name in ("to", "subject") if earlier.get(name)}
        reply = reply_from_call({**kept, "body": text}, envelope)
        return cls((PendingReply(reply, review_reason, written),))
