"""Cursors: the place of the last item seen, encoded so that clients do not rely on its parts."""

import base64
import json
import math
from typing import Any

from deskhand.model.ticket import Ticket
from deskhand.model.ticket_state import TicketOrder
from deskhand.web.api.problems import FieldProblem, Refused, invalid

_LAST_POSITION = 2**63 - 1


def run_cursor(position: int) -> str:
    return _written([position])


def run_place(cursor: str | None) -> int | None:
    """The position that a cursor from run_cursor stands for."""
    match _read(cursor):
        case None:
            return None
        case [int(position)] if 0 <= position <= _LAST_POSITION:
            return position
        case _:
            raise _unknown()


def review_cursor(created_at: float, review_id: str) -> str:
    return _written([created_at, review_id])


def review_place(cursor: str | None) -> tuple[float, str] | None:
    """The time and id that a cursor from review_cursor stands for."""
    match _read(cursor):
        case None:
            return None
        case [float(created_at), str(review_id)] if (
            math.isfinite(created_at) and review_id.isprintable()
        ):
            return created_at, review_id
        case _:
            raise _unknown()


def _written(place: list[Any]) -> str:
    return (
        base64.urlsafe_b64encode(json.dumps(place, separators=(",", ":")).encode())
        .decode()
        .rstrip("=")
    )


def _read(cursor: str | None) -> Any:
    if cursor is None:
        return None
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        return json.loads(base64.b64decode(padded, altchars=b"-_", validate=True)) or [None]
    except (ValueError, RecursionError):
        raise _unknown() from None


def _unknown() -> Refused:
    return invalid(
        FieldProblem("cursor", "take it from `next_cursor` of an earlier answer, or leave it out")
    )


_NEVER = 1e18
"""The place of a ticket without a deadline in a list by deadline."""


def ticket_cursor(ticket: Ticket, order: TicketOrder) -> str:
    """The place of a ticket in a list of this order."""
    at = ticket.changed_at
    if order is TicketOrder.DEADLINE:
        at = _NEVER if ticket.due_at is None else ticket.due_at
    return review_cursor(at, ticket.id)
