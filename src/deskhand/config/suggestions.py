"""Words for a name that is not known: the near one if there is one, else all that would do."""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST_LISTED = 25


def near(name: str, known: Iterable[str]) -> str | None:
    """The known name that this one was probably meant to be."""
    matches = get_close_matches(name, sorted(known), n=1, cutoff=0.7)
    return matches[0] if matches else None


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str) -> str:
    """What to write instead of `name`; `otherwise` says what to do when there is nothing to
    choose from."""
    names = sorted(known)
    meant = near(name, names)
    if meant is not None:
        return f"did you mean `{meant}`?"
    if not names:
        return otherwise
    more = f" or {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return f"write one of {', '.join(names[:_MOST_LISTED])}{more}, or {otherwise}"
