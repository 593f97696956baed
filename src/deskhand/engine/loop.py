"""The one screen: how a run goes through its flow. All control flow of the engine is here."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from deskhand.engine.context import RunContext
from deskhand.engine.patience import Patience
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Ask, Delta, Envelope, ErrorNote, StageResult
from deskhand.model.outcome import Outcome
from deskhand.model.run import RunStatus
from deskhand.model.spec import END, AgentSpec, FlowSpec
from deskhand.model.waiting import USUAL_WAIT, AwayRule
from deskhand.ports import StageContext

Process = Callable[[Envelope, StageContext], Awaitable[StageResult]]


@dataclass(frozen=True, slots=True)
class Flow:
    spec: FlowSpec
    agents: Mapping[str, Process]
    backoff: float = 1.0
    away: AwayRule = USUAL_WAIT
    """How long runs wait for a model that is away."""


@dataclass(frozen=True, slots=True)
class End:
    """Where a run came to rest: over, waiting for `ask` to be decided, or for a model."""

    status: RunStatus
    reason: str | None = None
    error: ErrorNote | None = None
    ask: Ask | None = None
    resume: str | None = None
    """The stage that would draft a reply again; None where none would."""
    due_at: float | None = None
    """With `queued`: when the run goes on that waits for a model."""
    sent_before: str = ""
    """What was sent to the customer in a run that this database has forgotten."""
    waits_for: str | None = None


async def run_flow(flow: Flow, ctx: RunContext, *, start: str | None = None) -> End:
    """Carry one run through its flow until it is done or waits.

    Safe to call again: recorded steps are not repeated.
    """
    stage: str | None = start or ctx.entry or flow.spec.start
    status: str = RunStatus.DONE
    reason: str | None = None
    while stage is not None and stage != END:
        spec = flow.spec.stages.get(stage)
        work = _work(flow, stage, ctx)
        result = await ctx.stage(stage, work, _patience(flow, spec))
        if spec is not None and spec.error_next and _may_be_rescued(result):
            stage = spec.error_next
            continue
        while result.asks_a_person:
            decided = None if result.waits_for else await ctx.decision(stage, result)
            if decided is None:
                return _parked(result)
            result = decided
        if result.status:
            status = result.status
            reason = result.reason
        match result.outcome:
            case Outcome.CLARIFY:
                return End(RunStatus.WAITING_USER, result.reason, ask=result.ask)
            case Outcome.TERMINATE:
                return End(RunStatus(status), result.reason)
            case _:
                stage = result.next
    return End(RunStatus(status), reason)


def _work(flow: Flow, stage: str, ctx: RunContext) -> Callable[[], Awaitable[StageResult]]:
    """The stage's own work, or, where a limit is reached, the row that says so."""
    spec = flow.spec.stages.get(stage)
    if spec is None:
        return partial(
            _refuse, stage, ErrorCode.FLOW_CHANGED, f"the flow has no stage {stage!r} any more"
        )
    if ctx.envelope.hops >= flow.spec.max_hops:
        return partial(
            _refuse,
            stage,
            ErrorCode.HOP_LIMIT,
            f"the run made {flow.spec.max_hops} hops without an end",
        )
    if spec.max_visits is not None and ctx.visits[stage] >= spec.max_visits:
        return partial(
            _refuse, stage, ErrorCode.LOOP_LIMIT, f"{stage!r} was visited {spec.max_visits} times"
        )
    return lambda: flow.agents[stage](ctx.envelope, ctx)


async def _refuse(stage: str, code: ErrorCode, words: str) -> StageResult:
    note = ErrorNote(stage=stage, code=code, message=words)
    return StageResult(outcome=Outcome.ERROR, error=note, delta=Delta(errors=(note,)), reason=words)


def _may_be_rescued(result: StageResult) -> bool:
    """Whether another stage may do the work: it failed, and not because of a limit."""
    at_limit = result.error is not None and result.error.code in (
        ErrorCode.HOP_LIMIT,
        ErrorCode.LOOP_LIMIT,
    )
    return result.outcome is Outcome.ERROR and not at_limit and result.waits_for is None


def _patience(flow: Flow, spec: AgentSpec | None) -> Patience:
    if spec is None:
        return Patience(attempts=1)
    return Patience(spec.attempts, spec.timeout, flow.backoff, flow.away)


def _waiting(result: StageResult) -> End:
    """The run keeps its place in the queue, and nobody works it until its time has come."""
    return End(
        RunStatus.QUEUED,
        result.reason,
        error=result.error,
        due_at=result.retry_at,
        waits_for=result.waits_for,
    )


def _parked(result: StageResult) -> End:
    if result.waits_for is not None:
        return _waiting(result)
    if result.outcome is Outcome.CONFIRM:
        return End(RunStatus.WAITING_REVIEW, result.reason, ask=result.ask, resume=result.resume)
    return End(RunStatus.NEEDS_REVIEW, result.reason, error=result.error, ask=result.ask)
