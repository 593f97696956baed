"""What a tool is told about the call it serves, if it asks."""

from dataclasses import dataclass
from typing import Any, NoReturn

from deskhand.errors import StoreUnavailable
from deskhand.logs import BoundLogger, bound
from deskhand.ports import DeskDatabase


class NoDatabase:
    """Stands in for a database in a gate that was put together without one."""

    async def read(self, tables: Any, work: Any) -> NoReturn:
        raise StoreUnavailable(
            "there is no database for the desk's own tables here; give one to the gate"
        )

    write = read

    async def once(self, tables: Any, key: str, work: Any) -> NoReturn:
        await self.read(tables, work)

    def rehearsal(self) -> "NoDatabase":
        return self


NO_DATABASE = NoDatabase()


@dataclass(frozen=True, slots=True)
class Context:
    """Given to a tool whose signature has a parameter of this type; no model ever sees or fills
    that parameter."""

    run_id: str
    effect_key: str
    """The same for every attempt at this effect, different for every other: hand it on as
    idempotency key."""
    desk: str
    tool: str
    database: DeskDatabase = NO_DATABASE
    """Tables of the desk's own."""
    approved_by: tuple[str, ...] = ()
    """The people who approved exactly this call; nobody where it needed no approval."""

    @property
    def log(self) -> BoundLogger:
        return bound(f"deskhand.tool.{self.tool}", run_id=self.run_id, desk=self.desk)
