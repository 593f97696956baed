"""What the gate would say of a call that somebody makes up: the desk's own gate, which carries
nothing out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from deskhand.errors import EffectRefused
from deskhand.model.envelope import Envelope, StageResult
from deskhand.model.message import OWN_TOOLS, Address, Message
from deskhand.model.principal import ANONYMOUS, Principal, PrincipalKind
from deskhand.model.results import ToolResult
from deskhand.model.run import EffectKey, Verdict
from deskhand.model.totals import Sums, objection_to
from deskhand.model.understanding import CATEGORY, LANGUAGE
from deskhand.policy.call_facts import facts_of
from deskhand.ports import Stepped, StepWork
from deskhand.tools.context import Context
from deskhand.tools.counting import added_by
from deskhand.tools.gate import Gate
from deskhand.tools.gate_call import GateAnswer, GateCall
from deskhand.tools.registry import Tool

NO_RUN = "what_if"
"""Stands in for a run's id."""
_HOW = "assumed by whoever tries the call"


class TrialGate(Gate):
    """Asks every rule about a call, the caps and the stop switch too. No tool runs, nothing is
    counted, and nobody is told."""

    async def _run(self, call: GateCall, context: Context) -> ToolResult:
        if call.admitted_tool.changes_something:
            counted = added_by(call, self._terms, call.limits)
            sums = Sums.of(await self._ledger.totals(counted.places))
            objection = objection_to(await self._ledger.stopped(), sums, call.name, counted)
            if objection is not None:
                raise EffectRefused(objection.rule, objection.reason, liftable=objection.liftable)
        return ToolResult.success({})

    async def _tell(self, answer: GateAnswer, run_id: str) -> None:
        """A call that nobody made is no violation."""

    def own_rule(self, answer: GateAnswer) -> str | None:
        """The desk's own rule that decided about a call, or let it pass; None without any."""
        facts = facts_of({"tool": answer.tool, "facts": answer.facts})
        if self._terms.policy is None or facts is None:
            return None
        return self._terms.policy.decide(facts).rule


@dataclass(frozen=True, slots=True)
class AssumedCall:
    """A call that nobody made, and the message that would have led to it."""

    tool: str
    arguments: Mapping[str, Any]
    customer: str = ""
    """A proven address or a customer's number; empty where nobody vouches for the sender."""
    words: str = ""
    """What the customer wrote."""
    category: str = ""
    language: str = ""

    @property
    def principal(self) -> Principal:
        if not self.customer:
            return ANONYMOUS
        if "@" in self.customer:
            return Principal(kind=PrincipalKind.SENDER, address=self.customer, how=_HOW)
        return Principal(kind=PrincipalKind.ASSERTED, customer_id=self.customer, how=_HOW)


class AssumedRun:
    """A StageContext for a call outside of any run: nothing is recorded, and nobody has approved
    anything."""

    def __init__(self, call: AssumedCall, now: float) -> None:
        self.run_id = NO_RUN
        self.goes_on_without_model = False
        self.principal = call.principal
        self._now = now
        message = Message(
            id=NO_RUN,
            conversation=NO_RUN,
            sender=Address(address=call.customer or "somebody"),
            principal=call.principal,
            body=call.words,
            received_at=datetime.fromtimestamp(now, UTC),
        )
        assumed = {CATEGORY: call.category or None, LANGUAGE: call.language or None}
        self.envelope = Envelope.of(message, run_id=NO_RUN).with_output("assumed", assumed)

    def now(self) -> float:
        return self._now

    async def step(
        self, name: str, work: StepWork[Stepped], *, at_once: bool = True
    ) -> Stepped | StageResult:
        return await work()

    def note(self, name: str, result: StageResult, latency_ms: float = 0.0) -> StageResult:
        return result

    def effect_key(self, index: int = 0) -> EffectKey:
        return EffectKey(self.run_id, 0, index)

    def approval(self, call_hash: str, key: EffectKey) -> Verdict | None:
        return None


@dataclass(frozen=True, slots=True)
class TriedCall:
    """The gate's answer to a call that was only tried."""

    answer: GateAnswer
    own_rule: str | None
    """The desk's own rule that decided about it, or let it pass to the gate's other rules."""


class CallTrial:
    """Tries calls on one desk. Its gate is made when somebody first tries one."""

    def __init__(
        self, make: Callable[[], tuple[TrialGate, Sequence[Tool]]], now: Callable[[], float]
    ) -> None:
        self._make = make
        self._now = now

    @cached_property
    def _made(self) -> tuple[TrialGate, Sequence[Tool]]:
        return self._make()

    @property
    def tools(self) -> list[Tool]:
        """What may be tried: all but the engine's own, whose replies have checks of their own."""
        tools = self._made[1]
        return sorted((tool for tool in tools if tool.name not in OWN_TOOLS), key=_name)

    async def judge(self, call: AssumedCall) -> TriedCall:
        gate = self._made[0]
        run = AssumedRun(call, self._now())
        answer = await gate.call(call.tool, dict(call.arguments), allowed=(call.tool,), ctx=run)
        return TriedCall(answer, gate.own_rule(answer))


def _name(tool: Tool) -> str:
    return tool.name
