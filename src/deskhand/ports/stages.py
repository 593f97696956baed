"""What a stage may use while it works, and what a desk's code puts around it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from deskhand.model.causes import cause_of_rule
from deskhand.model.envelope import Ask, Envelope, StageResult
from deskhand.model.events import AgentEvent
from deskhand.model.plan import DoneCall
from deskhand.model.principal import Principal
from deskhand.model.results import ToolResult
from deskhand.model.run import EffectKey, ReviewKind, Verdict
from deskhand.model.second_reading import ToRead


class Sink(Protocol):
    """Takes events as they happen; must not fail the run that emits them."""

    def emit(self, event: AgentEvent) -> None: ...


Work = Callable[[], Awaitable[StageResult]]


class GateAnswer(Protocol):
    """A verdict (`allow`, `hold`, `deny`), the rule that gave it, and the tool's result."""

    def record(self) -> dict[str, Any]:
        """The call as its row keeps it."""
        ...

    def review(self, effect_key: str) -> dict[str, Any]:
        """What a reviewer is shown of a held call."""
        ...

    @property
    def requires_escalation(self) -> bool: ...
    @property
    def verdict(self) -> str: ...
    @property
    def rule(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def call_hash(self) -> str: ...
    @property
    def arguments(self) -> dict[str, Any]: ...
    @property
    def result(self) -> ToolResult: ...
    @property
    def latency_ms(self) -> float: ...
    @property
    def took_effect(self) -> bool:
        """Whether the call changed something."""
        ...


@dataclass(frozen=True, slots=True)
class Held:
    """A call that the gate holds: the run stops until a person decides or the desk is resumed."""

    answer: GateAnswer
    key: EffectKey

    @property
    def ask(self) -> Ask:
        """What the reviewer is asked."""
        is_stopped = self.answer.rule == "stopped"
        return Ask(
            kind=ReviewKind.STOPPED if is_stopped else ReviewKind.TOOL_CALL,
            reason=self.answer.reason,
            payload=self.answer.review(str(self.key)),
            causes=(cause_of_rule(self.answer.rule),),
        )


Stepped = TypeVar("Stepped", bound=StageResult | Held)
"""What the work of a step ends in."""


StepWork = Callable[[], Awaitable[Stepped]]


class StageContext(Protocol):
    """What a stage may do in its run: durable steps, approvals and keys for its effects."""

    run_id: str
    envelope: Envelope
    """The state after every step recorded so far."""
    goes_on_without_model: bool
    """The model has been away for as long as the desk waits for it: whoever can does without."""

    @property
    def principal(self) -> Principal:
        """Whose authority the run has, whatever its envelope came to say."""
        ...

    def now(self) -> float:
        """The time, by the clock that rows are dated with."""
        ...

    async def step(
        self, name: str, work: StepWork[Stepped], *, at_once: bool = True
    ) -> Stepped | StageResult:
        """Return the recorded result of this step, or do the work and record it. The only way to
        make a row.

        Not `at_once`, it is written together with the next one, as `note` does. Work that ends in a
        held call did not happen: `Held` is handed back and not recorded.
        """
        ...

    def note(self, name: str, result: StageResult, latency_ms: float = 0.0) -> StageResult:
        """A step that is written together with the next one: for what a crash may do again without
        harm.

        The state holds it at once; a step of this name that is recorded already stands.
        """
        ...

    def effect_key(self, index: int = 0) -> EffectKey:
        """The key of an effect that the step about to be recorded carries out."""
        ...

    def approval(self, call_hash: str, key: EffectKey) -> Verdict | None:
        """A reviewer's verdict on exactly this call at exactly this place, if one was given:
        good for one call."""
        ...


class ToolGate(Protocol):
    """The only way to run a tool."""

    @property
    def has_policy(self) -> bool: ...

    async def call(
        self,
        tool: str,
        parameters: Mapping[str, Any] | str,
        *,
        allowed: Sequence[str],
        ctx: StageContext,
        index: int = 0,
        done: Sequence[DoneCall] = (),
    ) -> "GateAnswer":
        """Judge a call and run it if nothing speaks against it; `parameters` may be the model's
        text, unread.

        What is among `done` is not carried out again: its result is told under the rule
        `done_before`.
        """
        ...

    async def look_through(
        self, reply: Mapping[str, Any], ctx: StageContext
    ) -> tuple[dict[str, Any], ...]:
        """What would speak against a reply for what it says, without judging or sending it."""
        ...

    async def to_read_again(self, reply: Mapping[str, Any], ctx: StageContext) -> ToRead | None:
        """What a second reader could settle of a reply, so that it may leave; None for nothing."""
        ...


PreHook = Callable[[Envelope], Envelope | Awaitable[Envelope]]


PostHook = Callable[[Envelope, dict[str, Any]], Envelope | Awaitable[Envelope]]


MockHandler = Callable[[Envelope], dict[str, Any] | Awaitable[dict[str, Any]]]
