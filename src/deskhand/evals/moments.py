"""Times as people write them: a date, a date with a time, or how long ago."""

import re
import time
from datetime import UTC, datetime, timedelta

from deskhand.errors import ConfigError

_AGO = re.compile(r"(\d{1,6})(m|h|d|w)")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment_of(text: str) -> float:
    """Seconds since the epoch; a time without a zone is this machine's."""
    ago = _AGO.fullmatch(text.strip().lower())
    if ago is not None:
        return time.time() - timedelta(**{_UNITS[ago[2]]: int(ago[1])}).total_seconds()
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        fix = "write 2026-03-01, 2026-03-01T09:00, or how long ago: 90m, 24h, 7d, 2w"
        raise ConfigError(f"{text!r} is not a time", fix=fix) from None
    return (at if at.tzinfo else at.astimezone()).astimezone(UTC).timestamp()
