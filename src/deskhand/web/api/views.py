"""What the API shows of runs and desks. Fields may be added, never renamed."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from deskhand.engine.journal import State
from deskhand.engine.story import Records, events_of, state_of, story_of
from deskhand.model.run import Run, RunStatus
from deskhand.model.totals import Stop
from deskhand.model.waiting import AwayModel

Item = TypeVar("Item")


class View(BaseModel):
    model_config = ConfigDict(frozen=True)


class Page(View, Generic[Item]):
    """A part of a list; `next_cursor` fetches the following part and is null on the last."""

    items: list[Item]
    next_cursor: str | None


class AcceptedView(View):
    run: str
    conversation: str = ""
    """Where the message was put: another than it named, if that one is somebody else's."""
    status: RunStatus
    duplicate: bool
    """The message was handed in before; `run` is what became of it then."""


class RunView(View):
    run: str
    desk: str
    status: RunStatus
    reason: str | None
    error_code: str | None
    flow: str
    flow_version: str | None
    conversation: str
    crashes: int
    successor: str | None
    created_at: datetime
    updated_at: datetime
    due_at: datetime | None = None
    """While the run is queued and waits for a model that is away: when it is tried again."""
    waits_for: str | None = None
    """That model; `reason` says what is wrong with it."""

    @classmethod
    def of(cls, run: Run) -> Self:
        return cls(**_facts(run))


class StepView(View):
    """A step; `trace_id`, `step_name`, `step_order` and `error_message` suit a log of agents."""

    trace_id: str
    step_name: str
    step_order: int
    error_message: str | None
    seq: int
    name: str
    outcome: str
    attempt: int
    latency_ms: float
    started_at: datetime
    error: dict[str, Any] | None
    flow_version: str
    erased: bool
    input_state: dict[str, Any] | None = None
    """The full state before and after the step; only with `?state=true`."""
    output_state: dict[str, Any] | None = None

    @classmethod
    def of(cls, state: State, *, with_state: bool) -> Self:
        row = state.row
        error = state.result.error
        error_document = error.model_dump(mode="json") if error is not None else None
        around: dict[str, Any] = {}
        if with_state:
            around["input_state"] = state_of(state.before)
            around["output_state"] = state_of(state.after)
        return cls(
            trace_id=row.run_id,
            step_name=row.name,
            step_order=row.seq,
            error_message=error.message if error is not None else None,
            seq=row.seq,
            name=row.name,
            outcome=row.outcome,
            attempt=row.attempt,
            latency_ms=row.latency_ms,
            started_at=moment(row.started_at),
            error=error_document,
            flow_version=row.flow_version,
            erased=row.body is None,
            **around,
        )


class RunDocument(RunView):
    """A run with its story, as `deskhand run --json` tells it, and every step."""

    model_config = ConfigDict(frozen=True, extra="allow")

    message: dict[str, Any] | None
    outputs: dict[str, Any]
    tool_calls: list[dict[str, Any]]
    review: dict[str, Any] | None
    reply: dict[str, Any] | None
    steps: list[StepView]
    events: list[dict[str, Any]]
    """What people and servers did about the run beside its steps."""

    @classmethod
    def of_records(cls, records: Records, *, with_state: bool) -> Self:
        steps = [StepView.of(state, with_state=with_state) for state in records.states]
        fields = {**story_of(records), **_facts(records.run), "events": events_of(records)}
        return cls.model_validate({**fields, "steps": steps})


class AgentTrail(View):
    """What agents and models did in a run, by the names of the tables and views that hold it."""

    agent_runs: list[dict[str, Any]]
    """One for each stage that an agent worked: profile, status, tool_calls_log, final_message,
    iterations, error."""
    llm_calls: list[dict[str, Any]]
    """One for each question to a model; those of agents have the call_type `agent`."""
    email_events: list[dict[str, Any]]


class StopView(View):
    by: str
    reason: str
    at: datetime


class AwayModelView(View):
    model: str
    runs: int
    """How many wait for it."""
    next_at: datetime
    """When the first of them is tried again."""
    reason: str | None

    @classmethod
    def of(cls, away: AwayModel) -> Self:
        return cls(
            model=away.model, runs=away.runs, next_at=moment(away.next_at), reason=away.reason
        )


class RetriedView(View):
    """What became of runs that were to be tried again together."""

    count: int
    """How many were queued again, or would be."""
    dry_run: bool
    runs: list[str]
    skipped: list[str]
    """Left alone: somebody has decided about them."""


class DeskView(View):
    desk: str
    stopped: StopView | None
    """Who stopped it, when and why; null while it acts."""
    released: int = 0
    """With a resumption: how many runs go on."""
    screened: int = 0
    """How many messages of the last seven days were not answered because a program wrote them;
    `GET /api/runs?screened=true` lists them."""
    models_away: list[AwayModelView] = []
    """The models that runs wait for."""

    @classmethod
    def of(
        cls,
        desk: str,
        stop: Stop | None,
        *,
        released: int = 0,
        screened: int = 0,
        away: Sequence[AwayModel] = (),
    ) -> Self:
        stopped = (
            None if stop is None else StopView(by=stop.by, reason=stop.reason, at=moment(stop.at))
        )
        return cls(
            desk=desk,
            stopped=stopped,
            released=released,
            screened=screened,
            models_away=[AwayModelView.of(model) for model in away],
        )


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _facts(run: Run) -> dict[str, Any]:
    return {
        "run": run.id,
        "desk": run.desk,
        "status": run.status,
        "reason": run.reason,
        "error_code": run.error_code,
        "flow": run.flow,
        "flow_version": run.flow_version,
        "conversation": run.conversation,
        "crashes": run.crashes,
        "successor": run.successor,
        "created_at": moment(run.created_at),
        "updated_at": moment(run.updated_at),
        "due_at": None if run.due_at is None else moment(run.due_at),
        "waits_for": run.waits_for,
    }
