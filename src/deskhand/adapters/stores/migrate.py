"""Bring a database to the newest schema."""

from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.errors import ConfigError

if TYPE_CHECKING:  # those who only want to know the newest version do without
    import sqlalchemy as sa

HEAD = "0058"
"""The newest migration; a test compares it with the scripts."""

_SCRIPTS = Path(__file__).parent / "migrations"


def is_newest(connection: "sa.Connection") -> bool:
    """Whether the schema needs no migration; asks only, and quickly."""
    return _version(connection) == HEAD


def migrate(connection: "sa.Connection") -> None:
    """Upgrade in place; does nothing, quickly, when the schema is already the newest.

    Raises ConfigError when a newer version of Deskhand wrote the database. The caller's
    transaction makes the upgrade whole or undone, and keeps other processes out of it.
    """
    current = _version(connection)
    if current == HEAD:
        return

    # The import alone takes longer than opening a database that is up to date.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        ScriptDirectory.from_config(config).get_revision(current or HEAD)
    except CommandError:
        raise ConfigError(
            f"the database has schema {current}, which this version does not know",
            fix="install the version of Deskhand that wrote it, or a newer one",
        ) from None
    command.upgrade(config, "head")


def _version(connection: "sa.Connection") -> str | None:
    """The migration that the database has reached; None for an empty database."""
    import sqlalchemy as sa

    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.execute(
        sa.text("SELECT version_num FROM alembic_version")
    ).scalar()
    return version
