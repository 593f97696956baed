"""Which mode each category of a desk is in, and what it rests on."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from deskhand.config.desk import DeskSpec
from deskhand.config.sections.trust import TrustSpec
from deskhand.model.judgement import Figure
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
        ceiling = self._desk.mode_for(category or None)
        start = self._spec.start if self.earned else ceiling
        return category_mode_of(category, start, ceiling, await self.store.mode_changes(category))

    async def standing(self, category: str) -> Standing:
        return await self._stand(await self.place(category))

    async def categories(self, figures: Iterable[Figure]) -> list[str]:
        """Those that the desk may give, and those that were ever judged or changed."""
        stages = (stage for flow in self._desk.flows.values() for stage in flow.stages.values())
        named = {choice for stage in stages if stage.task == "classify" for choice in stage.choices}
        changed = {change.category for change in await self.store.mode_changes()}
        return sorted(named | changed | {figure.category for figure in figures})

    async def _stand(self, place: CategoryMode) -> Standing:
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
