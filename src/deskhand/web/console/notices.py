"""What a page says once after something was done, with a way to undo it.

An address only names what was done and to what: anybody can write an address.
"""

import re
from typing import NamedTuple
from urllib.parse import quote

from deskhand.model.access import Role
from deskhand.web.console.session import HOME, Visit
from deskhand.web.console.translation import Phrase

CHOSEN = "r:"
"""How the names of fields begin that choose a review of the queue."""
_NAMED = re.compile(r"[\w-]{1,100}/[\w.-]{1,100}")
_MOST = 50


class _Said(NamedTuple):
    words: str
    undo: str = ""
    """The action that undoes it; `{of}` stands for the desk and the id of what it was done to."""


SAID = {
    "joined": _Said("Joined.", "/tickets/{of}/undo"),
    "split": _Said("Split off.", "/tickets/{of}/undo"),
    "undone": _Said("Undone."),
    "solved": _Said("Solved.", "/tickets/{of}/reopen"),
    "closed": _Said("Closed.", "/tickets/{of}/reopen"),
    "reopened": _Said("Open again."),
    "taken_over": _Said("You answer here; the desk is silent.", "/messages/{of}/give_back"),
    "given_back": _Said("Given back: the desk answers there again.", "/messages/{of}/take_over"),
    "worked": _Said("It is being worked."),
}
SAID_OF_MANY = {
    "changed": _Said("{count} tickets changed."),
    "snoozed": _Said("{count} reviews snoozed.", f"{HOME}snooze"),
    "back": _Said("{count} reviews are back in the queue."),
}


class PageNotice(NamedTuple):
    words: Phrase
    undo: str = ""
    """Where the form goes that undoes it; empty where nothing does."""
    fields: tuple[str, ...] = ()
    """Fields of that form that are only there or not."""


def with_notice(path: str, said: str, of: str) -> str:
    """An address whose page says what was done to `of`: DESK/ID, or several with commas."""
    place, mark, part = path.partition("#")
    sign = "&" if "?" in place else "?"
    return f"{place}{sign}said={said}&of={quote(of)}{mark}{part}"


def read_notice(visit: Visit) -> PageNotice | None:
    """What the address names; None for what no page of ours wrote."""
    params = visit.request.query_params
    said = params.get("said", "")
    named = params.get("of", "").split(",")[:_MOST]
    of = [name for name in named if _NAMED.fullmatch(name)]
    if not of:
        return None
    may_undo = visit.role.covers(Role.AGENT)
    if said in SAID:
        words, undo = SAID[said]
        return PageNotice(Phrase(words), undo.format(of=of[0]) if may_undo else "")
    if said in SAID_OF_MANY:
        words, undo = SAID_OF_MANY[said]
        fields = tuple(f"{CHOSEN}{name}" for name in of)
        return PageNotice(Phrase(words, count=len(of)), undo if may_undo else "", fields)
    return None
