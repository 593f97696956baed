"""A run as one document, made from its records, for the CLI, the API and evals."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.engine.agent_state import agent_state
from deskhand.engine.journal import ADOPTION, State, states
from deskhand.model.documents import document, iso_at, with_times
from deskhand.model.envelope import Envelope
from deskhand.model.message import DELIVER, Message, message_of
from deskhand.model.outcome import Outcome
from deskhand.model.plan import StepRecord
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Event, Review, ReviewKind, Run, StepRow
from deskhand.ports import Store

Document = dict[str, Any]

REPLY = "reply"
_CALL_FIELDS = ("tool", "arguments", "verdict", "ok")
_WHY_FIELDS = ("rule", "reason", "origin", "read", "approved_by")
_HELD_FIELDS = ("tool", "arguments", "rule", "origin", "read")
_REPLY_FIELDS = ("to", "subject", "text", "language")


@dataclass(frozen=True, slots=True)
class Records:
    """Everything stored about one run."""

    run: Run
    message: Message | None
    """None once it was erased."""
    rows: Sequence[StepRow]
    reviews: Sequence[Review]
    events: Sequence[Event] = ()
    """What people and servers did about it beside its steps."""

    @property
    def states(self) -> list[State]:
        run = self.run
        message = self.message
        first = Envelope(run_id=run.id) if message is None else Envelope.of(message, run_id=run.id)
        return list(states(first, self.rows))


async def read_records(store: Store, run_id: str) -> Records:
    return Records(
        *await asyncio.gather(
            store.run(run_id),
            store.message(run_id),
            store.rows(run_id),
            store.find_reviews(ReviewFilter(run_id=run_id)),
            store.events(run_id=run_id),
        )
    )


def story_of(records: Records) -> Document:
    """How the run went and where it stands. Fields may be added here, never renamed."""
    run = records.run
    steps = records.states
    outputs = steps[-1].after.outputs if steps else {}
    return {
        "run": run.id,
        "status": str(run.status),
        "reason": run.reason,
        "error_code": run.error_code,
        **_route(records.message),
        "flow": run.flow,
        "flow_version": run.flow_version,
        "conversation": run.conversation,
        "message": message_of(records.message),
        "outputs": outputs,
        "plan_steps": _plan_steps(steps),
        "tool_calls": tool_calls(steps),
        "review": _review(records.reviews),
        "reply": _reply(steps),
        "question": _question(steps),
        "delivery": _delivery(steps),
        "steps": list(map(_step, steps)),
        "state": agent_state(run, records.message, steps),
    }


def _route(message: Message | None) -> Document:
    """Which way the message went, by which of the desk's rules and why."""
    route = None if message is None else message.route
    if route is None:
        return {"route": "pipeline", "profile": None, "rule": None, "why": None}
    return {"route": route.route, "profile": route.profile, "rule": route.rule, "why": route.why}


def timeline_of(records: Records) -> list[Document]:
    """Every step with the full state before and after it."""
    return list(map(_timeline_entry, records.states))


def _timeline_entry(step: State) -> Document:
    """One step, also under the names that a log of agents' steps uses."""
    row = step.row
    error = step.result.error
    return {
        "trace_id": row.run_id,
        "step_name": row.name,
        "step_order": row.seq,
        "error_message": error and error.message,
        "name": row.name,
        "order": row.seq,
        "outcome": row.outcome,
        "started_at": iso_at(row.started_at),
        "latency_ms": row.latency_ms,
        "attempt": row.attempt,
        "flow_version": row.flow_version,
        "error": error and error.model_dump(mode="json"),
        "tool_call": step.result.call,
        "answered": step.result.answered,
        "erased": row.body is None,
        "input_state": state_of(step.before),
        "output_state": state_of(step.after),
    }


def events_of(records: Records) -> list[Document]:
    """What happened beside the steps, oldest first."""
    return [
        {"kind": event.kind, "by": event.by, "at": iso_at(event.at), **event.payload}
        for event in records.events
    ]


def time_spent(records: Records) -> tuple[float, float]:
    """Seconds at work, and seconds waiting for people, for the customer or for a server."""
    at_work = sum(row.latency_ms for row in records.rows if "/" not in row.name) / 1000
    last = records.rows[-1] if records.rows else None
    end = records.run.updated_at if last is None else last.started_at + last.latency_ms / 1000
    return at_work, max(0.0, end - records.run.created_at - at_work)


def state_of(envelope: Envelope) -> Document:
    """An envelope as the trace shows it; the message, the same at every step, is shown once."""
    return envelope.model_dump(mode="json", exclude={"run_id", "message"})


def tool_calls(steps: Sequence[State]) -> list[Document]:
    """The calls of the run's stages with their last verdicts, without the reply's delivery."""
    calls: list[Document] = []
    for step in steps:
        call = step.result.call or _held(step)
        if call is None or call.get("tool") == DELIVER:
            continue
        shown = {field: call.get(field) for field in _CALL_FIELDS}
        shown |= {field: call[field] for field in _WHY_FIELDS if call.get(field)}
        held = (other for other in calls if other["verdict"] == "hold" and _same(other, shown))
        waiting = next(held, None)
        if waiting is None:
            calls.append(shown)
        else:
            waiting.clear()
            waiting.update(shown)
    return calls


def _held(state: State) -> Document | None:
    ask = state.result.ask
    if (
        state.result.outcome is not Outcome.CONFIRM
        or ask is None
        or ask.kind != ReviewKind.TOOL_CALL
    ):
        return None
    shown = {field: ask.payload.get(field) for field in _HELD_FIELDS}
    return {**shown, "verdict": "hold", "ok": False, "reason": ask.reason}


def _same(call: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return (call["tool"], call["arguments"]) == (other["tool"], other["arguments"])


def _review(reviews: Sequence[Review]) -> Document | None:
    """The newest review: the one that is open, or the last that was."""
    if not reviews:
        return None
    review = reviews[-1]
    return {
        "kind": str(review.kind),
        "reason": review.reason,
        "id": review.id,
        "state": str(review.state),
        "decision": None if review.decision is None else str(review.decision),
        "decided_by": review.decided_by,
    }


def _reply(steps: Sequence[State]) -> Document | None:
    """What this run wrote to the customer, without a reply adopted from an earlier run."""
    wrote = [step for step in steps if step.row.name != ADOPTION and _writes_reply(step)]
    reply = wrote[-1].after.output(REPLY) if wrote else None
    if not isinstance(reply, dict):
        return None
    copies = {"cc": reply["cc"]} if reply.get("cc") else {}
    return {field: reply.get(field) for field in _REPLY_FIELDS} | copies


def _writes_reply(step: State) -> bool:
    delta = step.result.delta
    return REPLY in delta.outputs or REPLY in delta.merge


def _question(steps: Sequence[State]) -> Document | None:
    """What the run waits for the customer to answer."""
    if not steps or steps[-1].result.outcome is not Outcome.CLARIFY:
        return None
    ask = steps[-1].result.ask
    if ask is None:
        return None
    return {"text": ask.text, "param": ask.param}


def _delivery(steps: Sequence[State]) -> Document | None:
    """How the reply was delivered, by its last attempt."""
    calls = [step.result.call for step in steps if step.result.call is not None]
    deliveries = [call for call in calls if call.get("tool") == DELIVER]
    if not deliveries:
        return None
    last = deliveries[-1]
    return {"verdict": last.get("verdict"), "ok": last.get("ok"), **(last.get("result") or {})}


def _plan_steps(steps: Sequence[State]) -> list[Document]:
    """How far each step of the newest plan is, in the plan's order."""
    walked = [step.result.plan_steps for step in steps if "/" not in step.row.name]
    newest = next((records for records in reversed(walked) if records), ())
    return list(map(_plan_step, newest))


def _plan_step(record: StepRecord) -> Document:
    return {
        **record.model_dump(mode="json", include={"place", "type", "name", "status"}),
        "started_at": _moment(record.started_at),
        "finished_at": _moment(record.finished_at),
    }


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else iso_at(seconds)


def _step(state: State) -> Document:
    row = state.row
    result = state.result
    return {
        "name": row.name,
        "outcome": row.outcome,
        "latency_ms": row.latency_ms,
        "attempt": row.attempt,
        "error": result.error.message if result.error else None,
        "answered": result.answered,
    }


async def read_trail(store: Store, run_id: str) -> Document:
    """What agents and models did in a run; NotFound when the run does not exist."""
    run = await store.run(run_id)
    return await trail_of(store, run.id)


async def trail_of(store: Store, run_id: str) -> Document:
    """`agent_runs`, `llm_calls` without their answers, and `email_events`, by their names."""
    calls = [document(call) for call in await store.calls(run_id)]
    for call in calls:
        call.pop("answer", None)
    return {
        "agent_runs": list(map(with_times, await store.agent_runs(run_id))),
        "llm_calls": calls,
        "email_events": list(map(with_times, await store.email_events(run_id))),
    }
