"""Ids of tickets: as they are made, and as people write them."""

import pytest

from deskhand.model.ticket import Ticket, cited_ticket_ids, new_ticket_id, ticket_id_of


def test_ids_are_told_apart_and_read_back() -> None:
    ids = {new_ticket_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(ticket_id_of(one) == one for one in ids)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("TKT-12345678", "TKT-12345678"),
        (" tkt-7q2m4xk9 ", "TKT-7Q2M4XK9"),
        ("TKT7Q2M4XK9", "TKT-7Q2M4XK9"),
        ("TKT-OIL00000", "TKT-01100000"),
        ("TKT-1234567", None),
        ("TKT-1234567U", None),
        ("TKT-*", None),
        ("TKT-1234 567", None),
        ("", None),
        ("run_12345678", None),
    ],
)
def test_an_id_is_read_as_people_write_it(written: str, meant: str | None) -> None:
    assert ticket_id_of(written) == meant


def test_ids_are_found_in_a_text() -> None:
    text = "Re: tkt-7q2m4xk9 and TKT-12345678, not XTKT-12345678 nor TKT-123456789"
    assert cited_ticket_ids(text) == ("TKT-7Q2M4XK9", "TKT-12345678")


@pytest.mark.parametrize(
    ("customer", "thread"),
    [
        ("customer:CUST-001", "CUST-001:TKT-12345678"),
        ("address:ann@example.com", "ann@example.com:TKT-12345678"),
        ("customer:a:b *c", "a:b *c:TKT-12345678"),
        ("unproven:ann@example.com", "unproven:ann@example.com:TKT-12345678"),
    ],
)
def test_the_thread_names_customer_and_ticket(customer: str, thread: str) -> None:
    ticket = Ticket(id="TKT-12345678", customer=customer)
    assert ticket.thread_id == thread
    assert ticket.thread_id.rpartition(":")[2] == ticket.id
