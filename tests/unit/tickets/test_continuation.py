"""How likely a message continues each of some tickets: soft evidence as chances."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.language.ticket_facts import continuations
from deskhand.model.ticket import Ticket
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.candidates import Candidate, Incoming
from deskhand.tickets.checkpoints import build, grow, read_text
from deskhand.tickets.continuation import NAMES, WHETHER, WHICH, chances, evidence
from deskhand.tickets.message_hints import facts_of
from tests.tickets_kit import mail

MESSAGE = np.array([1.0, 0.0], dtype=np.float32)


def candidate(name: str, before: str, reply: str, *, near: float = 0.86) -> Candidate:
    vector = np.array([near, (1 - near**2) ** 0.5], dtype="<f2").tobytes()
    ticket = Ticket(id=name, customer="customer:ANN")
    checkpoint = build(ticket, [facts_of("run_1", mail(1, before), vector)], [(reply, 1.0)])
    return Candidate(ticket, checkpoint, continued=0.5)


def incoming(text: str) -> Incoming:
    return Incoming("c", is_proven=True, vector=MESSAGE, comes_back=0.2, text=text)


LAMP = candidate("TKT-00000001", "The lamp flickers", "Please try another bulb.")
CHAIR = candidate("TKT-00000002", "The chair squeaks", "Please use some oil.")


def told(text: str, *candidates: Candidate) -> list[float]:
    found = chances(incoming(text), candidates)
    assert found is not None
    return found


def test_every_weight_belongs_to_some_evidence() -> None:
    assert set(WHICH) <= set(NAMES)
    assert set(WHETHER) <= set(NAMES)
    rows = evidence(incoming("Done, no luck"), [LAMP, CHAIR])
    assert rows is not None
    assert rows.shape == (2, len(NAMES))


@pytest.mark.parametrize("odds", [0.01, 0.5, 0.999])
def test_the_chances_of_all_tickets_leave_some_for_none(odds: float) -> None:
    several = [replace(one, continued=odds) for one in (LAMP, CHAIR, LAMP)]
    found = told("It still flickers with another bulb", *several)
    assert 0 < sum(found) < 1


def test_a_second_likely_ticket_makes_the_first_less_sure() -> None:
    [alone] = told("It did not help", replace(LAMP, continued=0.9))
    first, second = told("It did not help", *(replace(LAMP, continued=0.9) for _ in range(2)))
    assert first == pytest.approx(second)
    assert first < alone


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("Another bulb changed nothing", "Please try another bulb."),
        ("The 13 then", "We have room on the 6 or the 13. What suits you?"),
    ],
)
def test_words_and_days_of_our_reply_show_which_ticket_is_meant(text: str, reply: str) -> None:
    meant = candidate("TKT-00000003", "The lamp flickers", reply)
    found = told(text, CHAIR, meant)
    assert found[1] > found[0]


def test_a_message_without_any_meaning_has_no_chance() -> None:
    unknown = replace(incoming("Hello"), comes_back=None)
    assert chances(unknown, [LAMP]) is None
    assert chances(incoming("Hello"), []) is None


def test_a_ticket_is_read_in_the_form_that_the_model_was_trained_on() -> None:
    ticket = Ticket(id="TKT-00000001", customer="customer:ANN", subject="Lamp")
    facts = [facts_of(f"run_{n}", mail(n, f"Message {n}"), None) for n in (1, 2)]
    checkpoint = build(ticket, facts, [("Try another bulb.", 1.0)])
    assert read_text(checkpoint) == "Lamp\nMessage 1\nMessage 2\n» Try another bulb."


def test_the_model_reads_a_ticket_of_nothing_and_messages_of_any_length() -> None:
    for text in ("It is back.", "?", "", "word " * 900):
        found = continuations(text, ["", "Lamp", "Lamp\n" + "and more " * 400])
        assert all(0 <= chance <= 1 for chance in found)


def test_an_answer_to_our_question_is_read_as_one() -> None:
    lamp = "Lamp\nThe lamp flickers.\n» Please try another bulb. Does it still flicker?"
    oven = "Oven\nThe oven does not heat.\n» The engineer comes on Friday."
    right, wrong = continuations("I put a new bulb in and it still flickers.", [lamp, oven])
    assert right > wrong


def test_a_customers_name_is_no_part_of_a_matter() -> None:
    """All that he writes bears it, whichever matter it is about."""
    before = "Hello, the lamp flickers. Many thanks, Joan Pettifer"
    ticket = candidate("TKT-00000004", before, "Dear Joan, try another bulb. Kind regards, Ada")
    assert read_text(ticket.checkpoint) == "the lamp flickers.\n» try another bulb."
    assert ticket.checkpoint.summary == before


def test_a_checkpoint_from_before_goes_on_with_what_it_has() -> None:
    before = LAMP.checkpoint.changed(matter="")
    grown = grow(before, facts_of("run_2", mail(2, "Hi, it is dark now. Regards, Joan"), None))
    assert grown.matter == "The lamp flickers\nit is dark now."


def test_whose_matter_is_over_is_meant_less_than_who_is_awaited() -> None:
    def chances_in(state: TicketState) -> list[float]:
        ticket = replace(LAMP, ticket=LAMP.ticket.changed(state=state))
        return told("It is a 40 W bulb by the way", ticket, CHAIR)

    pending, active, solved = map(
        chances_in, (TicketState.PENDING, TicketState.ACTIVE, TicketState.SOLVED)
    )
    assert pending[0] > active[0] > solved[0]
    assert pending[1] < active[1] < solved[1]
