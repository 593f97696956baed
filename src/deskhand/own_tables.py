"""Tables of a desk's own, beside the engine's: how they come to be and what they hold at first."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

Step = Callable[["Connection"], None]


class OwnTables:
    """A set of tables by name, made by steps that are done once each, in order, by whichever
    process comes first.

    The first step creates and fills them; whatever is to change later is one more step at the end.
    Use them with `ctx.database`, which keeps them apart from those of every other desk and from the
    engine's.

    `customers` says which rows are somebody's: by table, the column that holds an address, a
    customer id or `run:` and the id of a run. `deskhand erase` writes `erased` over it, and over
    the further columns of text that are named after it; the row stays, since a shelf or a sum may
    depend on it.
    """

    def __init__(
        self, name: str, *steps: Step, customers: Mapping[str, str | Sequence[str]] | None = None
    ) -> None:
        if not name or not steps:
            raise ValueError('own tables need a name and a first step: OwnTables("stock", create)')
        self.name = name
        self.steps = steps
        self.customers: dict[str, tuple[str, ...]] = {}
        for table, columns in (customers or {}).items():
            self.customers[table] = (columns,) if isinstance(columns, str) else tuple(columns)
        if not all(self.customers.values()):
            raise ValueError(
                'each table needs the column that says whose a row is: customers={"orders":'
                ' "owner"}'
            )
