"""One call of a tool loop: made through the gate, recorded with the turn that asked for it."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskhand.agents.transcript import ESCALATED
from deskhand.errors import PermanentError, RetryableError
from deskhand.model.codes import ErrorCode
from deskhand.ports import GateAnswer, StageContext, ToolGate
from deskhand.tools.effects import outcome_unknown
from deskhand.tools.schema import parse_arguments

_PLACES = 1000


def effect_index(iteration: int, place: int) -> int:
    """The index of a call among the effects of its stage's visit: the same whenever the turn is
    taken up again."""
    return iteration * _PLACES + place


@dataclass(frozen=True, slots=True)
class Called:
    """A call that was judged and perhaps made."""

    tool: str
    iteration: int
    answer: GateAnswer
    call: dict[str, Any]
    """As the model wrote it: id, tool, arguments."""
    note: str | None = field(default=None)
    """Why its arguments could not be read."""

    @property
    def record(self) -> dict[str, Any]:
        noted = {} if self.note is None else {"note": self.note}
        return self.answer.record() | {"iteration": self.iteration, "id": self.call["id"], **noted}

    @property
    def result(self) -> dict[str, Any]:
        """What the run keeps of it among its results."""
        answer = self.answer
        given = answer.result.model_dump(mode="json", exclude_none=True)
        kept = {
            "tool": self.tool,
            "arguments": answer.arguments,
            **given,
            "iteration": self.iteration,
        }
        if self.note is not None:
            kept["note"] = self.note
        if answer.requires_escalation:
            kept[ESCALATED] = answer.reason or f"the policy sends {self.tool} to a person"
        return kept

    def raise_if_unknown(self) -> None:
        """Nobody knows whether it happened: the same call again under its key, or a person;
        never the next turn."""
        if not outcome_unknown(self.answer.result):
            return
        error = self.answer.result.error
        assert error is not None
        if error.details.get("retry") == "same_key":
            raise RetryableError(error.message, ErrorCode.EFFECT_UNKNOWN)
        raise PermanentError(error.message, ErrorCode.EFFECT_UNKNOWN)


def not_made(call: dict[str, Any], iteration: int) -> dict[str, Any]:
    """The result of a call that was not made: an earlier one had ended the agent's work."""
    given, _ = parse_arguments(str(call["arguments"]))
    error = {
        "error_type": ErrorCode.TOOL_DENIED,
        "message": "not made: the work had ended",
        "recoverable": False,
    }
    return {
        "tool": call["tool"],
        "arguments": given,
        "status": "error",
        "error": error,
        "iteration": iteration,
    }


async def called(
    gate: ToolGate,
    call: dict[str, Any],
    iteration: int,
    index: int,
    allowed: Sequence[str],
    ctx: StageContext,
) -> Called:
    """Arguments that cannot be read are `{}`: checked like any others, noted, and never enough
    for an effect."""
    text = str(call["arguments"])
    given, note = parse_arguments(text)
    parameters = given if note is None else text  # the gate reads it once more, and finds the same
    answer = await gate.call(call["tool"], parameters, allowed=allowed, ctx=ctx, index=index)
    return Called(call["tool"], iteration, answer, call, note)


async def side_by_side(work: Sequence[Coroutine[Any, Any, Called]]) -> list[Called]:
    """All of them, or the first one's exception as it is, with nothing left running."""
    tasks = [asyncio.create_task(judging) for judging in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
