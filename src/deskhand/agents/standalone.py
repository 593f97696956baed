"""A context for using an agent by itself: steps run at once and nothing is recorded."""

import time

from deskhand.model.envelope import Envelope, StageResult
from deskhand.model.ids import new_id
from deskhand.model.principal import ANONYMOUS, Principal
from deskhand.model.run import EffectKey, Verdict
from deskhand.ports import Held, Stepped, StepWork


class Standalone:
    """What `agent.process(envelope)` uses when no run is given."""

    def __init__(self, envelope: Envelope, principal: Principal | None = None) -> None:
        """`principal` is whose authority calls have; the message's sender if absent."""
        self.run_id = envelope.run_id or new_id("run")
        self.envelope = envelope
        self.goes_on_without_model = False
        sender = ANONYMOUS if envelope.message is None else envelope.message.principal
        self.principal: Principal = principal or sender

    def now(self) -> float:
        return time.time()

    async def step(
        self, name: str, work: StepWork[Stepped], *, at_once: bool = True
    ) -> Stepped | StageResult:
        result = await work()
        if isinstance(result, Held):
            return result
        self.envelope = self.envelope.apply(result.delta)
        return result

    def note(self, name: str, result: StageResult, latency_ms: float = 0.0) -> StageResult:
        self.envelope = self.envelope.apply(result.delta)
        return result

    def effect_key(self, index: int = 0) -> EffectKey:
        return EffectKey(self.run_id, 0, index)

    def approval(self, call_hash: str, key: EffectKey) -> Verdict | None:
        return None
