"""What a recorded call comes back with in a replay."""

import pytest

from deskhand.agents.sending import Sending, try_later, undelivered
from deskhand.errors import EffectRefused
from deskhand.evals.recorded_tools import RecordedTools
from deskhand.model.envelope import Ask, Envelope, StageResult
from deskhand.model.outcome import Outcome
from deskhand.model.results import ToolErrorDetails, ToolResult
from deskhand.tools.delivery import DELIVER
from tests.kit import a_message

REPLY = {"to": "ann@example.com", "subject": "Re: Hello", "text": "Hello"}


def test_a_mail_server_that_was_away_is_away_again_with_the_same_words() -> None:
    away = ToolResult.failure(
        ToolErrorDetails(error_type="tool_failed", message="smtp.example: no route")
    )
    envelope, sending = Envelope.of(a_message(1)), Sending(by_mail=lambda message: True)
    first = try_later(
        envelope, REPLY, str(undelivered("the reply could not be delivered", away)), sending
    )
    assert first is not None
    attempt = StageResult(outcome=Outcome.CONFIRM, ask=first.ask)
    again = RecordedTools([]).result(DELIVER, REPLY, attempt)
    assert again.error is not None
    second = try_later(
        envelope, REPLY, str(undelivered("the reply could not be delivered", again)), sending
    )
    assert second is not None
    assert second.ask == first.ask


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
