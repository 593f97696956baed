"""What may become of a ticket."""

import pytest

from deskhand.errors import Conflict, PermanentError
from deskhand.model.ticket import Ticket, TicketEvent, TicketEventKind
from deskhand.model.ticket_match import MatchResult
from deskhand.model.ticket_state import TicketState
from deskhand.tickets import rules
from deskhand.tickets.fold import apply, fold

ANN = "customer:ANN"


def a_ticket(
    name: str = "TKT-00000001", customer: str = ANN, runs: tuple[str, ...] = ("r1",)
) -> Ticket:
    events = rules.opened(name, customer, "Parcel", runs[0], MatchResult(), "desk", 1.0)
    for run in runs[1:]:
        events += rules.joined(Ticket(id=name, customer=customer), run, MatchResult(), "desk", 2.0)
    return fold(numbered(events))


def numbered(events: list[TicketEvent], first: int = 1) -> list[TicketEvent]:
    return [event.changed(number=number) for number, event in enumerate(events, first)]


def after(ticket: Ticket, events: list[TicketEvent]) -> Ticket:
    for event in numbered([one for one in events if one.ticket == ticket.id], ticket.number + 1):
        ticket = apply(ticket, event)
    return ticket


def test_events_add_up_to_the_ticket() -> None:
    ticket = a_ticket(runs=("r1", "r2"))
    assert (ticket.state, ticket.runs, ticket.number) == (TicketState.ACTIVE, ("r1", "r2"), 3)
    ticket = after(ticket, rules.noted(ticket, "called her", "eve", 3.0))
    ticket = after(ticket, rules.tagged(ticket, ["vip", "late"], [], "eve", 3.0))
    ticket = after(ticket, rules.tagged(ticket, [], ["late"], "eve", 3.0))
    ticket = after(ticket, rules.assigned(ticket, "bob", "billing", "eve", "", 4.0))
    assert [note.text for note in ticket.notes] == ["called her"]
    assert (ticket.tags, ticket.assignee, ticket.group) == (("vip",), "bob", "billing")
    assert after(ticket, rules.assigned(ticket, "", None, "eve", "", 5.0)).assignee is None


def test_events_that_open_nothing_are_refused() -> None:
    note = TicketEvent(ticket="TKT-00000001", kind=TicketEventKind.NOTED, by="e", at=1.0)
    for events in ([], [note]):
        with pytest.raises(PermanentError):
            fold(events)


def test_a_message_takes_up_what_was_solved_and_leaves_a_persons_ticket_alone() -> None:
    solved = after(a_ticket(), rules.moved_to(a_ticket(), TicketState.SOLVED, "eve", "", 5.0))
    assert (solved.state, solved.solved_at) == (TicketState.SOLVED, 5.0)
    again = after(solved, rules.joined(solved, "r9", MatchResult(), "desk", 6.0))
    assert (again.state, again.solved_at, again.runs) == (TicketState.ACTIVE, None, ("r1", "r9"))
    open_one = after(a_ticket(), rules.moved_to(a_ticket(), TicketState.OPEN, "eve", "", 5.0))
    assert after(open_one, rules.joined(open_one, "r9", MatchResult(), "d", 6.0)).state == "open"


def test_a_state_that_cannot_follow_is_refused() -> None:
    ticket = a_ticket()
    assert rules.moved_to(ticket, TicketState.ACTIVE, "eve", "", 2.0) == []
    with pytest.raises(Conflict):
        rules.moved_to(ticket, TicketState.MERGED, "eve", "", 2.0)
    closed = ticket.changed(state=TicketState.CLOSED)
    with pytest.raises(Conflict):
        rules.moved_to(closed, TicketState.PENDING, "eve", "", 2.0)


def test_a_merge_moves_the_messages_and_its_undo_moves_them_back() -> None:
    first, second = a_ticket("TKT-00000001"), a_ticket("TKT-00000002", runs=("r2", "r3"))
    events = rules.merged(first, second, "eve", "same parcel", 5.0)
    merged, whole = after(first, events), after(second, events)
    assert (merged.state, merged.merged_into, merged.runs) == ("merged", second.id, ())
    assert whole.runs == ("r1", "r2", "r3")
    moves = {event.ticket: [event] for event in events}
    now = {merged.id: merged, whole.id: whole}
    back = rules.undone(moves, now, {first.id: first, second.id: second}, "eve", "", 6.0)
    restored, rest = after(merged, back), after(whole, back)
    assert (restored.state, restored.merged_into, restored.runs) == ("active", None, ("r1",))
    assert rest.runs == ("r2", "r3")


def test_what_is_unfinished_is_not_put_away_by_a_merge() -> None:
    closed = a_ticket("TKT-00000002").changed(state=TicketState.CLOSED)
    events = rules.merged(a_ticket(), closed, "eve", "", 5.0)
    assert after(closed, events).state is TicketState.ACTIVE


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (a_ticket(), a_ticket()),
        (a_ticket(), a_ticket("TKT-00000002", "customer:BOB")),
        (a_ticket().changed(state=TicketState.MERGED), a_ticket("TKT-00000002")),
        (a_ticket(), a_ticket("TKT-00000002").changed(state=TicketState.MERGED)),
    ],
    ids=["itself", "another customer's", "merged already", "into a merged one"],
)
def test_merges_in_a_circle_or_across_customers_are_refused(source: Ticket, target: Ticket) -> None:
    with pytest.raises(Conflict):
        rules.merged(source, target, "eve", "", 5.0)


def test_a_split_and_its_undo() -> None:
    ticket = a_ticket(runs=("r1", "r2", "r3"))
    events = rules.split(ticket, ["r2"], "TKT-00000009", "Invoice", "eve", "two matters", 5.0)
    rest = after(ticket, events)
    new = fold(numbered([event for event in events if event.ticket == "TKT-00000009"]))
    assert (rest.runs, new.runs, new.customer) == (("r1", "r3"), ("r2",), ANN)
    moves = {event.ticket: [event] for event in events}
    back = rules.undone(moves, {rest.id: rest, new.id: new}, {ticket.id: ticket}, "eve", "", 6.0)
    assert after(rest, back).runs == ("r1", "r2", "r3")
    empty = after(new, back)
    assert (empty.state, empty.merged_into) == ("merged", ticket.id)


@pytest.mark.parametrize("runs", [[], ["r1", "r2"], ["r7"]])
def test_a_split_takes_some_of_the_tickets_own_messages(runs: list[str]) -> None:
    with pytest.raises(Conflict):
        rules.split(a_ticket(runs=("r1", "r2")), runs, "TKT-00000009", "", "eve", "", 5.0)


def test_an_undo_is_refused_where_the_messages_went_on() -> None:
    first, second = a_ticket("TKT-00000001"), a_ticket("TKT-00000002", runs=("r2", "r3"))
    events = rules.merged(first, second, "eve", "", 5.0)
    whole = after(second, events)
    gone = whole.changed(runs=("r2", "r3"))
    moves = {event.ticket: [event] for event in events}
    now = {first.id: after(first, events), second.id: gone}
    with pytest.raises(Conflict, match="undo that change first"):
        rules.undone(moves, now, {first.id: first, second.id: second}, "eve", "", 6.0)


@pytest.mark.parametrize("tag", ["", "two words", "a,b", "x" * 61])
def test_what_is_no_tag_is_refused(tag: str) -> None:
    with pytest.raises(Conflict):
        rules.tagged(a_ticket(), [tag], [], "eve", 2.0)


@pytest.mark.parametrize("note", ["", "  ", "x" * 20_001])
def test_what_is_no_note_is_refused(note: str) -> None:
    with pytest.raises(Conflict):
        rules.noted(a_ticket(), note, "eve", 2.0)
