"""Which ticket a message continues, by evidence alone."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ruamel.yaml import YAML

from deskhand.language.embed import shared_embedder
from deskhand.language.ticket_facts import continuations, follow_up_score
from deskhand.model.ticket import Ticket, TicketCheckpoint
from deskhand.model.ticket_match import MatchResult
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.candidates import Candidate, Incoming
from deskhand.tickets.checkpoints import build
from deskhand.tickets.matching import is_candidate, match
from deskhand.tickets.message_hints import (
    cited_in,
    facts_of,
    follow_up_words,
    named_numbers,
    only_comes_back,
    our_deliveries,
    told_matter,
    told_meaning,
)
from tests.tickets_kit import mail

PAIRS = Path(__file__).parents[2] / "data" / "ticket_pairs.yaml"


def candidate(
    name: str,
    *,
    state: TicketState = TicketState.ACTIVE,
    references: tuple[str, ...] = (),
    here: bool = False,
    at: float = 0.0,
) -> Candidate:
    ticket = Ticket(id=name, customer="customer:ANN", state=state)
    checkpoint = TicketCheckpoint(
        ticket_id=name,
        customer=ticket.customer,
        number=1,
        state=state,
        references=references,
        newest_at=at,
    )
    return Candidate(ticket, checkpoint, here)


def incoming(**fields: Any) -> Incoming:
    return Incoming(**{"conversation": "c", "is_proven": True, **fields})


ONE, TWO = "TKT-00000001", "TKT-00000002"


def matched(result: MatchResult) -> tuple[str | None, str, str]:
    return result.matched_ticket_id, result.confidence, result.evidence


def test_evidence_counts_in_its_order() -> None:
    one = candidate(ONE, references=("48213",))
    two = candidate(TWO, here=True)
    everything = incoming(cited=(ONE,), references=("48213",), answered=ONE, follow_up="any update")
    assert matched(match(everything, [one, two])) == (TWO, "high", "conversation")
    assert matched(match(everything, [one])) == (ONE, "high", "answered")
    cited = incoming(cited=(ONE,), references=("77120",))
    assert matched(match(cited, [one])) == (ONE, "high", "cited")
    assert matched(match(incoming(references=("48213",)), [one])) == (ONE, "high", "reference")
    assert matched(match(incoming(follow_up="any update"), [one])) == (ONE, "medium", "follow_up")
    assert matched(match(incoming(), [one])) == (None, "low", "none")


def test_of_several_tickets_in_a_conversation_the_cited_one_is_meant() -> None:
    both = [candidate(ONE, here=True, at=5.0), candidate(TWO, here=True, at=1.0)]
    assert match(incoming(), both).matched_ticket_id == ONE
    assert match(incoming(cited=(TWO,)), both).matched_ticket_id == TWO


def test_without_proof_only_the_conversation_counts() -> None:
    one = candidate(ONE, references=("48213",))
    forged = incoming(is_proven=False, cited=(ONE,), references=("48213",), answered=ONE)
    assert not match(forged, [one]).joins
    assert match(forged, [candidate(ONE, here=True)]).joins


def test_a_follow_up_means_one_ticket_or_none() -> None:
    asked = incoming(follow_up="any update")
    assert not match(asked, [candidate(ONE), candidate(TWO)]).joins
    solved = candidate(TWO, state=TicketState.SOLVED)
    assert match(asked, [candidate(ONE), solved]).matched_ticket_id == ONE
    again = match(asked, [solved])
    assert (again.matched_ticket_id, again.reopens) == (TWO, True)


def test_other_numbers_are_another_matter() -> None:
    one = candidate(ONE, references=("48213",))
    assert not match(incoming(references=("50991",), follow_up="still waiting"), [one]).joins


def test_a_shared_number_in_two_tickets_is_less_sure() -> None:
    both = [candidate(ONE, references=("48213",), at=1.0)]
    both.append(candidate(TWO, references=("48213",), at=9.0))
    assert matched(match(incoming(references=("48213",)), both)) == (TWO, "medium", "reference")


@pytest.mark.parametrize(
    ("state", "solved_at", "possible"),
    [
        ("active", None, True),
        ("pending", None, True),
        ("open", None, True),
        ("solved", 100.0, True),
        ("solved", 10.0, False),
        ("closed", 100.0, False),
        ("merged", None, False),
    ],
)
def test_what_a_message_may_continue(state: str, solved_at: float | None, possible: bool) -> None:
    ticket = Ticket(id=ONE, customer="c", state=TicketState(state), solved_at=solved_at)
    assert is_candidate(ticket, now=150.0, reopen_within=100.0) is possible


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("My order 48213 and order no. 048213", ("48213",)),
        ("Invoice INV-20931, please", ("INV20931",)),
        ("Bestellung Nr. 48213 und Rechnung RE-77120", ("48213", "RE77120")),
        ("Objednávka č. 48213", ("48213",)),
        ("I pay 48213 EUR for 12 seats in 2026", ()),
        ("Ticket TKT-12345678", ()),
        ("order 12", ()),
        ("", ()),
    ],
)
def test_numbers_of_orders_and_invoices(text: str, numbers: tuple[str, ...]) -> None:
    assert named_numbers(text) == numbers


def test_what_is_quoted_counts_for_nothing() -> None:
    body = "A new question\n\n> On order 48213 any update?\n> TKT-12345678"
    message = mail(1, body)
    facts = facts_of("run_1", message, None)
    assert (facts.references, cited_in(message), follow_up_words(message)) == ((), (), None)


@pytest.mark.parametrize(
    ("subject", "body", "told"),
    [
        ("TKT-7Q2M4XK9", "My account was hacked!", "My account was hacked!"),
        ("Re: [TKT-7Q2M4XK9] Export", "It is back.", "Re: [ ] Export\nIt is back."),
        ("Export", "See TKT-7Q2M4XK9 please", "Export\nSee   please"),
    ],
)
def test_ids_of_tickets_are_no_words_that_mean_something(
    subject: str, body: str, told: str
) -> None:
    assert told_meaning(mail(1, body, subject=subject)) == told
    framed = mail(1, f"Hello,\n{body}\nBest regards, Joan", subject=subject)
    assert told_matter(framed) == told


def test_our_own_message_ids_are_read_from_the_headers() -> None:
    ours = "<run_06gyewm2d31hp3f923kt.4.0@desk.example>"
    headers = {"in-reply-to": ours, "references": f"<x@y> {ours}"}
    [key] = our_deliveries(mail(1, "Thanks", headers=headers))
    assert (key.run_id, key.seq, key.index) == ("run_06gyewm2d31hp3f923kt", 4, 0)


@pytest.mark.parametrize(
    ("words", "only"),
    [
        ("Still nothing...", True),
        ("That did not help.", True),
        ("Immer noch nichts.", True),
        ("Pořád to nejde.", True),
        ("Eso no ayudó.", True),
        ("Toujours rien.", True),
        ("Nadal nie działa.", True),
        ("Still not working for anyone here.", False),
        ("Teď už nejde vůbec nic, nikomu.", False),
        ("Still nothing. And now all our boards are gone.", False),
        ("Everything is down again.", False),
        ("", False),
    ],
)
def test_a_message_that_only_comes_back_is_told_from_news(words: str, only: bool) -> None:
    assert only_comes_back(mail(1, words, subject="Re: the export")) is only


@pytest.mark.parametrize(
    ("is_read", "least"), [(False, 0.8), (True, 0.75)], ids=["by nearness", "as a desk works"]
)
def test_pairs_of_messages_are_told_apart(is_read: bool, least: float) -> None:
    """Without a subject and an answer of ours there is little to read a message beside. What
    strangers wrote of tickets as they are is in `tests/acceptance/test_matching_figures.py`."""
    pairs = YAML(typ="safe").load(PAIRS.read_text(encoding="utf-8"))["pairs"]
    vectors = shared_embedder()
    counted: Counter[tuple[bool, bool]] = Counter()
    wrong: list[str] = []
    for pair in pairs:
        before, new = mail(1, pair["before"]), mail(2, pair["new"])
        first, second = vectors.embed([pair["before"], pair["new"]])
        ticket = Ticket(id=ONE, customer="customer:ANN", number=2)
        facts = facts_of("run_1", before, first.astype("<f2").tobytes())
        plain = Candidate(ticket, build(ticket, [facts]))
        chance = continuations(pair["new"], [pair["before"]])[0] if is_read else None
        result = match(
            incoming(
                references=facts_of("run_2", new, None).references,
                follow_up=follow_up_words(new),
                vector=second,
                comes_back=follow_up_score(second) if is_read else None,
                text=pair["new"],
            ),
            [replace(plain, continued=chance)],
        )
        counted[pair["same"], result.joins] += 1
        if pair["same"] is not result.joins:
            wrong.append(pair["new"])
    precision = counted[True, True] / (counted[True, True] + counted[False, True] or 1)
    recall = counted[True, True] / (counted[True, True] + counted[True, False])
    assert precision >= 0.97, wrong
    assert recall >= least, wrong


def read(name: str, chance: float, near: float, **told: str) -> Candidate:
    """A ticket that the reading model has read with the message `incoming` makes."""
    plain = candidate(name)
    vector = np.array([near, (1 - near**2) ** 0.5], dtype="<f2").tobytes()
    message = facts_of("run_1", mail(1, told.get("before", "The lamp flickers")), vector)
    checkpoint = build(plain.ticket, [message], [(told.get("reply", ""), 1.0)])
    return replace(plain, checkpoint=checkpoint, continued=chance)


def coming(text: str, comes_back: float) -> Incoming:
    vector = np.array([1.0, 0.0], dtype=np.float32)
    return incoming(text=text, comes_back=comes_back, vector=vector)


def test_a_likely_ticket_is_joined_and_an_unlikely_one_is_not() -> None:
    said = coming("It went dark again after an hour", 0.2)
    assert match(said, [read(ONE, 0.8, 0.9)]).matched_ticket_id == ONE
    assert not match(said, [read(ONE, 0.01, 0.7)]).joins
    assert not match(coming("Do you sell chairs?", -1.5), [read(ONE, 0.5, 0.86)]).joins


def test_a_number_that_both_name_is_ruled_out_by_reading_alone() -> None:
    """`RE-5520 is paid. How do we pay by debit from now on?` continues nothing."""
    paid = replace(coming("RE-5520 is paid. And debit from now on?", -1.0), references=("RE5520",))
    ticket = read(ONE, 0.02, 0.8, before="RE-5520 went to the wrong address")
    assert not match(paid, [ticket]).joins
    assert match(paid, [replace(ticket, continued=0.3)]).matched_ticket_id == ONE
    assert match(paid, [replace(ticket, continued=None)]).matched_ticket_id == ONE


@pytest.mark.parametrize(
    "text",
    ["Nun zu meinem Anliegen: Haben Sie auch Stühle?", "Fotka už tam je. Jde změnit i jméno?"],
)
def test_words_that_only_look_like_a_follow_up(text: str) -> None:
    assert follow_up_words(mail(1, text)) is None


def test_two_tickets_that_are_equally_likely_leave_it_open() -> None:
    said = coming("It went dark again after an hour", 0.2)
    assert not match(said, [read(ONE, 0.8, 0.9), read(TWO, 0.8, 0.9)]).joins


def test_words_of_our_reply_show_which_ticket_is_meant() -> None:
    said = coming("The serial number is on the socket, I sent a photo", 0.2)
    asked = read(ONE, 0.5, 0.88, reply="Please send us the serial number.")
    other = read(TWO, 0.5, 0.88, before="The chair squeaks", reply="Use some oil.")
    assert match(said, [asked, other]).matched_ticket_id == ONE


def test_a_checkpoint_keeps_its_size() -> None:
    rng = np.random.default_rng(7)
    facts = []
    for number in range(500):
        vector = rng.standard_normal(384).astype("<f2").tobytes()
        message = mail(number, f"Order {10_000 + number}: " + "words and more words " * 40)
        facts.append(facts_of(f"run_{number}", message, vector))
    ticket = Ticket(id=ONE, customer="customer:ANN")
    few = len(build(ticket, facts[:5]).model_dump_json())
    many = len(build(ticket, facts).model_dump_json())
    assert many < few * 1.5
    assert build(ticket, facts).references[-1] == "10499"
