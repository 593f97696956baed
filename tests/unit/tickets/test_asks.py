"""What a ticket asks for keeps it from ending until somebody has settled it."""

import pytest

from deskhand.errors import Conflict
from deskhand.model.ticket import Ticket, TicketAsk
from deskhand.model.ticket_state import AskStatus, TicketState
from deskhand.tickets import rules
from deskhand.tickets.asks import asked, escalated_asks, open_asks, settled
from deskhand.tickets.fold import fold, without_asks_of, without_words
from tests.unit.tickets.test_rules import a_ticket, after, numbered


def asks(run: str, *texts: str) -> list[TicketAsk]:
    return [TicketAsk(run=run, place=place, text=text) for place, text in enumerate(texts, 1)]


def asking() -> Ticket:
    ticket = a_ticket(runs=("r1", "r2"))
    ticket = after(ticket, asked(ticket, asks("r2", "And the invoice?"), "desk", 3.0))
    return after(ticket, asked(ticket, asks("r1", "Where is it?", "What is it?"), "desk", 3.0))


def texts(ticket: Ticket) -> list[str]:
    return [ask.text for ask in open_asks(ticket)]


def test_what_is_asked_stands_in_the_order_of_the_messages() -> None:
    ticket = asking()
    assert texts(ticket) == ["Where is it?", "What is it?", "And the invoice?"]
    assert asked(ticket, asks("r1", "Where is it?", "What is it?"), "desk", 4.0) == []


def test_a_ticket_with_a_silent_ask_is_neither_solved_nor_closed() -> None:
    ticket = asking()
    ticket = after(ticket, settled(ticket, ["1", "r1.2"], AskStatus.ANSWERED, "eve", "", 4.0))
    for state in (TicketState.SOLVED, TicketState.CLOSED):
        with pytest.raises(Conflict, match="And the invoice"):
            rules.moved_to(ticket, state, "eve", "", 5.0)
    assert rules.moved_to(ticket, TicketState.OPEN, "eve", "", 5.0)
    done = rules.moved_to(ticket, TicketState.SOLVED, "eve", "", 5.0, AskStatus.DEFERRED)
    ticket = after(ticket, done)
    assert ticket.state is TicketState.SOLVED
    assert [ask.status for ask in ticket.asks] == ["answered", "answered", "deferred"]
    assert (ticket.asks[2].by, ticket.asks[2].at) == ("eve", 5.0)


def test_an_ask_can_be_opened_again_and_an_unknown_one_is_refused() -> None:
    ticket = asking()
    ticket = after(ticket, settled(ticket, ["1"], AskStatus.ESCALATED, "eve", "", 4.0))
    ticket = after(ticket, settled(ticket, ["1"], AskStatus.OPEN, "eve", "", 5.0))
    assert len(open_asks(ticket)) == 3
    assert settled(ticket, ["1"], AskStatus.OPEN, "eve", "", 6.0) == []
    with pytest.raises(Conflict, match="no ask"):
        settled(ticket, ["9"], AskStatus.ANSWERED, "eve", "", 6.0)


def test_a_person_has_what_was_escalated_until_it_is_settled_or_the_ticket_is_over() -> None:
    ticket = asking()
    events = settled(ticket, ["1", "2"], AskStatus.ESCALATED, "desk", "", 4.0)
    ticket = after(ticket, events)
    assert [ask.text for ask in escalated_asks(ticket, events)] == ["Where is it?", "What is it?"]

    done = settled(ticket, ["1"], AskStatus.ANSWERED, "eve", "", 5.0)
    ticket = after(ticket, done)
    assert [ask.text for ask in escalated_asks(ticket, [*events, *done])] == ["What is it?"]

    over = rules.moved_to(ticket, TicketState.SOLVED, "eve", "", 6.0, AskStatus.ANSWERED)
    ticket = after(ticket, over)
    assert escalated_asks(ticket, [*events, *done, *over]) == []
    again = settled(ticket, ["1"], AskStatus.ESCALATED, "desk", "", 7.0)
    ticket = after(ticket, again)
    whole = [*events, *done, *over, *again]
    assert [ask.text for ask in escalated_asks(ticket, whole)] == ["Where is it?"]


def test_what_is_settled_is_not_opened_by_a_second_reading() -> None:
    ticket = asking()
    ticket = after(ticket, settled(ticket, ["1"], AskStatus.ANSWERED, "eve", "", 4.0))
    again = asked(ticket, asks("r1", "Where is it, please?", "What is it?"), "desk", 5.0)
    assert again == []


def test_asks_go_with_their_messages() -> None:
    ticket = asking()
    events = rules.split(ticket, ["r2"], "TKT-00000009", "Invoice", "eve", "", 6.0)
    left = after(ticket, events)
    new = fold(numbered([event for event in events if event.ticket == "TKT-00000009"]))
    assert (texts(left), texts(new)) == (["Where is it?", "What is it?"], ["And the invoice?"])

    merging = rules.merged(new, left, "eve", "", 7.0)
    whole, gone = after(left, merging), after(new, merging)
    assert (len(open_asks(whole)), gone.asks) == (3, ())

    by_ticket = {event.ticket: [event] for event in merging}
    undone = rules.undone(
        by_ticket, {whole.id: whole, gone.id: gone}, {whole.id: left, gone.id: new}, "eve", "", 8.0
    )
    assert texts(after(gone, undone)) == ["And the invoice?"]
    assert len(open_asks(after(whole, undone))) == 2


def test_erased_words_are_in_no_event() -> None:
    ticket = asking()
    [event] = settled(ticket, ["1"], AskStatus.ANSWERED, "eve", "He said so", 4.0)
    assert without_words(event).asks[0].text == ""
    assert without_asks_of(event, ["r1"]).asks[0].text == ""
    assert without_asks_of(event, ["r2"]).asks[0].text == "Where is it?"
