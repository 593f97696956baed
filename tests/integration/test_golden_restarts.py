"""The orders desk's golden conversations with the scripted brain, and those of several turns once
more with a restart before every turn: the same results, and the same effects under the same
keys."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.desks.orders.order_tables import TABLES, orders, refunds, tickets
from deskhand.engine.story import Records, read_records, story_of
from deskhand.evals.case_runner import Settings, run_cases
from deskhand.evals.cases import Case
from deskhand.model.message import Message
from deskhand.model.run import Effect
from deskhand.wiring import (
    SHIPPED,
    Desk,
    LoadedDesk,
    desk_cases,
    open_database,
    open_desk,
    open_sandbox,
    open_store,
    own_database,
    read_desk,
    with_brain,
)
from tests.servers import new_database, postgres_programs

_OF_A_KEY = re.compile(r"\b(RF|T)-[A-Z2-7]{8}\b")
"""Numbers that are made from an effect's key, which holds the run's id."""


def authored(cases: Sequence[Case]) -> list[Case]:
    """Those that the script was written for."""
    return [case for case in cases if "author" in case.tags]


@pytest.mark.slow
async def test_every_golden_conversation_goes_as_it_should() -> None:
    scripted = with_brain(read_desk("orders"), "scripted")
    every, scorers = desk_cases(scripted)
    cases = authored(every)
    async with open_sandbox(scripted) as sandbox:
        results = await run_cases(cases, sandbox, Settings(scorers))
    assert len(results) >= 60
    assert not [result.case.id for result in results if not result.passed]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> LoadedDesk:
    """The desk as it ships, but it sends by itself."""
    folder = tmp_path_factory.mktemp("desk") / "orders"
    shutil.copytree(SHIPPED / "orders", folder)
    yaml = (folder / "desk.yaml").read_text().replace("mode: draft ", "mode: auto ")
    (folder / "desk.yaml").write_text(yaml)
    return with_brain(read_desk(str(folder)), "scripted")


@pytest.mark.slow
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.chaos)])
async def test_a_restart_before_every_turn_changes_nothing(
    live: LoadedDesk, tmp_path: Path, every: int
) -> None:
    """Of every third conversation; `make chaos` plays them all."""
    several = [case for case in authored(desk_cases(live)[0]) if len(case.turns) > 1][::every]
    assert len(several) >= 18
    assert {"correction", "cancel", "aside"} <= {tag for case in several for tag in case.tags}
    effects = 0
    for case in several:
        whole = await Played(live, tmp_path / f"{case.id}.db").without_restarts(case)
        parts = await Played(live, tmp_path / f"{case.id}-parts.db").with_restarts(case)
        assert whole == parts, case.id
        effects += len(whole["effects"])
    assert effects > 2 * len(several)


@pytest.mark.slow
@pytest.mark.skipif(postgres_programs() is None, reason="PostgreSQL's server is not installed")
@pytest.mark.parametrize("named", ["refund-asked", "refund-corrected"])
async def test_the_same_holds_on_postgresql(live: LoadedDesk, named: str) -> None:
    (case,) = [case for case in desk_cases(live)[0] if case.id == named]
    urls = [await asyncio.to_thread(new_database) for _ in range(2)]
    whole = await Played(live, urls[0]).without_restarts(case)
    assert whole == await Played(live, urls[1]).with_restarts(case)


class Played:
    """One conversation on a database of its own, with effects that take place."""

    def __init__(self, loaded: LoadedDesk, url: str | Path) -> None:
        self._loaded = loaded
        self._url = str(url)
        self._runs: list[str] = []

    async def without_restarts(self, case: Case) -> dict[str, Any]:
        async with self._desk() as desk:
            for message in messages_of(case):
                await self._take(desk, message)
        return await self._came_of_it()

    async def with_restarts(self, case: Case) -> dict[str, Any]:
        for message in messages_of(case):
            async with self._desk() as desk:
                await self._take(desk, message)
        return await self._came_of_it()

    @asynccontextmanager
    async def _desk(self) -> AsyncIterator[Desk]:
        outbox = self._loaded.spec.folder.parent / "outbox"
        async with (
            open_database(self._url) as database,
            open_desk(self._loaded, database, outbox=outbox) as desk,
        ):
            yield desk

    async def _take(self, desk: Desk, message: Message) -> None:
        accepted = await desk.dispatcher.submit(message)
        await desk.dispatcher.wait(accepted.run_id)
        self._runs.append(accepted.run_id)

    async def _came_of_it(self) -> dict[str, Any]:
        """What the customer sees and what has changed, without what differs in any two
        conversations."""
        async with open_database(self._url) as database:
            own = own_database(database, "orders")
            reads = [partial(rows_of, table=table) for table in (orders, refunds, tickets)]
            tables = [await own.read(TABLES, read) for read in reads]
            store = open_store(database, "orders")
            records = [await read_records(store, run_id) for run_id in self._runs]
            effects = await store.effects()
        turns = [turn_of(of_run) for of_run in records]
        done = sorted(self._shown(effect) for effect in effects)
        return {"turns": turns, "effects": done, "tables": tables}

    def _shown(self, effect: Effect) -> tuple[Any, ...]:
        """The key with the message's place in the conversation for the run's id."""
        turn = self._runs.index(effect.key.run_id) + 1
        return turn, effect.key.seq, effect.key.index, effect.tool, effect.state


def turn_of(records: Records) -> dict[str, Any]:
    """What the customer sees of a turn, and the steps that led there."""
    reply = story_of(records)["reply"] or {}
    steps = [(row.seq, row.name, str(row.outcome)) for row in records.rows]
    said = _without_key(reply.get("text"))
    return {"status": str(records.run.status), "said": said, "steps": steps}


def rows_of(database: sa.Connection, table: sa.Table) -> list[tuple[Any, ...]]:
    """All rows, without times and numbers of their own."""
    columns = [column for column in table.columns if column.name not in ("made_at",)]
    rows = database.execute(sa.select(*columns).order_by(table.c.id)).all()
    return [tuple(map(_without_key, row)) for row in rows]


def _without_key(value: Any) -> str:
    return _OF_A_KEY.sub(r"\1", str(value))


def messages_of(case: Case) -> list[Message]:
    """What the customer says, in a conversation that is new to the desk."""
    spoken = [turn.message for turn in case.turns if turn.message is not None]
    return [
        message.changed(id=f"{case.id}/{number}", conversation=case.id)
        for number, message in enumerate(spoken)
    ]
