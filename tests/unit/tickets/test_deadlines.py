"""Deadlines: by urgency and plan, in working hours, still while the customer is asked."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from deskhand.config.sections.tickets import TicketsSection
from deskhand.model.ticket import Ticket, TicketEvent, TicketEventKind
from deskhand.model.ticket_state import TicketState, UrgencyLevel
from deskhand.scheduling.hours import Hours, read_hours
from deskhand.tickets.deadlines import DeadlineRules
from deskhand.tickets.fold import fold

HOURS = Hours(ZoneInfo("Europe/Prague"), read_hours({"mon-fri": "9:00-17:00"}))
SECTION = TicketsSection.model_validate(
    {
        "sla": [
            {"urgency": "critical", "plan": "enterprise", "first_response": "1 hour"},
            {"urgency": ["critical", "high"], "first_response": "2 hours", "resolution": "8 hours"},
            {"first_response": "4 hours", "next_response": "3 hours", "resolution": "16 hours"},
        ]
    }
)
RULES = DeadlineRules(SECTION, HOURS)


def at(text: str) -> float:
    """A moment in Prague; 2026-03-02 is a Monday."""
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo("Europe/Prague")).timestamp()


def event(kind: TicketEventKind, when: str, number: int, **values: object) -> TicketEvent:
    plain = TicketEvent(ticket="TKT-00000001", kind=kind, by="desk", at=at(when), number=number)
    return plain.changed(**values)


def opened(
    when: str, urgency: UrgencyLevel | None = None, plan: str | None = None
) -> list[TicketEvent]:
    first = event(TicketEventKind.OPENED, when, 1, customer="c", state=TicketState.ACTIVE)
    joined = event(TicketEventKind.JOINED, when, 2, run="r1", added=("r1",))
    judged = event(TicketEventKind.TRIAGED, when, 3, urgency=urgency, plan=plan)
    return [first, joined, judged]


def due(ticket: Ticket, rules: DeadlineRules = RULES) -> dict[str, str]:
    zone = ZoneInfo("Europe/Prague")
    return {
        one.target: datetime.fromtimestamp(one.at, UTC).astimezone(zone).strftime("%a %H:%M")
        for one in rules.running(ticket)
    }


def test_hours_count_only_while_somebody_is_there() -> None:
    ticket = fold(opened("2026-03-06 16:00"))  # a Friday, an hour before the end
    assert due(ticket) == {"first_response": "Mon 12:00", "resolution": "Tue 16:00"}
    asleep = fold(opened("2026-03-07 03:00"))
    assert due(asleep)["first_response"] == "Mon 13:00"


def test_the_first_rule_that_matches_urgency_and_plan_counts() -> None:
    rich = fold(opened("2026-03-02 09:00", UrgencyLevel.CRITICAL, "Enterprise"))
    assert due(rich) == {"first_response": "Mon 10:00"}
    poor = fold(opened("2026-03-02 09:00", UrgencyLevel.CRITICAL, "free"))
    assert due(poor) == {"first_response": "Mon 11:00", "resolution": "Mon 17:00"}
    assert due(fold(opened("2026-03-02 09:00", UrgencyLevel.LOW)))["first_response"] == "Mon 13:00"


def test_after_the_first_answer_each_later_message_has_its_own_deadline() -> None:
    events = opened("2026-03-02 09:00")
    events.append(event(TicketEventKind.ANSWERED, "2026-03-02 10:00", 4, run="r1"))
    assert due(fold(events)) == {"resolution": "Tue 17:00"}
    events.append(event(TicketEventKind.JOINED, "2026-03-02 15:00", 5, run="r2", added=("r2",)))
    events.append(event(TicketEventKind.JOINED, "2026-03-02 16:00", 6, run="r3", added=("r3",)))
    assert due(fold(events))["next_response"] == "Tue 10:00"
    answered_late = event(TicketEventKind.ANSWERED, "2026-03-02 15:30", 7, run="r2")
    assert due(fold([*events, answered_late]))["next_response"] == "Tue 11:00"


def test_the_clock_stands_still_while_the_customer_is_asked_and_once_it_is_over() -> None:
    events = opened("2026-03-02 09:00")
    pending = event(TicketEventKind.STATE, "2026-03-02 11:00", 4, state=TicketState.PENDING)
    assert due(fold([*events, pending])) == {}
    back = event(TicketEventKind.STATE, "2026-03-02 14:00", 5, state=TicketState.ACTIVE)
    assert due(fold([*events, pending, back])) == {
        "first_response": "Mon 16:00",
        "resolution": "Wed 12:00",
    }
    over = event(TicketEventKind.STATE, "2026-03-02 15:00", 6, state=TicketState.CLOSED)
    assert due(fold([*events, pending, back, over])) == {}


def test_hours_that_never_open_give_no_deadline_and_no_endless_loop() -> None:
    never = DeadlineRules(SECTION, Hours(ZoneInfo("UTC"), {}))
    assert due(fold(opened("2026-03-02 09:00")), never) == {}


@pytest.mark.parametrize("section", [{}, {"sla": []}])
def test_a_desk_without_rules_has_no_deadlines(section: dict[str, object]) -> None:
    rules = DeadlineRules(TicketsSection.model_validate(section), HOURS)
    assert due(fold(opened("2026-03-02 09:00")), rules) == {}
