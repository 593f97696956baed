"""Options that several commands share."""

import re
from pathlib import Path
from typing import Annotated

import typer

Attach = Annotated[
    list[Path] | None, typer.Option("--attach", help="A file to send along; once for each.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="DESKHAND_DATABASE",
        help="postgresql://…, sqlite:///FILE or a path.",
        metavar="URL",
    ),
]
DeskName = Annotated[
    str | None,
    typer.Option(
        "--desk",
        envvar="DESKHAND_DESK",
        help="A desk's name or folder; needless when there is only one.",
    ),
]
Desk = Annotated[
    str, typer.Argument(help="A desk's folder, or the name of a shipped desk.", metavar="DESK")
]
Outbox = Annotated[
    Path | None, typer.Option("--outbox", help="The folder replies leave into.", metavar="DIR")
]
By = Annotated[
    str | None,
    typer.Option("--by", help="Who decides; your login name by default.", metavar="NAME"),
]

DEFAULT_DATABASE = "deskhand.db"
DEFAULT_OUTBOX = Path("outbox")


def shown(url: str) -> str:
    """A database's address as it may be printed: without its password."""
    return re.sub(r"(?<=//)([^/@:]*):[^/@]*@", r"\1:***@", url)


def past_moment(text: str) -> float:
    """Seconds since the epoch of a date, a date with a time, or how long ago: `2h`.

    ConfigError where the text is none of these.
    """
    import time

    from deskhand.errors import ConfigError
    from deskhand.measures import past_moment as read

    try:
        return read(text, time.time())
    except ValueError:
        fix = "write 2026-03-01, 2026-03-01T09:00, or how long ago: 90m, 24h, 7d, 2w"
        raise ConfigError(f"{text!r} is not a time", fix=fix) from None


def login_name() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without an entry, as containers have them
        return "cli"
