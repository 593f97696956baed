"""Which mode each category of a desk is in, and what it rests on."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from deskhand.config.desk import DeskSpec
from deskhand.config.sections.trust import TrustSpec
from deskhand.model.judgement import Figure, ModeChange
from deskhand.ports import TrustRecords
from deskhand.trust.standing import WINDOW, CategoryMode, Standing, category_mode_of, stand


class CategoryModes:
    """Reads everything anew from the store, so that every process acts on the same mode at once."""

    def __init__(self, desk: DeskSpec, store: TrustRecords) -> None:
        self.store = store
        self._desk = desk
        self._spec = desk.trust or TrustSpec()

    @property
    def earned(self) -> bool:
        """Whether modes are earned and lost here; else desk.yaml or an operator sets them."""
        return self._desk.trust is not None

    @property
    def always_asked(self) -> frozenset[str]:
        """The categories whose replies a person approves in any mode."""
        return frozenset[str]().union(*(flow.always_asked for flow in self._desk.flows.values()))

    async def place(self, category: str) -> CategoryMode:
        return self._placed(category, await self.store.mode_changes(category))

    async def standing(self, category: str) -> Standing:
        return await self._stand(await self.place(category))

    async def standings(
        self, figures: Collection[Figure], changes: Sequence[ModeChange]
    ) -> list[Standing]:
        """How each category stands. What was never judged has no judgements to look for."""
        judged = {figure.category for figure in figures}
        names = self._named(figures, changes)
        places = [self._placed(name, changes) for name in names]
        return await asyncio.gather(
            *(self._stand(place, is_judged=place.category in judged) for place in places)
        )

    async def categories(self, figures: Iterable[Figure]) -> list[str]:
        return self._named(figures, await self.store.mode_changes())

    def _named(self, figures: Iterable[Figure], changes: Iterable[ModeChange]) -> list[str]:
        """Those that the desk may give, and those that were ever judged or changed."""
        stages = (stage for flow in self._desk.flows.values() for stage in flow.stages.values())
        named = {choice for stage in stages if stage.task == "classify" for choice in stage.choices}
        changed = {change.category for change in changes}
        return sorted(named | changed | {figure.category for figure in figures})

    def _placed(self, category: str, changes: Iterable[ModeChange]) -> CategoryMode:
        """Where a category stands after the changes that are its own."""
        ceiling = self._desk.mode_for(category or None)
        start = self._spec.start if self.earned else ceiling
        own = [change for change in changes if change.category == category]
        return category_mode_of(category, start, ceiling, own)

    async def _stand(self, place: CategoryMode, *, is_judged: bool = True) -> Standing:
        if not is_judged:
            return stand(place, [], self._spec)
        newest = WINDOW if place.mode == "auto" else None
        judgements = await self.store.judgements(place.category, since=place.since, newest=newest)
        return stand(place, judgements, self._spec)


def figures_of(standing: Standing) -> dict[str, Any]:
    """What a decision about a mode rested on, to be kept and shown."""
    figures = asdict(standing)
    del figures["current"], figures["alarm"]
    return {name: _rounded(value) for name, value in figures.items()}


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value
