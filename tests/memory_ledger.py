"""A ledger of effects in memory that keeps what a database would keep: JSON text, one row a key."""

from typing import Any

from deskhand.model.envelope import Envelope
from deskhand.model.principal import Principal, asserted
from deskhand.model.run import EffectKey, EffectState, Verdict
from deskhand.tools.memory_effects import MemoryEffects


class MemoryLedger(MemoryEffects):
    """Survives the death of everything else in a crash test."""

    @property
    def states(self) -> list[EffectState]:
        return [row[2] for row in self.rows.values()]


ANN = asserted("c-ann", by="a test", address="ann@example.com", tier="pro")


class FixedContext:
    """A StageContext for calls of the gate outside a run: steps are not recorded, approvals are
    given by hand."""

    def __init__(self, run_id: str = "run_1", seq: int = 1, principal: Principal = ANN) -> None:
        self.principal = principal
        self.run_id = run_id
        self.seq = seq
        self.envelope = Envelope(run_id=run_id)
        self.goes_on_without_model = False
        self.approvals: dict[str, Verdict] = {}

    def now(self) -> float:
        return 0.0

    async def step(self, name: str, work: Any, *, at_once: bool = True) -> Any:
        return await work()

    def note(self, name: str, result: Any, latency_ms: float = 0.0) -> Any:
        return result

    def effect_key(self, index: int = 0) -> EffectKey:
        return EffectKey(self.run_id, self.seq, index)

    def approval(self, call_hash: str, key: EffectKey) -> Verdict | None:
        return self.approvals.get(call_hash)
