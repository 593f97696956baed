"""A desk's modes in a database, without anything that works messages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deskhand.config.desk import DeskSpec
from deskhand.engine.category_modes import CategoryModes
from deskhand.model.judgement import Figure, Judgement, ModeChange
from deskhand.wiring.database_files import looked_into

if TYPE_CHECKING:  # whoever only looks does without SQLAlchemy
    from deskhand.engine.trust_modes import Trust
    from deskhand.wiring.databases import Database


def open_trust(spec: DeskSpec, database: "Database") -> "Trust":
    """A desk's modes as they are in force in this database."""
    from deskhand.engine.clock import SystemClock
    from deskhand.engine.trust_modes import Trust
    from deskhand.wiring.databases import trust_store

    return Trust(spec, trust_store(database, spec.name), SystemClock())


@asynccontextmanager
async def opened_modes(spec: DeskSpec, url: str) -> AsyncIterator[CategoryModes]:
    """The modes in force in a database, to look at them: opened in the quickest way there is."""
    with looked_into(url) as looked:
        if looked is not None:
            yield CategoryModes(spec, looked.records(spec.name))
            return
    from deskhand.wiring.databases import open_database

    async with open_database(url, or_read=True) as database:
        yield open_trust(spec, database)


def first_modes(spec: DeskSpec) -> CategoryModes:
    """The modes with which a desk begins."""
    return CategoryModes(spec, _NoRecords(spec.name))


@dataclass(slots=True)
class _NoRecords:
    """Stands in for the records of a desk that has judged nothing yet."""

    desk: str

    async def judgements(
        self, category: str, *, since: float = 0.0, newest: int | None = None
    ) -> list[Judgement]:
        return []

    async def figures(self) -> list[Figure]:
        return []

    async def mode_changes(self, category: str | None = None) -> list[ModeChange]:
        return []
