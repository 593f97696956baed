"""Whether customers are content: each ticket is asked about once and rated once."""

import hmac
import secrets
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from deskhand.config.yaml import read_yaml
from deskhand.errors import Conflict
from deskhand.model.ticket import Ticket, TicketEvent, TicketEventKind
from deskhand.model.ticket_state import Rating, TicketState
from deskhand.tickets.service import Tickets

CUSTOMER = "customer"
"""Who rates a ticket."""
_WORDS = Path(__file__).with_name("satisfaction.yaml")
_OWN = "en"
_OVER = (TicketState.SOLVED, TicketState.CLOSED)


def words_for(language: str | None) -> Mapping[str, str]:
    """What is said to a customer, in English where we have no words in his language."""
    words = _words()
    primary = (language or _OWN).partition("-")[0].lower()
    return words.get(primary, words[_OWN])


@cache
def _words() -> dict[str, Mapping[str, str]]:
    return dict(read_yaml(_WORDS).data)


def digest_of(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def surveyed(ticket: Ticket, digest: str, by: str, at: float) -> list[TicketEvent]:
    """The customer is asked; nothing where he was asked before, or the matter goes on."""
    if ticket.surveyed_at is not None or ticket.rating is not None or ticket.state not in _OVER:
        return []
    event = TicketEvent(ticket=ticket.id, kind=TicketEventKind.SURVEYED, by=by, at=at)
    return [event.changed(survey=digest)]


def rated(ticket: Ticket, rating: Rating, at: float) -> list[TicketEvent]:
    """The customer's answer; the first one counts."""
    if ticket.rating is not None:
        return []
    event = TicketEvent(ticket=ticket.id, kind=TicketEventKind.RATED, by=CUSTOMER, at=at)
    return [event.changed(rating=rating)]


async def ask_once(tickets: Tickets, ticket_id: str, by: str) -> str | None:
    """The secret for the customer's link; None where he was asked before."""
    secret = secrets.token_urlsafe(18)
    digest = digest_of(secret)
    ticket = await tickets.changed(
        ticket_id, lambda current: surveyed(current, digest, by, tickets.now())
    )
    return secret if ticket.survey == digest else None


async def rate(tickets: Tickets, written: str, secret: str, rating: Rating | None) -> Ticket:
    """The ticket after its customer's answer, or without one as it is; Conflict for whoever has
    no link to it."""
    ticket = await tickets.find(written)
    if not ticket.survey or not hmac.compare_digest(ticket.survey, digest_of(secret)):
        raise Conflict("this link leads nowhere")
    if rating is None:
        return ticket
    return await tickets.changed(ticket.id, lambda current: rated(current, rating, tickets.now()))
