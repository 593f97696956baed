"""Words for a name that is not known: the near one if there is one, else all that would do."""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST_LISTED = 25


def near(name: str, names: Iterable[str]) -> str | None:
    """The name that `name` was probably meant to be; None where nothing is like it."""
    matches = get_close_matches(name, sorted(names), n=1, cutoff=0.7)
    return matches[0] if matches else None


def did_you_mean(name: str, choices: Iterable[str], *, otherwise: str) -> str:
    """What to write instead of `name`: a choice like it, else one of them, or `otherwise`."""
    names = sorted(choices)
    meant = near(name, names)
    if meant is not None:
        return f"did you mean `{meant}`?"
    if not names:
        return otherwise
    more = f" or {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return f"write one of {', '.join(names[:_MOST_LISTED])}{more}, or {otherwise}"
