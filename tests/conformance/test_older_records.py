"""A filled database from before statements is upgraded: what is verified of it is said honestly."""

import time
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from deskhand.adapters.stores import migrate as migrations
from deskhand.adapters.stores import tables as t
from deskhand.engine.audit import AuditReport, seal_desk, verify_desk
from deskhand.model.run import RunStatus
from tests.conformance.adapters import Stores
from tests.conformance.test_audited_records import KEY, Worked
from tests.conformance.test_store import claimed, row_of

BEFORE = "0023"
"""The last schema without statements."""


@pytest.fixture
async def upgraded(stores: Stores) -> Worked:
    """A desk whose records were all written before there were statements."""
    worked = Worked(await stores())
    await worked.work()

    def down_and_up(core: sa.Connection) -> None:
        if core.dialect.name == "postgresql":  # migrations take the time they need
            core.execute(sa.text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        config = Config()
        config.set_main_option("script_location", str(migrations._SCRIPTS))
        config.attributes["connection"] = core
        command.downgrade(config, BEFORE)
        assert not sa.inspect(core).has_table("statements")
        migrations.migrate(core)

    await worked.store._database.write_core(lambda core: core.execute(t.seals.delete()))
    await worked.store._database.write_core(down_and_up)
    return worked


async def report_of(worked: Worked) -> AuditReport:
    return await verify_desk(worked.store, key=KEY)


async def test_old_runs_verify_and_it_is_said_since_when_there_is_more(upgraded: Worked) -> None:
    before = time.time()
    report = await report_of(upgraded)
    assert report.problems == []
    assert (report.runs, report.unstated_runs) == (1, 1)
    assert report.stated_since is not None
    assert before - 600 < report.stated_since <= before


async def test_what_always_covered_old_runs_covers_them_still(upgraded: Worked) -> None:
    changed = t.steps.update().where(t.steps.c.seq == 1).values(outcome="forged")
    await upgraded.forge(changed)
    assert (await report_of(upgraded)).problems != []


async def test_a_new_run_beside_old_ones_is_covered_in_full(upgraded: Worked) -> None:
    store: Any = upgraded.store
    await store.resume("eva")
    run_id, head = await claimed(store, 2)
    await store.append(row_of(run_id, 0, head))
    await store.finish(run_id, RunStatus.SENT)
    await seal_desk(store, KEY)
    report = await report_of(upgraded)
    assert (report.problems, report.runs, report.unstated_runs) == ([], 2, 1)
    forged = t.runs.update().where(t.runs.c.id == run_id).values(status="failed")
    await upgraded.forge(forged)
    problems = (await report_of(upgraded)).problems
    assert {problem.run_id for problem in problems} == {run_id}


async def test_an_old_run_is_covered_from_its_next_change_on(upgraded: Worked) -> None:
    store: Any = upgraded.store
    forged = t.runs.update().where(t.runs.c.id == upgraded.run_id)
    await upgraded.forge(forged.values(status="failed"))
    assert (await report_of(upgraded)).problems == [], "nothing states how it ended"
    await upgraded.forge(forged.values(status="sent"))
    await store.note_bounce(upgraded.run_id, "no such mailbox")
    assert (await report_of(upgraded)).unstated_runs == 0
    await upgraded.forge(forged.values(status="failed"))
    assert (await report_of(upgraded)).problems != []
