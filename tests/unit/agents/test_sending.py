"""What keeps a reply from leaving: its mode, a conversation's pace, a request, and the time to
stop it."""

from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.channels.folder_outbox import FolderOutbox
from deskhand.agents.replying.delivery import RETRY_AFTER, ReplyDelivery, UndeliveredError
from deskhand.agents.replying.sending import SHADOWED, Sending
from deskhand.errors import RetryableError, ToolError
from deskhand.model.envelope import Envelope
from deskhand.model.message import ON_REQUEST, Message
from deskhand.model.outcome import Outcome
from deskhand.model.run import EXPIRY, canonical_hash
from deskhand.tools import Gate, ToolRegistry
from deskhand.tools.delivery import delivery_tool, draft_tool
from deskhand.tools.services import ServiceResult
from tests.kit import MemoryOutbox, a_message
from tests.memory_ledger import FixedContext, MemoryLedger

REPLY = {"to": "ann@example.com", "subject": "Re: My parcel", "text": "It is on its way."}


class MemoryDrafts:
    def __init__(self) -> None:
        self.kept: list[str] = []

    async def keep_draft(self, reply: Any, key: str) -> str:
        self.kept.append(key)
        return f"draft:{key}"

    async def find_draft(self, key: str) -> str | None:
        return f"draft:{key}" if key in self.kept else None


def sending(mode: str = "auto", undo: float = 0.0, sent: int = 0, drafts: bool = False) -> Sending:
    async def lately(conversation: str, run_id: str) -> int:
        return sent

    async def mode_for(category: str | None) -> str:
        return mode

    return Sending(
        mode_for, lambda message: undo, lambda message: drafts, lately, replies_per_hour=3
    )


def decided(by: str = "eve", **note: Any) -> dict[str, Any]:
    return {
        "decision": {"decision": "approve", "by": by, "reply_hash": canonical_hash(REPLY), **note}
    }


async def kept(
    rules: Sending, metadata: dict[str, Any] | None = None, message: Message | None = None
) -> tuple[ServiceResult | None, MemoryDrafts]:
    drafts = MemoryDrafts()
    registry = ToolRegistry([delivery_tool(MemoryOutbox()), draft_tool(drafts)])
    gate = Gate(registry, MemoryLedger(), desk="test")
    envelope = Envelope.of(message or a_message(), run_id="run_1").changed(metadata=metadata or {})
    delivery = ReplyDelivery(envelope, rules, gate, FixedContext())
    return await delivery.hold_back(REPLY), drafts


async def test_nothing_keeps_a_reply_of_a_desk_that_sends_by_itself() -> None:
    assert (await kept(sending()))[0] is None


async def test_a_shadow_is_written_and_not_sent() -> None:
    found, _ = await kept(sending("shadow"), decided())
    assert found is not None
    assert (found.status, found.reason, found.outcome) == ("done", SHADOWED, Outcome.SUCCESS)


@pytest.mark.parametrize("drafts", [True, False])
async def test_a_draft_waits_for_a_person(drafts: bool) -> None:
    found, kept_drafts = await kept(sending("draft", drafts=drafts))
    assert found is not None
    assert found.ask is not None
    assert found.ask.payload["waits"] == "draft"
    assert found.ask.again
    assert found.ask.fallback is None
    assert len(kept_drafts.kept) == drafts
    assert (await kept(sending("draft"), decided()))[0] is None


async def test_too_many_replies_in_an_hour_wait_for_a_person() -> None:
    found, _ = await kept(sending(sent=3))
    assert found is not None
    assert found.reason == "3 replies have left in this conversation within an hour"
    assert (await kept(sending(sent=2)))[0] is None
    assert (await kept(sending(sent=3), decided()))[0] is None


async def test_mail_handed_in_on_request_waits_for_a_person() -> None:
    message = a_message().model_copy(update={"headers": {ON_REQUEST: "yes"}})
    found, _ = await kept(sending(), message=message)
    assert found is not None
    assert found.outcome is Outcome.CONFIRM
    assert (await kept(sending(), decided(), message))[0] is None


async def test_an_approved_reply_can_still_be_stopped_for_a_while() -> None:
    expired_call = decided(EXPIRY, waits="draft")
    for metadata in (None, decided(), decided(waits="draft"), expired_call):
        found, _ = await kept(sending(undo=30), metadata)
        assert found is not None
        assert found.ask is not None
        assert (found.ask.expires_in, found.ask.fallback) == (30, "approve")
    assert (await kept(sending(undo=30), decided(EXPIRY, waits="undo")))[0] is None
    assert (await kept(sending(undo=30), decided(waits="undo")))[0] is None


async def test_a_decision_about_another_text_lets_nothing_pass() -> None:
    other = decided() | {
        "decision": {**decided()["decision"], "reply_hash": canonical_hash({"text": "other"})}
    }
    found, _ = await kept(sending("draft"), other)
    assert found is not None


@pytest.mark.parametrize(
    ("rules", "status"),
    [
        (sending(), None),
        (sending("shadow"), "done"),
        (sending("draft"), "needs_review"),
        (sending(sent=3), "needs_review"),
    ],
)
async def test_a_question_is_kept_as_a_reply_is(rules: Sending, status: str | None) -> None:
    found = await rules.keeps_question(Envelope.of(a_message(), run_id="run_1"), "Which one?")
    assert (found and str(found.status)) == status


def tried_later(envelope: Envelope, rules: Sending) -> ServiceResult | None:
    gate = Gate(ToolRegistry([]), MemoryLedger(), desk="test")
    delivery = ReplyDelivery(envelope, rules, gate, FixedContext())
    return delivery.try_later(REPLY, UndeliveredError("not delivered", "the server hung up"))


async def test_a_reply_waits_longer_and_longer_for_a_mail_server_that_is_away() -> None:
    envelope = Envelope.of(a_message(), run_id="run_1")
    mailed = sending(drafts=True)
    first = tried_later(envelope, mailed)
    assert first is not None
    assert first.ask is not None
    payload = first.ask.payload
    assert (payload["waits"], payload["attempt"]) == ("retry", 1)
    assert payload["problem"] == "the server hung up"
    assert (first.ask.expires_in, first.ask.fallback) == (2.0, "approve")
    assert first.reason == "not delivered: the server hung up; tried again after 2 s"
    again = envelope.changed(metadata=decided(EXPIRY, waits="retry", attempt=1))
    second = tried_later(again, mailed)
    assert second is not None
    assert second.ask is not None
    assert (second.ask.payload["attempt"], second.ask.expires_in) == (2, 5.0)
    for by in (EXPIRY, "eve"):
        assert (await kept(sending(undo=30), decided(by, waits="retry", attempt=1)))[0] is None
    weary = envelope.changed(metadata=decided(EXPIRY, waits="retry", attempt=len(RETRY_AFTER)))
    assert tried_later(weary, mailed) is None
    assert tried_later(envelope, sending()) is None


async def test_an_attempt_recorded_in_the_word_itself_is_still_read() -> None:
    envelope = Envelope.of(a_message(), run_id="run_1")
    old = envelope.changed(metadata=decided(EXPIRY, waits="retry:1"))
    again = tried_later(old, sending(drafts=True))
    assert again is not None
    assert again.ask is not None
    assert again.ask.payload["attempt"] == 2
    assert (await kept(sending(undo=30), decided(EXPIRY, waits="retry:1")))[0] is None


async def test_a_draft_that_cannot_be_kept_never_leaves_by_itself() -> None:
    """The retries of a delivery end in sending: a reply that nobody approved must not begin
    them."""

    class AwayDrafts(MemoryDrafts):
        async def keep_draft(self, reply: Any, key: str) -> str:
            raise ToolError("mail_server_away", "the server hung up", recoverable=True)

    outbox = MemoryOutbox()
    registry = ToolRegistry([delivery_tool(outbox), draft_tool(AwayDrafts())])
    gate = Gate(registry, MemoryLedger(), desk="test")
    envelope = Envelope.of(a_message(), run_id="run_1")
    delivery = ReplyDelivery(envelope, sending("draft", drafts=True), gate, FixedContext())

    with pytest.raises(RetryableError, match="the draft could not be kept"):
        await delivery.deliver_reply(REPLY)
    assert outbox.sent == []


async def test_a_reply_waits_while_the_outbox_cannot_be_written(tmp_path: Path) -> None:
    """As on a full disk: it waits like a mail whose server is away, and nobody has to act."""
    folder = tmp_path / "outbox"
    folder.write_text("a file where the folder should be")
    gate = Gate(ToolRegistry([delivery_tool(FolderOutbox(folder))]), MemoryLedger(), desk="test")
    envelope = Envelope.of(a_message(), run_id="run_1")
    waiting = await ReplyDelivery(envelope, sending(), gate, FixedContext()).deliver_reply(REPLY)
    assert waiting.ask is not None
    assert (waiting.ask.payload["waits"], waiting.ask.fallback) == ("retry", "approve")
    assert "cannot be written" in str(waiting.reason)

    folder.unlink()
    again = envelope.changed(metadata=decided(EXPIRY, waits="retry", attempt=1))
    sent = await ReplyDelivery(again, sending(), gate, FixedContext()).deliver_reply(REPLY)
    assert sent.status == "sent"
    assert len(list(folder.iterdir())) == 1
