"""Asks the customers of solved tickets how it was, by mail, and hears what they say in chats."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial

from deskhand.config.sections.tickets import SatisfactionSection
from deskhand.errors import DeskhandError, NotFound
from deskhand.measures import measure
from deskhand.model.message import Message, Reply
from deskhand.model.ticket import Ticket
from deskhand.model.ticket_state import Rating
from deskhand.tickets.satisfaction import ask_once, rated, words_for
from deskhand.tickets.service import Tickets

log = logging.getLogger("deskhand.tickets")

BY = "desk"
WITHIN = 7 * 86400.0
"""Seconds after which nobody is asked any more: he would not know what about."""
_AT_ONCE = 500
_ABOUT = 80
_RATINGS = {"up": Rating.GOOD, "down": Rating.BAD}

Mail = Callable[[Reply, str], Awaitable[object]]
"""Sends a mail under a key."""


class Survey:
    """One desk's. That somebody is asked is written down first, so a mail that a crash swallows is
    not sent again: nobody is asked twice."""

    def __init__(
        self, tickets: Tickets, section: SatisfactionSection, desk: str, mail: Mail
    ) -> None:
        self._tickets, self._section = tickets, section
        self._desk, self._mail = desk, mail
        self._after = seconds_of(section.after)
        self._passed_by: set[str] = set()
        """Tickets whose customers have no address that anybody vouched for."""

    async def once(self) -> None:
        now = self._tickets.now()
        due = now - self._after
        solved = await self._tickets.store.to_survey(due, due - WITHIN, limit=_AT_ONCE)
        self._passed_by.intersection_update(ticket.id for ticket in solved)
        for ticket in solved:
            if ticket.id not in self._passed_by:
                await self._ask(ticket)
        for ticket_id, thumb, at in await self._tickets.store.thumbs(now - WITHIN):
            events_of = partial(rated, rating=_RATINGS[thumb], at=at)
            await self._tickets.changed(ticket_id, events_of)

    async def _ask(self, ticket: Ticket) -> None:
        newest = (await self._tickets.store.newest_messages([ticket.id])).get(ticket.id)
        to = None if newest is None else address_in(newest.message)
        if to is None:
            self._passed_by.add(ticket.id)
            return
        try:
            secret = await ask_once(self._tickets, ticket.id, BY)
        except NotFound:  # erased in this moment
            return
        if secret is None:
            return
        letter = self._letter(ticket, to, secret)
        try:
            await self._mail(letter, f"survey-{self._desk}-{ticket.id}")
        except (DeskhandError, OSError) as error:
            log.warning("the customer of %s could not be asked how it was: %s", ticket.id, error)

    def _letter(self, ticket: Ticket, to: str, secret: str) -> Reply:
        words = words_for(ticket.language)
        page = self._section.page.rstrip("/")
        link = f"{page}/rate/{self._desk}/{ticket.id}/{secret}"
        about = " ".join((ticket.subject or ticket.id).split())[:_ABOUT]
        text = words["text"].replace("{link}", link).replace("{about}", about)
        subject = words["subject"].replace("{ticket}", ticket.id)
        return Reply(to=to, subject=subject, text=text)


def address_in(message: Message | None) -> str | None:
    """Where its sender reads mail, if somebody vouched for him."""
    if message is None or not message.principal.may_act:
        return None
    address = message.principal.address
    return address if address and "@" in address else None


def seconds_of(written: str) -> float:
    """The seconds of a length of time such as `3 days`."""
    measured = measure(written)
    if measured is None:
        raise ValueError(f"{written!r} is no length of time")
    return float(measured[1].total_seconds())
