"""Tables of a desk's own, beside the engine's: how they come to be and what they hold at first."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

Step = Callable[["Connection"], None]


class OwnTables:
    """A set of tables by name, made by steps that are done once each, in order, by whichever process comes first.

    The first step creates and fills them; whatever is to change later is one more step at the end. Use them with
    `ctx.database`, which keeps them apart from those of every other desk and from the engine's.
    """

    def __init__(self, name: str, *steps: Step) -> None:
        if not name or not steps:
            raise ValueError('own tables need a name and a first step: OwnTables("stock", create)')
        self.name, self.steps = name, steps
