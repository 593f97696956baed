"""Effects that failed and are about to be tried again."""

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.statements import last_statement, next_statement, read_records
from deskhand.engine.statements import REOPENED, is_settled_in
from deskhand.model.audited import StatementKind
from deskhand.model.run import EffectKey, EffectState, RunStatus


def reopen_effect(core: sa.Connection, desk: str, owner: str, key: EffectKey, now: float) -> bool:
    """Intend a failed effect once more; False when its run is another process's by now.

    Only an effect that is still what was stated last is stated as reopened: what somebody changed
    in between stays a finding.
    """
    ours = sa.select(t.runs.c.position).where(
        t.runs.c.id == key.run_id,
        t.runs.c.desk == desk,
        t.runs.c.owner == owner,
        t.runs.c.status == RunStatus.RUNNING,
    )
    position = core.execute(ours.with_for_update()).scalar()
    if position is None:
        return False
    name = f"effect {key.seq}.{key.index}"
    last = last_statement(core, position)
    digest = read_records(core, [position])[position].records.get(name)

    failed = sa.and_(
        t.effects.c.run == position,
        t.effects.c.seq == key.seq,
        t.effects.c.call == key.index,
        t.effects.c.state == EffectState.FAILED,
    )
    values = {"state": EffectState.INTENDED, "result": None, "updated_at": now}
    reopened = core.execute(t.effects.update().where(failed).values(**values)).rowcount == 1

    if reopened and last is not None and is_settled_in(last[4], name, digest):
        run = read_records(core, [position])[position]
        run.records[REOPENED] = name
        made = next_statement(run, last, StatementKind.REOPENED, now)
        core.execute(t.statements.insert().values(desk=desk, run=position, **made._asdict()))
    return True
