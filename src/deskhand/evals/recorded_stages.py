"""What a run's stages did in the record: when, what stopped them, what they gave.

A replay works a stage again at its recorded time, and takes its recorded result where the work
would need the world outside.
"""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from deskhand.engine.journal import State
from deskhand.engine.loop import Process
from deskhand.errors import DeskhandError, PermanentError, RetryableError
from deskhand.evals.lane import LaneClock
from deskhand.evals.sealed import refusals
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Envelope, StageResult
from deskhand.model.waiting import Waiting, WaitKind
from deskhand.ports import StageContext, Work

_MODES_BY_OLD_REASON = {
    "shadow mode: written, not sent": "shadow",
    "draft mode: a question to the customer is a person's to ask": "draft",
}
"""How older records tell the mode of a question that was not asked: today `mode` is a field."""


@dataclass(slots=True)
class _Visit:
    """One recorded attempt at a stage, and the durable steps it made on the way."""

    state: State
    before: Envelope
    steps: list[State] = field(default_factory=list)


class RecordedStages:
    """Attempts by stage, in order; each is used once. Waits for a model are left out."""

    def __init__(self, states: Sequence[State]) -> None:
        self.attempt: StageResult | None = None
        """How the attempt at work ended in the record."""
        self._visits: dict[str, deque[_Visit]] = defaultdict(deque)
        steps: list[State] = []
        for state in states:
            name = state.row.name
            if "/" in name:
                steps.append(state)
            elif not name.startswith("@") and state.result.waits_for is None:
                before = steps[0].before if steps else state.before
                self._visits[name].append(_Visit(state, before, steps))
                steps = []

    def mode(self) -> str | None:
        """Returns the mode in force when the attempt at work ended in the record.

        For desks whose modes are earned and so not in desk.yaml. None where no attempt tells.
        """
        return None if self.attempt is None else mode_told(self.attempt) or "auto"

    def was_spot_check(self) -> bool:
        """Whether a person looked at this reply although it could have left by itself."""
        ask = None if self.attempt is None else self.attempt.ask
        waiting = None if ask is None else Waiting.of(ask.payload)
        return waiting is not None and waiting.kind is WaitKind.SPOT_CHECK

    async def again(
        self, stage: str, work: Process, envelope: Envelope, ctx: StageContext, clock: LaneClock
    ) -> StageResult:
        """Does the stage's work at its recorded time.

        Where the work reached for the world outside and the stage's input is what it was, the
        recorded result stands in.
        """
        visits = self._visits[stage]
        if not visits:
            self.attempt = None
            return await work(envelope, ctx)
        visit = visits.popleft()
        clock.at = visit.state.row.started_at
        self.attempt = visit.state.result
        if self.attempt.error is not None and self.attempt.error.code == ErrorCode.STAGE_TIMEOUT:
            raise _fault(self.attempt)
        refused_before = refusals()

        def reached_outside() -> bool:
            return refusals() != refused_before and _is_unchanged(envelope, visit)

        try:
            result = await work(envelope, ctx)
        except Exception:
            if not reached_outside():
                raise
            return await _stand_in(visit, ctx)
        return await _stand_in(visit, ctx) if reached_outside() else result


def mode_told(result: StageResult) -> str | None:
    """The mode that a stage met, by what its result says; None where it says nothing."""
    ask = result.ask
    if ask is not None and isinstance(mode := ask.payload.get("mode"), str):
        return mode
    delta = result.delta
    for output in (*delta.outputs.values(), *delta.merge.values()):
        if isinstance(output, dict) and output.get("sent") is False and "mode" in output:
            return str(output["mode"])
    return _MODES_BY_OLD_REASON.get(result.reason or "")


async def _stand_in(visit: _Visit, ctx: StageContext) -> StageResult:
    for step in visit.steps:
        await ctx.step(step.row.name.partition("/")[2], _given(step.result))
    if visit.state.result.error is not None:
        raise _fault(visit.state.result)
    return visit.state.result


def _given(result: StageResult) -> Work:
    async def give() -> StageResult:
        return result

    return give


def _is_unchanged(envelope: Envelope, visit: _Visit) -> bool:
    then = visit.before
    return (envelope.raw_input, envelope.outputs) == (then.raw_input, then.outputs)


def _fault(failed: StageResult) -> DeskhandError:
    assert failed.error is not None
    kind = RetryableError if failed.retry_at is not None else PermanentError
    return kind(failed.error.message, ErrorCode(failed.error.code))
