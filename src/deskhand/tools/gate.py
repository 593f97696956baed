"""The gate: the only place where a tool runs, after every rule was asked about the call."""

import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from deskhand.errors import EffectRefused, Fenced, StoreUnavailable, ToolError
from deskhand.model.knowledge import CitedText
from deskhand.model.message import DELIVER, OWN_TOOLS
from deskhand.model.plan import DoneCall
from deskhand.model.principal import Principal
from deskhand.model.results import ToolResult
from deskhand.model.run import EffectState, Event, canonical_hash
from deskhand.model.second_reading import ToRead
from deskhand.ports import DeskDatabase, Effects, StageContext
from deskhand.tools.authority import Resolver
from deskhand.tools.context import NO_DATABASE, Context
from deskhand.tools.counting import added_by, describe
from deskhand.tools.effects import carry_out, is_done, timed_probe
from deskhand.tools.gate_call import GateAnswer, GateCall, Ruling, Terms, hold
from deskhand.tools.handlers import handler_of
from deskhand.tools.lookup import LookupFailed, Lookups
from deskhand.tools.memory_effects import MemoryEffects
from deskhand.tools.readable import readable_failure, readable_result
from deskhand.tools.registry import ToolRegistry
from deskhand.tools.rules import (
    ADMISSION,
    APPROVAL,
    JUDGED_ONCE,
    JUDGEMENT,
    RULES,
    GateRule,
    first_objection,
    named_rules,
)
from deskhand.tools.rules.approval import needs_four_eyes
from deskhand.tools.rules.replies import carries_text, findings_of, text_of, to_read_again
from deskhand.tools.running import run_within
from deskhand.tools.schema import Arguments, ArgumentsInvalid, read_arguments
from deskhand.tools.withholding import strangers_data, withheld

log = logging.getLogger("deskhand.gate")

StandIn = Callable[[StageContext, str, dict[str, Any]], ToolResult | None]
"""In capture mode, the result prepared for a call that was allowed; None without one."""

VIOLATION = "gate.violation"
"""The kind of the event that tells of a call that was held or denied for more than a slip in its
arguments."""
DONE_BEFORE = "done_before"
"""The rule of a call that was carried out before the customer was asked, and is told again."""
_SLIPS = ("unknown_tool", "unreadable_arguments", "invalid_arguments")


class Gate:
    """Decides on every tool call and runs what it allows. An error of its own holds the call."""

    def __init__(
        self,
        registry: ToolRegistry,
        ledger: Effects | None = None,
        *,
        desk: str = "embedded",
        mode: Literal["live", "capture"] = "live",
        terms: Terms | None = None,
        resolvers: Iterable[Resolver] = (),
        rules: Sequence[GateRule] = RULES,
        now: Callable[[], float] = time.time,
        record_event: Callable[[Event], Awaitable[None]] | None = None,
        stand_in: StandIn | None = None,
        cited: Callable[[str], Awaitable[Sequence[CitedText]]] | None = None,
        database: DeskDatabase = NO_DATABASE,
        acquainted: Callable[[Principal], Awaitable[Principal]] | None = None,
    ) -> None:
        """Without a `ledger`, effects are remembered until the process ends. `acquainted` adds
        what the company's contacts say about a principal: tier, tags, customer id."""
        self._registry, self._desk, self._mode = registry, desk, mode
        self._ledger: Effects = MemoryEffects() if ledger is None else ledger
        self._terms = terms or Terms()
        self._lookups = Lookups(resolvers)
        names = {rule.name for rule in rules}
        self._admission = named_rules(names, ADMISSION)
        self._judgement = named_rules(names, JUDGEMENT)
        self._approval = named_rules(names, APPROVAL)
        self._now, self._record_event, self._cited = now, record_event, cited
        self._stand_in = stand_in if mode == "capture" else None
        self._database = database.rehearsal() if mode == "capture" else database
        self._acquainted = acquainted

    @property
    def has_policy(self) -> bool:
        """Whether calls must pass a desk's own rules as well."""
        return self._terms.policy is not None

    async def call(
        self,
        tool: str,
        parameters: Mapping[str, Any] | str,
        *,
        allowed: Sequence[str],
        ctx: StageContext,
        index: int = 0,
        done: Sequence[DoneCall] = (),
    ) -> GateAnswer:
        """Judge and perhaps run one call; `parameters` may be the model's text, unread. What is
        among `done` is not carried out again.

        Fenced and StoreUnavailable pass through: nobody could be told to hold, and the step is
        repeated under its key.
        """
        started = time.perf_counter()
        try:
            call = self._prepared(tool, parameters, tuple(allowed), ctx, index, started)
            call.done = tuple(done)
            answer = await self._answer(call)
        except (Fenced, StoreUnavailable):
            raise
        except Exception:
            log.exception("the gate failed on %s in run %s; the call is held", tool, ctx.run_id)
            ruling = hold(
                "gate_error",
                f"the check of this call of {tool} failed; a person must look",
                liftable=False,
            )
            took = (time.perf_counter() - started) * 1000
            unread = canonical_hash([tool, {}])
            answer = GateAnswer(
                tool, "hold", ruling.rule, ruling.reason, unread, {}, ruling.result, latency_ms=took
            )
        await self._tell(answer, ctx.run_id)
        return answer

    async def look_through(
        self, reply: Mapping[str, Any], ctx: StageContext
    ) -> tuple[dict[str, Any], ...]:
        """What would speak against a reply for what it says, without judging or sending it."""
        call = await self._reply_call(reply, ctx)
        return () if call is None else findings_of(call, self._terms)

    async def to_read_again(self, reply: Mapping[str, Any], ctx: StageContext) -> ToRead | None:
        """What a second reader could settle of a reply, so that it may leave; None for nothing."""
        call = await self._reply_call(reply, ctx)
        return None if call is None else to_read_again(call, self._terms)

    async def _reply_call(self, reply: Mapping[str, Any], ctx: StageContext) -> GateCall | None:
        """The delivery of a reply as it would come here; None where it cannot be read."""
        call = self._prepared(DELIVER, reply, (DELIVER,), ctx, 0)
        if not isinstance(call.checked, Arguments):
            return None
        call.principal, call.now = ctx.principal, self._now()
        await self._read_reply(call, self._context(call))
        return call

    async def _answer(self, call: GateCall) -> GateAnswer:
        objection = first_objection(self._admission, call, self._terms)
        if objection is not None:
            return self._refused(call, objection)
        if call.done_before is not None:
            return self._gate_answer(call, "allow", DONE_BEFORE, "", call.done_before.result, 0.0)
        context = self._context(call)
        try:
            await self._look_up(call, context)
        except LookupFailed as error:
            return self._refused(call, error.ruling(call))
        begun = time.perf_counter()
        objection = self._judge(call)
        decision_ms = (time.perf_counter() - begun) * 1000
        if objection is not None:
            return self._refused(call, objection, decision_ms)
        try:
            result = await self._run(call, context)
        except EffectRefused as error:
            return self._refused(
                call, hold(error.rule, str(error), liftable=error.liftable), decision_ms
            )
        answer = self._gate_answer(call, "allow", "allowed", "", result, decision_ms)
        return replace(answer, took_effect=call.admitted_tool.changes_something and is_done(result))

    def _prepared(
        self,
        name: str,
        parameters: Mapping[str, Any] | str,
        allowed: tuple[str, ...],
        ctx: StageContext,
        index: int,
        started: float = 0.0,
    ) -> GateCall:
        given, note = read_arguments(parameters)
        tool = self._registry.get(name)
        checked: Arguments | ArgumentsInvalid | None = None
        if tool is not None:
            try:
                checked = tool.signature.check(given)
            except ArgumentsInvalid as error:
                checked = error
        key, live = ctx.effect_key(index), self._mode == "live"
        call = GateCall(
            name, given, note, allowed, ctx, key, tool, checked, live=live, started=started
        )
        call.hash = canonical_hash([name, call.canonical])
        return call

    async def _look_up(self, call: GateCall, context: Context) -> None:
        """Everything that is asked of others: who the principal is, what the keys mean, what
        happened before."""
        tool = call.admitted_tool
        call.principal = call.ctx.principal
        if (
            call.name not in OWN_TOOLS or self.has_policy
        ):  # an answer needs no customer data to leave
            call.principal = await self._lookups.identify(call.principal, context, tool.timeout)
            if self._acquainted is not None:
                call.principal = await self._acquainted(call.principal)
        call.approval = call.ctx.approval(call.hash, call.key)
        call.now = self._now()
        await self._lookups.resolve(call, context)
        await describe(call, self._terms, self._ledger)
        if carries_text(call):
            await self._read_reply(call, context)
        if tool.changes_something and call.live:
            call.effects = await self._ledger.effects(call.key.run_id)
            call.stop = None if call.earlier_effect is None else await self._ledger.stopped()

    async def _read_reply(self, call: GateCall, context: Context) -> None:
        if self._cited is not None:
            call.articles = tuple(await self._cited(call.key.run_id))
        call.others = await self._lookups.named_of_others(call, text_of(call), context)

    def _judge(self, call: GateCall) -> Ruling | None:
        """The first rule that speaks against the call, after a person's approval has lifted what
        it may lift."""
        tool = call.admitted_tool
        if tool.changes_something and not tool.signature.survives(call.arguments):
            raise ValueError(
                f"{tool.name}: the canonical arguments do not say all there is; nobody could"
                " approve them"
            )
        earlier = (
            call.earlier_effect
            if call.earlier_effect is not None and call.earlier_effect.call_hash == call.hash
            else None
        )
        if earlier is not None and earlier.state is EffectState.DONE:
            return None  # judged when it was intended; what it did is told again
        for rule in self._judgement:
            if earlier is not None and rule.name in JUDGED_ONCE:
                continue
            ruling = rule.check(call, self._terms)
            if ruling is None:
                continue
            if not (ruling.verdict == "hold" and ruling.liftable and call.is_approved):
                return ruling
            doubt = first_objection(self._approval, call, self._terms)
            if doubt is not None:
                return doubt
        return None

    async def _run(self, call: GateCall, context: Context) -> ToolResult:
        tool = call.admitted_tool
        stood_in = (
            self._stand_in(call.ctx, call.name, call.canonical)
            if self._stand_in is not None
            else None
        )
        if stood_in is not None:
            return stood_in
        if not tool.changes_something:
            return await self._attempted(call, context)
        if self._mode == "capture":
            rehearsed = (
                await self._attempted(call, context) if tool.rehearsable else ToolResult.success({})
            )
            return (
                rehearsed.changed(data={**(rehearsed.data or {}), "captured": True})
                if rehearsed.ok
                else rehearsed
            )

        async def perform() -> ToolResult:
            try:
                return self._shown(await self._handle(call, context), call)
            except Exception as error:
                _log_failure(call, error)
                raise

        approved = call.is_approved and first_objection(self._approval, call, self._terms) is None
        adds = added_by(call, self._terms, limits=() if approved else call.limits)
        canonical = call.arguments.canonical
        probe = timed_probe(tool)
        earlier = call.earlier_effect
        return await carry_out(
            call.key,
            tool,
            call.hash,
            canonical,
            self._ledger,
            perform,
            probe,
            adds,
            earlier=earlier,
        )

    async def _attempted(self, call: GateCall, context: Context) -> ToolResult:
        """What leaves nothing behind may simply fail."""
        try:
            return self._shown(await self._handle(call, context), call)
        except Exception as error:
            _log_failure(call, error)
            return readable_failure(error)

    async def _handle(self, call: GateCall, context: Context) -> Any:
        tool = call.admitted_tool
        values = self._lookups.filled(call, replace(context, approved_by=call.approved_by))
        return await run_within(tool.timeout, handler_of(tool), values, what=tool.name)

    def _context(self, call: GateCall) -> Context:
        return Context(call.key.run_id, str(call.key), self._desk, call.name, self._database)

    def _shown(self, value: Any, call: GateCall) -> ToolResult:
        """What a tool returned, unless it is somebody else's."""
        if (whose := strangers_data(value, call.principal)) is None:
            return readable_result(value)
        log.error(
            "%s in run %s returned data of another customer (%s)", call.name, call.key.run_id, whose
        )
        return withheld(call.name, whose)

    # --- what is told

    def _refused(self, call: GateCall, ruling: Ruling, decision_ms: float = 0.0) -> GateAnswer:
        answer = self._gate_answer(
            call, ruling.verdict, ruling.rule, ruling.reason, ruling.result, decision_ms
        )
        return replace(
            answer, findings=ruling.findings, requires_escalation=ruling.requires_escalation
        )

    def _gate_answer(
        self,
        call: GateCall,
        verdict: Literal["allow", "hold", "deny"],
        rule: str,
        reason: str,
        result: ToolResult,
        decision_ms: float,
    ) -> GateAnswer:
        is_judged = call.facts is not None
        needs_two = is_judged and needs_four_eyes(call, self._terms)
        facts = {} if call.facts is None else call.facts.record()
        moves = tuple(map(str, call.money.values())) if is_judged else ()
        return GateAnswer(
            call.name,
            verdict,
            rule,
            reason,
            call.hash,
            call.canonical,
            result,
            latency_ms=(time.perf_counter() - call.started) * 1000,
            decision_ms=decision_ms,
            origin=call.origin,
            read=call.read,
            facts=facts,
            approved_by=call.approved_by,
            approvals_needed=2 if needs_two else 1,
            moves=moves,
        )

    async def _tell(self, answer: GateAnswer, run_id: str) -> None:
        """One log line and one event for what was held or denied, without the arguments: they
        may be a customer's."""
        data = answer.result.error.details if answer.result.error else {}
        if (answer.verdict == "allow" and "withheld" not in data) or answer.rule in _SLIPS:
            return
        rule = "result_withheld" if answer.verdict == "allow" else answer.rule
        violation = {
            "tool": answer.tool,
            "verdict": answer.verdict,
            "rule": rule,
            "escalate": answer.requires_escalation,
        }
        log.warning(
            "%s of %s by rule %r in run %s",
            answer.verdict,
            answer.tool,
            rule,
            run_id,
            extra={"run_id": run_id},
        )
        if self._record_event is not None:
            await self._record_event(Event(VIOLATION, run_id=run_id, by="gate", payload=violation))


def _log_failure(call: GateCall, error: Exception) -> None:
    """A ToolError is the tool's own word for the model; whatever else it raises, somebody may
    have to mend."""
    level = logging.INFO if isinstance(error, ToolError) else logging.WARNING
    log.log(level, "%s %s failed: %r", call.name, call.key, error, exc_info=error)
