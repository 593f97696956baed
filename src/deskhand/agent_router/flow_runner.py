"""`FlowRunner`: a flow by itself, on rows that are kept in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from deskhand.agent_router.memory import MemoryRows
from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.agents.replying.services import dispatch_through, review_through
from deskhand.engine.clock import SystemClock
from deskhand.engine.context import RunContext
from deskhand.engine.loop import Flow, run_flow
from deskhand.model.envelope import Ask, Delta, Envelope, ErrorNote, StageResult
from deskhand.model.ids import new_id
from deskhand.model.message import Address, Message
from deskhand.model.run import RunStatus
from deskhand.model.spec import FlowSpec
from deskhand.ports import Clock
from deskhand.tools.services import ServiceFunction

_NOBODY = Address(address="somebody")


@dataclass(frozen=True, slots=True)
class FlowResult:
    """Where a message came to rest."""

    status: RunStatus
    envelope: Envelope
    """What the stages made of it: `envelope.outputs` by stage."""
    reason: str | None = None
    ask: Ask | None = None
    """What the customer or a person is asked, where the flow waits for one of them."""
    resume: str | None = None
    """The stage that an answer to `ask` goes on at."""
    error: ErrorNote | None = None


class FlowRunner:
    """Carries messages through a flow with the engine's own loop. One instance serves many
    messages at a time; nothing survives the process."""

    def __init__(self, flow: FlowSpec, parts: Parts, *, clock: Clock | None = None) -> None:
        """Raises ConfigError where a stage asks for a part that is not there. With a gate among
        the parts, the flow may use the services `review` and `dispatch`."""
        parts = replace(parts, services=_with_own_services(parts))
        agents = {name: Agent(spec, parts).process for name, spec in flow.stages.items()}
        self._flow = Flow(flow, agents)
        self._clock: Clock = clock or SystemClock()

    async def run(self, message: Message | str, after: FlowResult | None = None) -> FlowResult:
        """Work one message until the flow ends or waits. `after` is the result that asked the
        customer what this message answers."""
        message = self._message(message) if isinstance(message, str) else message
        first = Envelope.of(message, run_id=new_id("run"))
        rows = MemoryRows(first)
        ctx = RunContext(first, b"", rows, self._clock, flow_version=self._flow.spec.name)  # type: ignore[arg-type]

        async def left() -> StageResult | None:
            return None if after is None else _left_by(after)

        start = await ctx.adopt(left)
        end = await run_flow(self._flow, ctx, start=start)
        await ctx.rest(rows.rest)
        resume = end.resume
        if end.status is RunStatus.WAITING_USER and rows.last is not None:
            resume = rows.last.result.resume or rows.last.row.name
        return FlowResult(end.status, ctx.envelope, end.reason, end.ask, resume, end.error)

    def _message(self, text: str) -> Message:
        at = datetime.fromtimestamp(self._clock.now(), UTC)
        name = new_id("msg")
        return Message(id=name, conversation=name, sender=_NOBODY, body=text, received_at=at)


def _with_own_services(parts: Parts) -> Mapping[str, ServiceFunction]:
    if parts.tools is None:
        return dict(parts.services or {})
    own = {
        "review": review_through(parts.tools),
        "dispatch": dispatch_through(parts.tools, parts.sending),
    }
    return {**own, **(parts.services or {})}


def _left_by(after: FlowResult) -> StageResult:
    asked = {}
    if after.ask is not None:
        asked = {"param": after.ask.param, "text": after.ask.text}
    metadata = {
        **after.envelope.metadata,
        "adopted_from": after.envelope.run_id,
        "asked": asked,
    }
    delta = Delta(outputs=after.envelope.outputs, metadata=metadata)
    return StageResult(delta=delta, next=after.resume)
