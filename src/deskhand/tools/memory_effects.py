"""A ledger of effects in memory, for programs that embed the gate and keep no database."""

import json
from collections.abc import Mapping
from typing import Any

from deskhand.errors import EffectRefused
from deskhand.model.run import Effect, EffectKey, EffectState
from deskhand.model.totals import CountedEffect, Scope, Stop, Sums, Total, TotalKey, objection_to


class MemoryEffects:
    """Forgets everything when the process ends: what it counts for caps, and which effects were
    begun. A desk's database remembers both."""

    def __init__(self) -> None:
        self.rows: dict[EffectKey, tuple[str, str, EffectState, str]] = {}
        self.counted: dict[tuple[Scope, TotalKey, str, str], int] = {}
        self.stop: Stop | None = None
        """Set it, and every effect is refused."""

    async def intend(
        self, key: EffectKey, tool: str, call_hash: str, counted: CountedEffect | None = None
    ) -> Effect:
        if key not in self.rows and counted is not None:
            self._count(tool, counted)
        self.rows.setdefault(key, (tool, call_hash, EffectState.INTENDED, "null"))
        return self.effect(key)

    async def settle(
        self, key: EffectKey, state: EffectState, result: dict[str, Any] | None
    ) -> None:
        tool, call_hash, before, _ = self.rows[key]
        assert before is not EffectState.DONE, f"{key} was settled as {before} already"
        self.rows[key] = (tool, call_hash, state, json.dumps(result, allow_nan=False))

    async def reopen(self, key: EffectKey) -> None:
        tool, call_hash, before, _ = self.rows[key]
        if before is EffectState.FAILED:
            self.rows[key] = (tool, call_hash, EffectState.INTENDED, "null")

    async def effects(
        self, run_id: str | None = None, state: EffectState | None = None
    ) -> list[Effect]:
        every = [self.effect(key) for key in self.rows if run_id in (None, key.run_id)]
        return [effect for effect in every if state in (None, effect.state)]

    async def totals(self, places: Mapping[Scope, TotalKey]) -> list[Total]:
        return [
            Total(scope, tool, unit, amount)
            for (scope, place, tool, unit), amount in self.counted.items()
            if places.get(scope) == place
        ]

    async def stopped(self) -> Stop | None:
        return self.stop

    def effect(self, key: EffectKey) -> Effect:
        tool, call_hash, state, result = self.rows[key]
        return Effect(key, tool, call_hash, state, json.loads(result))

    def _count(self, tool: str, counted: CountedEffect) -> None:
        sums = Sums(
            {
                (scope, of, unit): amount
                for (scope, place, of, unit), amount in self.counted.items()
                if counted.places.get(scope) == place
            }
        )
        objection = objection_to(self.stop, sums, tool, counted)
        if objection is not None:
            raise EffectRefused(objection.rule, objection.reason, liftable=objection.liftable)
        for scope, place in counted.places.items():
            for unit, amount in counted.units.items():
                row = (scope, place, tool, unit)
                self.counted[row] = self.counted.get(row, 0) + amount
