"""When a ticket is due: told from its events, the desk's rules and its working hours."""

from collections.abc import Iterator
from dataclasses import dataclass

from deskhand.config.sections.tickets import TicketsSection, working_seconds
from deskhand.model.ticket import Ticket
from deskhand.scheduling.hours import Hours
from deskhand.scheduling.working_time import after_working, worked_between


@dataclass(frozen=True, slots=True)
class Deadline:
    """Until when something is owed to the customer."""

    target: str
    """`first_response`, `next_response` or `resolution`."""
    since: float
    at: float
    warn_at: float

    @property
    def name(self) -> str:
        """What an event calls it."""
        return f"{self.target} {self.at:.0f}"


@dataclass(frozen=True, slots=True)
class DeadlineRules:
    """One desk's rules for until when tickets are owed an answer."""

    section: TicketsSection
    hours: Hours

    def next_of(self, ticket: Ticket) -> Deadline | None:
        """The deadline that comes first; None where none runs."""
        return min(self.running(ticket), key=lambda deadline: deadline.at, default=None)

    def running(self, ticket: Ticket) -> list[Deadline]:
        """All that run now: none while it is the customer's turn, and none once it is over."""
        rule = self.section.rule_for(ticket.urgency, ticket.plan)
        if rule is None or not ticket.state.is_waited_for:
            return []
        deadlines: list[Deadline] = []
        for target, since in _owed(ticket):
            seconds = rule.seconds(target)
            deadline = None if seconds is None else self._until(ticket, target, since, seconds)
            if deadline is not None:
                deadlines.append(deadline)
        return deadlines

    def _until(self, ticket: Ticket, target: str, since: float, seconds: float) -> Deadline | None:
        """The time that it stood still for comes on top."""
        paused = sum(
            worked_between(self.hours, max(begin, since), end)
            for begin, end in ticket.pauses
            if end is not None
        )
        allowed = seconds + paused
        at = after_working(self.hours, since, allowed)
        warned = max(0.0, allowed - working_seconds(self.section.warn_before))
        warn_at = after_working(self.hours, since, warned)
        if at is None or warn_at is None:
            return None
        return Deadline(target, since, at, warn_at)


def _owed(ticket: Ticket) -> Iterator[tuple[str, float]]:
    """What the customer waits for, and since when."""
    if ticket.asked_at is not None and ticket.answered_at is None:
        yield "first_response", ticket.asked_at
    elif ticket.asked_at is not None:
        yield "next_response", ticket.asked_at
    yield "resolution", ticket.opened_at
