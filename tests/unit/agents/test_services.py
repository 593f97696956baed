"""`review` decides whether a person looks first; `dispatch` lets the reply leave, once."""

from typing import Any

import pytest

from deskhand.agents.replying.services import dispatch_through, review
from deskhand.errors import PermanentError, RetryableError
from deskhand.model.envelope import Envelope
from deskhand.model.message import Reply
from deskhand.model.outcome import Outcome
from deskhand.model.totals import Stop
from deskhand.tools import Gate, ToolRegistry
from deskhand.tools.delivery import delivery_tool
from deskhand.tools.services import ServiceResult
from tests.kit import MemoryOutbox
from tests.memory_ledger import FixedContext, MemoryLedger

REPLY = {"to": "ann@example.com", "subject": "Re: My parcel", "text": "It is on its way."}


async def reviewed(found: dict[str, Any] | None, **settings: Any) -> ServiceResult:
    outputs: dict[str, Any] = {"reply": REPLY} | ({} if found is None else {"found": found})
    return await review(Envelope(outputs=outputs), FixedContext(), settings)


def found(category: Any = "status", confidence: Any = 0.9) -> dict[str, Any]:
    return {"category": category, "confidence": confidence}


@pytest.mark.parametrize(
    ("classified", "settings", "reason"),
    [
        (found(), {"auto_send_at": 0.8}, None),
        (found(confidence=0.8), {"auto_send_at": 0.8}, None),
        (found(confidence=1), {"auto_send_at": 1.0}, None),
        (found(confidence=0.79), {"auto_send_at": 0.8}, "category confidence 0.79 is below 0.8"),
        (found(confidence=None), {"auto_send_at": 0.0}, "category confidence unknown is below 0"),
        (
            found(confidence="high"),
            {"auto_send_at": 0.8},
            "category confidence unknown is below 0.8",
        ),
        (
            found(confidence=float("nan")),
            {"auto_send_at": 0.8},
            "category confidence unknown is below 0.8",
        ),
        ({"category": "status"}, {"auto_send_at": 0.8}, "category confidence unknown is below 0.8"),
        (None, {"auto_send_at": 0.8}, "category confidence unknown is below 0.8"),
        (
            found("refund", 1.0),
            {"auto_send_at": 0.8, "always_ask": ["refund"]},
            "refund is always looked at",
        ),
        ({"category": "refund"}, {"always_ask": ["refund"]}, "refund is always looked at"),
        (found("status", 0.1), {"always_ask": ["refund"]}, None),
        (found("status", 1.0), {}, "every reply is looked at by a person"),
    ],
)
async def test_a_person_is_asked_unless_the_desk_said_that_this_is_sure_enough(
    classified: dict[str, Any] | None, settings: dict[str, Any], reason: str | None
) -> None:
    result = await reviewed(classified, **settings)
    assert result.output["requires_approval"] is (reason is not None)
    if reason is None:
        assert (result.outcome, result.ask) == (Outcome.SUCCESS, None)
        return
    assert result.outcome is Outcome.CONFIRM
    assert result.ask is not None
    assert reason in result.ask.reason
    assert (result.ask.kind, result.ask.payload["reply"], result.ask.text) == (
        "reply",
        REPLY,
        REPLY["text"],
    )


@pytest.mark.parametrize(
    ("outputs", "reason"),
    [
        (
            {"draft": {"text": "x", "hand_over": True, "reason": "no article"}},
            "draft hands over: no article",
        ),
        ({"plan": {"steps": [], "hand_over": True}}, "plan hands over: it has no answer"),
        (
            {"found": found() | {"held": "llm_unavailable"}},
            "found was answered without an LLM: llm_unavailable",
        ),
        ({"draft": {"text": "x", "hand_over": False, "held": None}}, None),
        ({"draft": "hand_over"}, None),
    ],
)
async def test_what_a_brain_hands_over_is_looked_at_however_sure_the_rest_is(
    outputs: dict[str, Any], reason: str | None
) -> None:
    envelope = Envelope(outputs={"reply": REPLY, "first": found("status", 1.0), **outputs})
    result = await review(envelope, FixedContext(), {"auto_send_at": 0.5})
    assert result.reason == reason
    assert result.outcome is (Outcome.SUCCESS if reason is None else Outcome.CONFIRM)


async def test_the_newest_classification_counts() -> None:
    outputs = {"reply": REPLY, "first": found("refund", 1.0), "second": found("status", 0.2)}
    result = await review(
        Envelope(outputs=outputs), FixedContext(), {"auto_send_at": 0.8, "always_ask": ["refund"]}
    )
    assert result.reason == "category confidence 0.2 is below 0.8"


@pytest.mark.parametrize("reply", [None, {}, {"text": " "}, "text", {"to": "ann@example.com"}])
async def test_without_a_reply_there_is_nothing_to_review_or_send(reply: Any) -> None:
    envelope = Envelope(outputs={} if reply is None else {"reply": reply})
    dispatch = dispatch_through(Gate(ToolRegistry(), MemoryLedger(), desk="test"))
    for service in (review, dispatch):
        with pytest.raises(PermanentError, match="`task: draft` stage before this one writes it"):
            await service(envelope, FixedContext(), {})


# --- dispatch


async def dispatched(
    outbox: Any, ledger: MemoryLedger | None = None, reply: Any = None, **gate: Any
) -> ServiceResult:
    judge = Gate(
        ToolRegistry([delivery_tool(outbox)]), ledger or MemoryLedger(), desk="test", **gate
    )
    made = await dispatch_through(judge)(
        Envelope(outputs={"reply": reply or REPLY}), FixedContext(), {}
    )
    assert isinstance(made, ServiceResult)
    return made


async def test_a_reply_leaves_once_and_the_run_is_sent() -> None:
    outbox, ledger = MemoryOutbox(), MemoryLedger()
    result = await dispatched(outbox, ledger)
    assert (result.status, result.output["sent"]) == ("sent", True)
    assert result.output["delivered"] == "memory:run_1.1.0"
    await dispatched(outbox, ledger)
    assert [sent.text for _, sent in outbox.sent] == ["It is on its way."]


async def test_a_held_reply_stops_for_a_person() -> None:
    outbox = MemoryOutbox()
    result = await dispatched(outbox, reply={**REPLY, "to": "mallory@example.com"})
    assert (result.outcome, result.ask and result.ask.kind) == (Outcome.CONFIRM, "reply")
    assert "mallory@example.com is neither" in (result.reason or "")
    assert outbox.sent == []


async def test_a_reply_that_meets_a_stopped_desk_waits_for_its_resumption() -> None:
    outbox, ledger = MemoryOutbox(), MemoryLedger()
    ledger.stop = Stop("eve", "", 0.0)
    result = await dispatched(outbox, ledger)
    assert (result.outcome, result.ask and result.ask.kind) == (Outcome.CONFIRM, "stopped")
    assert outbox.sent == []


class Broken(MemoryOutbox):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def send(self, reply: Reply, key: str) -> str:
        raise self.error


@pytest.mark.parametrize(
    "error", [ConnectionResetError("gone"), TimeoutError(), ValueError("bad address")]
)
async def test_a_reply_that_did_not_leave_may_be_tried_again(error: Exception) -> None:
    with pytest.raises(RetryableError, match=r"could not be delivered|whether the reply has left"):
        await dispatched(Broken(error))


async def test_a_reply_that_lost_its_address_is_not_sent() -> None:
    outbox = MemoryOutbox()
    with pytest.raises((PermanentError, RetryableError), match="the reply could not be delivered"):
        await dispatched(outbox, reply={"text": "Hi"})
    assert outbox.sent == []
