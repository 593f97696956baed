"""The gate of an `AgentRouter`: its policy judges, its executor carries out."""

import inspect
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from deskhand.model.interaction import Interaction
from deskhand.model.message import DELIVER
from deskhand.model.plan import DoneCall, ToolCall
from deskhand.model.results import ToolErrorDetails, ToolResult, normalize_tool_result
from deskhand.model.run import canonical_hash
from deskhand.ports import StageContext
from deskhand.ports.agent_router import PolicyEngine, ToolExecutor
from deskhand.tools.gate_call import GateAnswer

_SAYS_PRE = 3_000_000
"""The call index from which on a delivery is something that a plan says in between."""


class RouterGate:
    """Serves one interaction. What is delivered is kept, for the response."""

    def __init__(
        self,
        policy: PolicyEngine,
        executor: ToolExecutor,
        interaction: Interaction,
        history: Sequence[str],
    ) -> None:
        self._policy = policy
        self._executor = executor
        self._interaction = interaction
        self._history = history
        self.replies: list[str] = []
        self.last_result: ToolResult | None = None
        self.has_failed = False
        """Whether a call was refused or went wrong."""

    @property
    def has_policy(self) -> bool:
        return True

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
        arguments = {} if isinstance(parameters, str) else dict(parameters)
        call_hash = canonical_hash({"tool": tool, "arguments": arguments})
        if tool == DELIVER:
            if index < _SAYS_PRE:
                self.replies.append(str(arguments.get("text") or ""))
            delivered = ToolResult.success({"delivered": ctx.run_id})
            return GateAnswer(tool, "allow", "allowed", "", call_hash, arguments, delivered)
        call = ToolCall(tool=tool, parameters=arguments)
        decision = self._policy.validate(call, self._interaction, self._history)
        if inspect.isawaitable(decision):
            decision = await decision
        if not decision.allowed:
            self.has_failed = True
            reason = "; ".join(decision.reasons) or "the policy does not allow it"
            error = ToolErrorDetails(error_type="policy_denied", message=reason, recoverable=False)
            refused = ToolResult.failure(error)
            verdict: Literal["hold", "deny"] = "hold" if decision.holds else "deny"
            rule = decision.rule or "policy"
            return GateAnswer(tool, verdict, rule, reason, call_hash, arguments, refused)
        begun = time.perf_counter()
        result = await self._carried_out(call)
        self.last_result = result
        self.has_failed |= not result.ok
        took = (time.perf_counter() - begun) * 1000
        rule = decision.rule or "allowed"
        return GateAnswer(tool, "allow", rule, "", call_hash, arguments, result, took)

    async def _carried_out(self, call: ToolCall) -> ToolResult:
        try:
            return normalize_tool_result(await self._executor.execute(call))
        except Exception as error:
            return normalize_tool_result(error)

    async def look_through(
        self, reply: Mapping[str, Any], ctx: StageContext
    ) -> tuple[dict[str, Any], ...]:
        return ()

    async def to_read_again(self, reply: Mapping[str, Any], ctx: StageContext) -> None:
        return None
