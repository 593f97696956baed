"""Tool results from the record: the same call gets the same result, any other is captured."""

from collections import deque
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from deskhand.engine.journal import State
from deskhand.errors import EffectRefused
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Ask, StageResult
from deskhand.model.message import DELIVER, KEEP_DRAFT, OUTBOX_AWAY, REPLY
from deskhand.model.results import ToolErrorDetails, ToolResult
from deskhand.model.run import canonical_hash
from deskhand.model.waiting import PROBLEM, Waiting, WaitKind

OUR_OWN = (DELIVER, KEEP_DRAFT)
_CIRCUMSTANCES = ("stopped", "over_cap", "earlier_outcome_unknown")
"""Rules of the gate that go by what else happened at the time, not by the call."""
_RESULT = ("status", "data", "error", "message")


class RecordedTools:
    """One run's recorded calls, by tool and arguments."""

    def __init__(
        self, states: Sequence[State], rules_by_totals: AbstractSet[str] = frozenset()
    ) -> None:
        self.used = 0
        self.missing = 0
        self._circumstances = {*_CIRCUMSTANCES, *rules_by_totals}
        self._results: dict[str, deque[ToolResult]] = {}
        for state in states:
            call, result = state.result.call, result_in(state.result)
            if call is not None and result is not None:
                self._results.setdefault(
                    _key(call["tool"], call.get("arguments") or {}), deque()
                ).append(result)

    def result(
        self, tool: str, arguments: Mapping[str, Any], attempt: StageResult | None
    ) -> ToolResult:
        """The recorded result; with none, what stopped the attempt that is recorded, else a
        capture.

        EffectRefused where the totals of that day, or the desk's stop switch, held exactly this
        call.
        """
        if (
            attempt is not None
            and attempt.ask is not None
            and self._held(attempt.ask, tool, arguments)
        ):
            raise EffectRefused(attempt.ask.payload["rule"], attempt.ask.reason, liftable=True)
        fault = None if attempt is None or tool != DELIVER else _fault_of_delivery(attempt)
        if fault is not None:
            return fault
        recorded = self._results.get(_key(tool, arguments))
        if recorded:
            self.used += tool not in OUR_OWN
            return recorded.popleft() if len(recorded) > 1 else recorded[0]
        if attempt is not None and attempt.error is not None:
            if attempt.error.code == ErrorCode.EFFECT_UNKNOWN:
                again = {"retry": "same_key"} if attempt.retry_at is not None else {}
                return _failed(
                    attempt.error.message, ErrorCode.EFFECT_UNKNOWN, {"outcome": "unknown", **again}
                )
            if tool in OUR_OWN:
                return _failed(
                    attempt.error.message,
                    ErrorCode.TOOL_FAILED,
                    {},
                    again=attempt.retry_at is not None,
                )
        self.missing += tool not in OUR_OWN
        return ToolResult.success({"captured": True})

    def _held(self, ask: Ask, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether circumstances, not the call itself, held exactly this call."""
        held = ask.payload
        if held.get("rule") not in self._circumstances:
            return False
        if tool == DELIVER and isinstance(held.get(REPLY), Mapping):
            return bool(_key(tool, held[REPLY]) == _key(tool, arguments))
        return _key(held.get("tool", ""), held.get("arguments") or {}) == _key(tool, arguments)


def _fault_of_delivery(attempt: StageResult) -> ToolResult | None:
    """What kept a reply from being recorded as sent: a server or folder that was away, or doubt."""
    away = _server_was_away(attempt)
    if away is not None:
        return _failed(away, OUTBOX_AWAY, {}, again=True)
    waiting = None if attempt.ask is None else Waiting.of(attempt.ask.payload)
    if attempt.ask is None or waiting is None or waiting.kind is not WaitKind.DOUBT:
        return None
    retry = "ask_person" if attempt.ask.fallback is None else "same_key"
    details = {"outcome": "unknown", "retry": retry}
    return _failed(waiting.problem, ErrorCode.EFFECT_UNKNOWN, details)


def _server_was_away(attempt: StageResult) -> str | None:
    """Why a mail server did not take the reply, where it was to be tried again; None elsewhere."""
    waiting = None if attempt.ask is None else Waiting.of(attempt.ask.payload)
    if attempt.ask is None or waiting is None or waiting.kind is not WaitKind.RETRY:
        return None
    if PROBLEM in attempt.ask.payload:
        return waiting.problem
    # Records from before the problem had a field of its own hold it in the reason alone.
    return attempt.ask.reason.rpartition("; tried again after")[0].partition(": ")[2]


def result_in(step: StageResult) -> ToolResult | None:
    """What a recorded call came back with: beside the call, or among what its step added to the
    outputs."""
    call = step.call
    if call is None or not call.get("tool"):
        return None
    beside = call.get("result")
    if isinstance(beside, dict):
        return _read(beside) or ToolResult.success(beside)
    delta = step.delta
    added = [
        entry
        for output in (*delta.outputs.values(), *delta.merge.values())
        if isinstance(output, dict)
        for entry in _lists(output)
    ]
    added += [entry for entries in delta.append.values() for entry in entries]
    for entry in reversed(added):
        if isinstance(entry, dict) and entry.get("tool") == call["tool"]:
            return _read(entry)
    return None


def _lists(output: dict[str, Any]) -> list[Any]:
    return [entry for value in output.values() if isinstance(value, list) for entry in value]


def _read(entry: Mapping[str, Any]) -> ToolResult | None:
    try:
        return ToolResult.model_validate({key: entry[key] for key in _RESULT if key in entry})
    except ValueError:
        return None


def _failed(message: str, code: str, details: dict[str, Any], *, again: bool = False) -> ToolResult:
    return ToolResult.failure(
        ToolErrorDetails(error_type=code, message=message, details=details, recoverable=again)
    )


def _key(tool: str, arguments: Mapping[str, Any]) -> str:
    """An argument that was left out and one that is null are the same."""
    return canonical_hash(
        [tool, {name: value for name, value in arguments.items() if value is not None}]
    )
