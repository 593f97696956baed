"""A run told from its records: the document that the CLI prints, the API answers with and evals
compare."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.engine.agent_state import agent_state
from deskhand.engine.journal import ADOPTION, State, states
from deskhand.model.documents import iso_at
from deskhand.model.envelope import Envelope
from deskhand.model.message import Message, iso
from deskhand.model.outcome import Outcome
from deskhand.model.prepared import Prepared
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Event, Review, ReviewKind, Run, StepRow
from deskhand.ports import Store
from deskhand.tools.delivery import DELIVER

Document = dict[str, Any]

REPLY = "reply"
_CALL_FIELDS = ("tool", "arguments", "verdict", "ok")
_WHY_FIELDS = ("rule", "reason", "origin", "approved_by")
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
        run, message = self.run, self.message
        first = Envelope(run_id=run.id) if message is None else Envelope.of(message, run_id=run.id)
        return list(states(first, self.rows))


async def read_records(store: Store, run_id: str) -> Records:
    run = await store.run(run_id)
    rows, reviews = await store.rows(run_id), await store.find_reviews(ReviewFilter(run_id=run_id))
    return Records(
        run, await store.message(run_id), rows, reviews, await store.events(run_id=run_id)
    )


def story_of(records: Records) -> Document:
    """How the run went and where it stands. Fields may be added here, never renamed."""
    run, told = records.run, records.states
    outputs = told[-1].after.outputs if told else {}
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
        "tool_calls": tool_calls(told),
        "review": _review(records.reviews),
        "reply": _reply(told),
        "question": _question(told),
        "delivery": _delivery(told),
        "steps": [_step(state) for state in told],
        "state": agent_state(run, records.message, told),
    }


def _route(message: Message | None) -> Document:
    """Which way the message went, by which of the desk's rules and why."""
    route = None if message is None else message.route
    if route is None:
        return {"route": "pipeline", "profile": None, "rule": None, "why": None}
    return {"route": route.route, "profile": route.profile, "rule": route.rule, "why": route.why}


def timeline_of(records: Records) -> list[Document]:
    """Every step with the full state it met and left; one entry holds all that a log of agents'
    steps asks for."""
    return [
        {
            "trace_id": records.run.id,
            "step_name": state.row.name,
            "step_order": state.row.seq,
            "error_message": state.result.error.message if state.result.error else None,
            "name": state.row.name,
            "order": state.row.seq,
            "outcome": state.row.outcome,
            "started_at": iso_at(state.row.started_at),
            "latency_ms": state.row.latency_ms,
            "attempt": state.row.attempt,
            "flow_version": state.row.flow_version,
            "error": state.result.error.model_dump(mode="json") if state.result.error else None,
            "tool_call": state.result.call,
            "answered": state.result.answered,
            "erased": state.row.body is None,
            "input_state": state_of(state.before),
            "output_state": state_of(state.after),
        }
        for state in records.states
    ]


def events_of(records: Records) -> list[Document]:
    """What happened beside the steps, oldest first."""
    return [
        {"kind": event.kind, "by": event.by, "at": iso_at(event.at), **event.payload}
        for event in records.events
    ]


def time_spent(records: Records) -> tuple[float, float]:
    """Seconds at work, and seconds in between: waiting for people, for the customer or for a
    server."""
    at_work = sum(row.latency_ms for row in records.rows if "/" not in row.name) / 1000
    last = records.rows[-1] if records.rows else None
    end = records.run.updated_at if last is None else last.started_at + last.latency_ms / 1000
    return at_work, max(0.0, end - records.run.created_at - at_work)


def state_of(envelope: Envelope) -> Document:
    """An envelope as the trace shows it; the message, the same at every step, is told once."""
    return envelope.model_dump(mode="json", exclude={"run_id", "message"})


def message_of(message: Message | None) -> Document | None:
    if message is None:
        return None
    return {
        "id": message.id,
        "channel": message.channel,
        "from": str(message.sender),
        "principal": message.principal.model_dump(mode="json"),
        "subject": message.subject,
        "received_at": iso(message.received_at),
        "prepared": None if message.prepared is None else _prepared(message.prepared),
    }


def _prepared(read: Prepared) -> Document:
    """What the preprocessor found, or why the message passed as it is."""
    return {"by": read.by, "name": read.name, "address": read.address, "failed": read.failed}


def tool_calls(told: Sequence[State]) -> list[Document]:
    """The calls of the run's own stages, each with its last verdict; the delivery of the reply
    is told apart."""
    calls: list[Document] = []
    for state in told:
        call = state.result.call or _held(state)
        if call is None or call.get("tool") == DELIVER:
            continue
        known = {field: call.get(field) for field in _CALL_FIELDS}
        known |= {field: call[field] for field in _WHY_FIELDS if call.get(field)}
        waiting = next(
            (other for other in calls if other["verdict"] == "hold" and _same(other, known)), None
        )
        if waiting is None:
            calls.append(known)
        else:
            waiting.clear()
            waiting.update(known)
    return calls


def _held(state: State) -> Document | None:
    ask = state.result.ask
    if (
        state.result.outcome is not Outcome.CONFIRM
        or ask is None
        or ask.kind != ReviewKind.TOOL_CALL
    ):
        return None
    shown = {field: ask.payload.get(field) for field in ("tool", "arguments", "rule", "origin")}
    return {**shown, "verdict": "hold", "ok": False, "reason": ask.reason}


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return (one["tool"], one["arguments"]) == (other["tool"], other["arguments"])


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


def _reply(told: Sequence[State]) -> Document | None:
    """What this run wrote to the customer; a reply that came along by adoption was an earlier
    run's."""
    wrote = [
        state
        for state in told
        if state.row.name != ADOPTION
        and (REPLY in state.result.delta.outputs or REPLY in state.result.delta.merge)
    ]
    reply = wrote[-1].after.output(REPLY) if wrote else None
    return {field: reply.get(field) for field in _REPLY_FIELDS} if isinstance(reply, dict) else None


def _question(told: Sequence[State]) -> Document | None:
    """What the run waits for the customer to answer."""
    ask = told[-1].result.ask if told and told[-1].result.outcome is Outcome.CLARIFY else None
    return None if ask is None else {"text": ask.text, "param": ask.param}


def _delivery(told: Sequence[State]) -> Document | None:
    call = next(
        (
            state.result.call
            for state in reversed(told)
            if (state.result.call or {}).get("tool") == DELIVER
        ),
        None,
    )
    return (
        None
        if call is None
        else {"verdict": call.get("verdict"), "ok": call.get("ok"), **(call.get("result") or {})}
    )


def _step(state: State) -> Document:
    row, result = state.row, state.result
    return {
        "name": row.name,
        "outcome": row.outcome,
        "latency_ms": row.latency_ms,
        "attempt": row.attempt,
        "error": result.error.message if result.error else None,
        "answered": result.answered,
    }
