"""A run's recorded visits of stages: when they were, what stopped them, what they gave where it
cannot be had again."""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from deskhand.engine.journal import State
from deskhand.engine.loop import Process
from deskhand.errors import DeskhandError, PermanentError, RetryableError
from deskhand.evals.clocks import OwnTime
from deskhand.evals.sealed import refusals
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Envelope, StageResult
from deskhand.ports import StageContext, Work


@dataclass(slots=True)
class _Visit:
    """One recorded attempt at a stage, and the durable steps it made on the way."""

    state: State
    before: Envelope
    steps: list[State] = field(default_factory=list)


class RecordedStages:
    """Attempts by stage, in order; each is used once."""

    def __init__(self, states: Sequence[State]) -> None:
        self.attempt: StageResult | None = None
        """How the attempt at work ended in the record."""
        self._visits: dict[str, deque[_Visit]] = defaultdict(deque)
        steps: list[State] = []
        for state in states:
            name = state.row.name
            if "/" in name:
                steps.append(state)
            elif not name.startswith("@"):
                before = steps[0].before if steps else state.before
                self._visits[name].append(_Visit(state, before, steps))
                steps = []

    async def again(
        self, stage: str, work: Process, envelope: Envelope, ctx: StageContext, clock: OwnTime
    ) -> StageResult:
        """Do the stage's work at its recorded time; where it would need the world outside, the
        record stands in."""
        visits = self._visits[stage]
        visit = visits.popleft() if visits else None
        if visit is None:
            self.attempt = None
            return await work(envelope, ctx)
        clock.at = visit.state.row.started_at
        self.attempt = visit.state.result
        if self.attempt.error is not None and self.attempt.error.code == ErrorCode.STAGE_TIMEOUT:
            raise _fault(self.attempt)
        refused = refusals()
        try:
            made = await work(envelope, ctx)
        except Exception:
            if refusals() == refused or not _is_unchanged(envelope, visit):
                raise
            return await _stand_in(visit, ctx)
        if refusals() != refused and _is_unchanged(envelope, visit):
            return await _stand_in(visit, ctx)
        return made


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
