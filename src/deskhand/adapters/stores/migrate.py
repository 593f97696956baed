"""Bring a database to the newest schema."""

from pathlib import Path

import sqlalchemy as sa

from deskhand.errors import ConfigError

HEAD = "0016"
"""The newest migration; a test compares it with the scripts."""

_SCRIPTS = Path(__file__).parent / "migrations"


def migrate(connection: sa.Connection) -> None:
    """Upgrade in place; does nothing, quickly, when the schema is already the newest."""
    current = None
    if sa.inspect(connection).has_table("alembic_version"):
        current = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
        if current == HEAD:
            return
    from alembic import (
        command,
    )  # the import alone takes longer than opening a database that is up to date
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        ScriptDirectory.from_config(config).get_revision(current or HEAD)
    except CommandError:
        fix = "install the version of Deskhand that wrote it, or a newer one"
        raise ConfigError(
            f"the database has schema {current}, which this version does not know", fix=fix
        ) from None
    command.upgrade(config, "head")
