"""A desk's modes in a database, without anything that works messages."""

from deskhand.config.desk import DeskSpec
from deskhand.engine.clock import SystemClock
from deskhand.engine.trust_modes import Trust
from deskhand.engine.trust_report import unattended_replies
from deskhand.tools.terms import always_asked
from deskhand.wiring.databases import Database, scratch_database, trust_store


def open_trust(spec: DeskSpec, database: Database) -> Trust:
    """A desk's modes as they are in force in this database."""
    return Trust(spec, trust_store(database, spec.name), SystemClock())


async def describe_sending(spec: DeskSpec, database: "Database | None") -> str:
    """One line: which of a desk's replies may leave without a person, by the modes in force.

    Without a database these are the modes with which the desk begins.
    """
    if database is None:
        async with scratch_database() as scratch:
            return await describe_sending(spec, scratch)
    return await unattended_replies(open_trust(spec, database), always_asked(spec))
