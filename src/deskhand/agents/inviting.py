"""What a reply answers to an invitation: as the tool that answered it found."""

from typing import Any, cast

from deskhand.model.envelope import Envelope
from deskhand.model.message import InvitationAnswer
from deskhand.scheduling.invitations import ACCEPTED, DECLINED, TENTATIVE
from deskhand.tools.answer_tool import ANSWER_INVITATION


def invitation_answer(envelope: Envelope) -> InvitationAnswer | None:
    """The latest answer among the results of this run; no text can give one."""
    for output in reversed(list(envelope.outputs.values())):
        results = cast(dict[str, Any], output).get("results") if isinstance(output, dict) else None
        for one in reversed(results) if isinstance(results, list) else ():
            if (
                isinstance(one, dict)
                and one.get("tool") == ANSWER_INVITATION
                and one.get("status") == "success"
            ):
                answer = (one.get("data") or {}).get("answer")
                return (
                    cast(InvitationAnswer, answer)
                    if answer in (ACCEPTED, DECLINED, TENTATIVE)
                    else None
                )
    return None
