"""The tools that every desk has, as configuration sees them: there is no need to make the tools for
that. Tests compare these shapes with the tools."""

from typing import Any

from deskhand.config.tool_shape import ToolShape
from deskhand.model.message import CREATE_DRAFT, ESCALATE, SEND_REPLY
from deskhand.model.understanding import UNKNOWN_INTENT
from deskhand.scheduling.wishes import WINDOW

WEB_SEARCH = "web_search"
GET_CONTACT = "get_contact"
CHECK_CALENDAR, HOLD_SLOT = "check_calendar", "hold_slot"
READ_INVITATION, ANSWER_INVITATION = "read_invitation", "answer_invitation"
FIND_APPOINTMENT, CANCEL_APPOINTMENT = "find_appointment", "cancel_appointment"
ASK_PERSON = "ask_person"
"""A tool's result with this field says why a person must look at the reply before it leaves."""

BUILT_IN_SERVICES = (
    "match_ticket",
    "retrieve",
    "review",
    "dispatch",
    UNKNOWN_INTENT,
    "translate",
    "supervise",
    "specialise",
    "escalate",
    "file",
)
"""What stages may name beside the services of a desk's own."""

_ON = "the day the customer asks for, as 2026-11-16; leave it out when he names none"
_AT = "the time of day he asks for, as 14:30; leave it out when he names none"
_UNTIL = "the last day that suits him, where he names a week or another stretch of days"
_OR_ON = "another day that suits him as well"
_AFTER = "the time of day from which on it suits him, as 12:00 for an afternoon"
_BEFORE = "the time of day by which it must be over, as 12:00 for a morning"
_WITHIN = (
    'in place of all these, every stretch that suits him, as ["2026-11-24..2026-11-27 12:00-", '
    '"2026-11-26 15:00-17:00", "2026-12-01 10:30"]'
)
_ZONE = "the time zone that he lives by, as America/New_York; times are on the desk's clock"
_CHANGE = "what he wants to do with it"
_OLD_DAY = "its day, as 2026-11-16, where he names it"
_OLD_TIME = "its time of day, as 14:30, where he names it"


def _text(kind: str, description: str) -> dict[str, str]:
    return {"type": "string", "format": kind, "description": description}


_WISH: dict[str, Any] = {
    "on": _text("date", _ON),
    "until": _text("date", _UNTIL),
    "or_on": _text("date", _OR_ON),
    "at": _text("time", _AT),
    "after": _text("time", _AFTER),
    "before": _text("time", _BEFORE),
    "within": {
        "type": "array",
        "items": {"type": "string", "pattern": f"^{WINDOW}$"},
        "description": _WITHIN,
    },
    "minutes": {
        "type": "integer",
        "minimum": 5,
        "maximum": 480,
        "description": "how long it should last, where he says so",
    },
    "zone": {"type": "string", "description": _ZONE},
}
_AGREED: dict[str, Any] = {
    "change": {"type": "string", "enum": ["move", "cancel"], "description": _CHANGE},
    "on": _text("date", _OLD_DAY),
    "at": _text("time", _OLD_TIME),
}
_APPOINTMENT: dict[str, Any] = {
    "type": "string",
    "description": "the appointment that find_appointment found",
}
_SLOT: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 1000,
    "description": "the id of a time that check_calendar offered",
}

_CONTACT = frozenset(
    [
        "known",
        "reason",
        "name",
        "address",
        "company",
        "language",
        "customer_id",
        "tier",
        "first_seen",
        "last_seen",
        "messages",
    ]
)
_FREE_TIMES = frozenset(
    ["time_zone", "slots", "fitting", "wished", "asked", "slot", "holiday", ASK_PERSON]
)
_FOUND = frozenset(
    ["change", "move", "cancel", "found", "appointment", "start", "end", "date", ASK_PERSON]
)
_ANSWERED = frozenset(
    [
        "answer",
        "accepted",
        "tentative",
        "declined",
        "cancelled",
        "held",
        "released",
        "start",
        "end",
        "date",
    ]
)
_HELD = frozenset(["held", "state", "id", "start", "end", "date", "time", "until"])

OFFICE_SHAPES = {
    shape.name: shape
    for shape in (
        ToolShape(GET_CONTACT, "read", "low", returns=_CONTACT),
        ToolShape(CHECK_CALENDAR, "read", "low", _WISH, returns=_FREE_TIMES),
        ToolShape(READ_INVITATION, "read", "low", returns=frozenset(("time_zone", "invitations"))),
        ToolShape(ANSWER_INVITATION, "keyed", "low", returns=_ANSWERED),
        ToolShape(
            HOLD_SLOT,
            "keyed",
            "low",
            {"slot": _SLOT},
            frozenset(("slot",)),
            frozenset(("slot",)),
            returns=_HELD,
        ),
        ToolShape(FIND_APPOINTMENT, "read", "low", _AGREED, frozenset(("change",)), returns=_FOUND),
        ToolShape(
            CANCEL_APPOINTMENT,
            "keyed",
            "low",
            {"appointment": _APPOINTMENT},
            frozenset(("appointment",)),
            returns=frozenset(("released", "start", "end")),
        ),
    )
}
"""Tools for contacts and the calendar."""

_SUBJECT: dict[str, Any] = {
    "description": "The subject line.",
    "maxLength": 900,
    "pattern": r"^[^\x00-\x1f\x7f]*$",
    "type": "string",
}
_BODY: dict[str, Any] = {
    "description": "The text of the reply, without a quotation of what is answered.",
    "maxLength": 50_000,
    "pattern": r"\S",
    "type": "string",
}
_TO: dict[str, Any] = {
    "maxLength": 1000,
    "minLength": 1,
    "type": "string",
    "description": "The customer's own address; it is known if you leave it out.",
}
_SOURCE: dict[str, Any] = {
    "description": "Words of a source that a reply rests on.",
    "properties": {
        "id": {"maxLength": 300, "type": "string"},
        "quote": {"maxLength": 4000, "type": "string"},
    },
    "required": ["id", "quote"],
    "type": "object",
}
_SENT_SOURCES = (
    "For every sentence that states a fact, the tool or article it is taken from and the very words"
    " there."
)
_DRAFTED_SOURCES = "The tools or articles that it rests on, with the very words there."


def _words(description: str, most: int) -> dict[str, Any]:
    return {"description": description, "maxLength": most, "pattern": r"\S", "type": "string"}


def _reply(name: str, effect: str, risk: str, sources: str) -> ToolShape:
    listed = {"items": _SOURCE, "maxItems": 50, "type": "array", "description": sources}
    arguments = {"subject": _SUBJECT, "body": _BODY, "to": _TO, "sources": listed}
    return ToolShape(
        name, effect, risk, arguments, required=frozenset(("subject", "body")), built_in=True
    )


BUILT_IN_SHAPES = {
    shape.name: shape
    for shape in (
        _reply(SEND_REPLY, "keyed", "medium", _SENT_SOURCES),
        _reply(CREATE_DRAFT, "reversible", "low", _DRAFTED_SOURCES),
        ToolShape(
            ESCALATE,
            "reversible",
            "low",
            {"reason": _words("Why a person is needed, in one or two sentences.", 2000)},
            required=frozenset(("reason",)),
            built_in=True,
        ),
        ToolShape(
            WEB_SEARCH,
            "read",
            "low",
            {"query": _words("What to look for, without anything about the customer.", 300)},
            required=frozenset(("query",)),
            built_in=True,
        ),
    )
}
"""Tools for answering and for asking people. They need no rule of a policy, but one may speak of
them."""
