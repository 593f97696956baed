"""A reply before it leaves: made from what an agent said, or found in the run's state."""

from collections.abc import Mapping
from typing import Any, cast

from deskhand.errors import PermanentError
from deskhand.model.authorship import WRITTEN, Written
from deskhand.model.envelope import Envelope
from deskhand.model.message import REPLY, InvitationAnswer, Reply
from deskhand.model.understanding import Understanding
from deskhand.scheduling.invitations import ACCEPTED, DECLINED, TENTATIVE
from deskhand.tools.answer_tool import ANSWER_INVITATION


def reply_in(envelope: Envelope) -> dict[str, Any]:
    """The reply that an earlier stage wrote; PermanentError where there is none."""
    reply = envelope.output(REPLY)
    if not isinstance(reply, dict) or not str(reply.get("text", "")).strip():
        raise PermanentError(
            "there is no reply to review or send; a `task: draft` stage before this one writes it"
        )
    return cast(dict[str, Any], reply)


def reply_from_call(arguments: Mapping[str, Any], envelope: Envelope) -> dict[str, Any]:
    """The reply that a `send_reply` or `create_draft` call hands in."""
    if envelope.message is None:
        raise PermanentError("there is no message that could be replied to")
    reply = Reply.to_message(envelope.message, str(arguments["body"]))
    given = {name: str(arguments[name]) for name in ("to", "subject") if arguments.get(name)}
    return reply.changed(**given).model_dump(mode="json")


def invitation_answer(envelope: Envelope) -> InvitationAnswer | None:
    """The newest answer that a tool of this run gave to an invitation; no text can give one."""
    for result in Understanding.of(envelope).results:
        if result.get("tool") != ANSWER_INVITATION or result.get("status") != "success":
            continue
        answer = (result.get("data") or {}).get("answer")
        if answer in (ACCEPTED, DECLINED, TENTATIVE):
            return cast(InvitationAnswer, answer)
        return None
    return None


def with_reply(envelope: Envelope, text: str, output: Mapping[str, Any], by: str) -> Envelope:
    """The run's state with a text as its reply, and who wrote it; as it is where there is no
    message to reply to."""
    if envelope.message is None:
        return envelope
    reply = Reply.to_message(envelope.message, text, language=output.get("language"))
    answered = reply.changed(invitation=invitation_answer(envelope))
    written = Written.of(output, by).as_metadata(text)
    replying = envelope.with_output(REPLY, answered.model_dump(mode="json"))
    return replying.with_metadata(**{WRITTEN: written})
