"""What a reply answers to an invitation: as the tool that answered it found."""

from typing import cast

from deskhand.model.envelope import Envelope
from deskhand.model.message import InvitationAnswer
from deskhand.model.understanding import Understanding
from deskhand.scheduling.invitations import ACCEPTED, DECLINED, TENTATIVE
from deskhand.tools.answer_tool import ANSWER_INVITATION


def invitation_answer(envelope: Envelope) -> InvitationAnswer | None:
    """The latest answer among the results of this run; no text can give one."""
    for result in Understanding.of(envelope).results:
        if result.get("tool") != ANSWER_INVITATION or result.get("status") != "success":
            continue
        answer = (result.get("data") or {}).get("answer")
        if answer in (ACCEPTED, DECLINED, TENTATIVE):
            return cast(InvitationAnswer, answer)
        return None
    return None
