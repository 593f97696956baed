"""Which desks a database holds."""

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t


def desk_names(core: sa.Connection) -> list[str]:
    return list(core.execute(sa.select(t.runs.c.desk).distinct().order_by(t.runs.c.desk)).scalars())
