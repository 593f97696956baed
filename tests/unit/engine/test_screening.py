"""What programs send ends before any stage; what a person may have written goes to a person."""

from typing import Any

import pytest

from deskhand.engine.screening import Pace, Screen
from deskhand.model.message import DELIVER, Attachment, Message
from deskhand.model.run import EffectKey, RunStatus
from tests.kit import TestClock, a_message
from tests.memory_ledger import MemoryLedger

RUN = "run_0123456789abcdefghjk"


class Ledger(MemoryLedger):
    def __init__(self) -> None:
        super().__init__()
        self.bounced: list[tuple[str, str]] = []

    async def replies_to(self, sender: str, tool: str, since: float, *, beside: str) -> int:
        assert (sender, tool, beside) == ("ann@example.com", DELIVER, "c1")
        return 3

    async def note_bounce(self, run_id: str, reason: str) -> bool:
        self.bounced.append((run_id, reason))
        return True


def mail(**headers: str) -> Message:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return a_message().model_copy(update={"headers": named})


def report(action: str, message_id: str) -> Message:
    status = f"Final-Recipient: rfc822; ann@example.com\nAction: {action}\nStatus: 5.1.1\n"
    parts = (
        Attachment(name="status", type="message/delivery-status", size=1, text=status),
        Attachment(
            name="headers", type="text/rfc822-headers", size=1, text=f"Message-ID: {message_id}\n"
        ),
    )
    bounce = mail(content_type="multipart/report; report-type=delivery-status")
    return bounce.model_copy(update={"attachments": parts})


async def screened(
    message: Message, ledger: Any = None, pace: Pace | None = None
) -> tuple[str, str] | None:
    store: Any = ledger or Ledger()
    end = await Screen(store, TestClock(), ["support@acme.test"], pace)(message)
    return None if end is None else (str(end.status), str(end.reason))


async def test_what_a_person_wrote_passes() -> None:
    assert await screened(mail()) is None


@pytest.mark.parametrize(
    "headers", [{"auto_submitted": "auto-replied"}, {"list_id": "<a.b>"}, {"x_deskhand": RUN}]
)
async def test_what_a_program_sent_is_not_answered(headers: dict[str, str]) -> None:
    status, reason = await screened(mail(**headers)) or ("", "")
    assert status == RunStatus.DONE
    assert reason.startswith("not answered, a program sent it: ")


async def test_what_may_be_either_goes_to_a_person() -> None:
    status, _ = await screened(
        mail().model_copy(update={"subject": "Out of office: until Monday"})
    ) or ("", "")
    assert status == RunStatus.NEEDS_REVIEW


async def test_only_a_bounce_of_a_mail_that_we_sent_is_believed() -> None:
    ledger = Ledger()
    own = f"<{RUN}.3.0@acme.test>"
    assert (await screened(report("failed", own), ledger) or ("",))[0] == RunStatus.DONE
    await ledger.intend(EffectKey(RUN, 3, 0), "another_tool", "hash")
    assert (await screened(report("failed", own), ledger) or ("",))[0] == RunStatus.DONE
    assert not ledger.bounced
    ledger = Ledger()
    await ledger.intend(EffectKey(RUN, 3, 0), DELIVER, "hash")
    status, reason = await screened(report("failed", own), ledger) or ("", "")
    assert (status, reason) == (
        "needs_review",
        f"a reply of ours did not reach ann@example.com: 5.1.1 (run {RUN})",
    )
    assert ledger.bounced == [(RUN, "a reply of ours did not reach ann@example.com: 5.1.1")]


async def test_a_mail_that_is_only_late_troubles_nobody() -> None:
    ledger = Ledger()
    await ledger.intend(EffectKey(RUN, 3, 0), DELIVER, "hash")
    status, reason = await screened(report("delayed", f"<{RUN}.3.0@acme.test>"), ledger) or ("", "")
    assert status == RunStatus.DONE
    assert "still tries" in reason
    assert not ledger.bounced


async def test_a_sender_who_is_answered_too_often_goes_to_a_person() -> None:
    assert await screened(mail(), pace=Pace(["api"], 4)) is None
    assert await screened(mail(), pace=Pace(["another channel"], 3)) is None
    status, reason = await screened(mail(), pace=Pace(["api"], 3)) or ("", "")
    assert status == RunStatus.NEEDS_REVIEW
    assert reason == "3 replies have left to ann@example.com in other conversations within an hour"
