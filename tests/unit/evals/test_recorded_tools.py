"""What a recorded call comes back with in a replay."""

import pytest

from deskhand.agents.replying.delivery import ReplyDelivery, UndeliveredError, undelivered
from deskhand.agents.replying.sending import Sending
from deskhand.errors import EffectRefused
from deskhand.evals.recorded_tools import RecordedTools
from deskhand.model.envelope import Ask, Envelope, StageResult
from deskhand.model.message import DELIVER
from deskhand.model.outcome import Outcome
from deskhand.model.results import ToolErrorDetails, ToolResult
from deskhand.tools import Gate, ToolRegistry
from deskhand.tools.services import ServiceResult
from tests.kit import a_message
from tests.memory_ledger import FixedContext, MemoryLedger

REPLY = {"to": "ann@example.com", "subject": "Re: Hello", "text": "Hello"}


def _tried_later(failed: ToolResult) -> ServiceResult | None:
    gate = Gate(ToolRegistry([]), MemoryLedger(), desk="test")
    sending = Sending(by_mail=lambda message: True)
    delivery = ReplyDelivery(Envelope.of(a_message(1)), sending, gate, FixedContext())
    error = undelivered("the reply could not be delivered", failed)
    assert isinstance(error, UndeliveredError)
    return delivery.try_later(REPLY, error)


def test_a_mail_server_that_was_away_is_away_again_with_the_same_words() -> None:
    away = ToolResult.failure(
        ToolErrorDetails(error_type="tool_failed", message="smtp.example: no route")
    )
    first = _tried_later(away)
    assert first is not None
    attempt = StageResult(outcome=Outcome.CONFIRM, ask=first.ask)
    again = RecordedTools([]).result(DELIVER, REPLY, attempt)
    assert again.error is not None
    second = _tried_later(again)
    assert second is not None
    assert second.ask == first.ask


def test_a_record_that_tells_the_problem_in_its_reason_alone_is_still_read() -> None:
    reason = "the reply could not be delivered: smtp.example: no route; tried again after 2 s"
    ask = Ask(kind="reply", reason=reason, payload={"waits": "retry:1", "reply": REPLY})
    attempt = StageResult(outcome=Outcome.CONFIRM, ask=ask)
    again = RecordedTools([]).result(DELIVER, REPLY, attempt)
    assert again.error is not None
    assert again.error.message == "smtp.example: no route"


@pytest.mark.parametrize(
    ("rule", "refused"), [("over_cap", True), ("by_day", True), ("needs_a_principal", False)]
)
def test_only_circumstances_hold_a_call_again(rule: str, refused: bool) -> None:
    payload = {"tool": "refund", "arguments": {"order": "P-1"}, "rule": rule}
    attempt = StageResult(
        outcome=Outcome.CONFIRM, ask=Ask(kind="tool_call", reason="too much today", payload=payload)
    )
    tools = RecordedTools([], frozenset({"by_day"}))
    if refused:
        with pytest.raises(EffectRefused, match="too much today"):
            tools.result("refund", {"order": "P-1"}, attempt)
    assert tools.result("refund", {"order": "P-2"}, attempt) == ToolResult.success(
        {"captured": True}
    )
    assert tools.missing == 1
