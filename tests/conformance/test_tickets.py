"""What every database must know about tickets: told from events, one customer's only, in one
place."""

import asyncio
from dataclasses import replace
from functools import partialmethod
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.contacts import SqlContacts
from deskhand.adapters.stores.customer_tickets import tickets_of_customer
from deskhand.adapters.stores.mentions import find_mentions
from deskhand.adapters.stores.tickets import SqlTickets
from deskhand.errors import Conflict, NotFound, TicketsChanged
from deskhand.model.contact import ContactEntry
from deskhand.model.principal import asserted
from deskhand.model.run import RunStatus
from deskhand.model.ticket import DESK
from deskhand.model.ticket_match import MatchEvidence
from deskhand.model.ticket_state import TicketFilter, TicketState, UrgencyLevel
from deskhand.tickets import handling, rules
from deskhand.tickets import placing as placing_module
from deskhand.tickets.service import Tickets
from tests.conformance.adapters import Stores
from tests.tickets_kit import (
    NOW,
    Moments,
    accepted,
    mail,
    placing_of,
    proven,
    tickets_of,
    unproven,
)


async def placed(store: Any, tickets: Tickets, message: Any) -> Any:
    return await placing_of(tickets).place(await accepted(store, message), message)


async def places(store: Any, ticket_id: str) -> list[str]:
    """Where the checkpoint of a ticket lies."""
    archive = sa.select(t.tickets.c.id).where(
        t.tickets.c.id == ticket_id, t.tickets.c.checkpoint.is_not(None)
    )
    active = sa.select(t.active_tickets.c.ticket).where(t.active_tickets.c.ticket == ticket_id)

    def op(core: sa.Connection) -> list[str]:
        in_archive = ["archive" for _ in core.execute(archive)]
        return in_archive + ["active" for _ in core.execute(active)]

    return list(await store._database.read_core(op))


async def mentions(store: Any, word: str) -> list[str]:
    found = await store._database.read_in_transaction(
        lambda core: find_mentions(core, store.desk, word)
    )
    return list(found)


async def test_a_message_opens_a_ticket_and_the_next_one_joins_it(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    first = await placed(store, tickets, mail(1, "Where is my order 48213?", conversation="c"))
    assert first.is_new
    assert first.thread_id == f"ann@example.com:{first.ticket_id}"
    second = await placed(store, tickets, mail(2, "Hello?", conversation="c"))
    assert (second.ticket_id, second.is_new) == (first.ticket_id, False)
    assert second.matching.evidence is MatchEvidence.CONVERSATION
    third = await placed(store, tickets, mail(3, "Order no. 48213 is broken", channel="chat"))
    assert (third.ticket_id, third.matching.evidence) == (first.ticket_id, "reference")
    ticket = await tickets.find(first.ticket_id)
    assert len(ticket.runs) == 3
    [row] = await tickets.store.find(TicketFilter())
    assert (row.id, row.messages, row.state) == (ticket.id, 3, TicketState.ACTIVE)
    kinds = [event.kind for event in await tickets.store.events(ticket.id)]
    assert kinds == ["opened", "joined", "joined", "joined"]
    assert [one.channel for one in await tickets.store.timeline(ticket.id)] == [
        "api",
        "api",
        "chat",
    ]
    assert await places(store, ticket.id) == ["active"]


async def test_the_same_run_is_placed_once(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    message = mail(1, "Where is my parcel?")
    run = await accepted(store, message)
    first = await placing_of(tickets).place(run, message)
    assert await placing_of(tickets).place(run, message) == first
    assert await tickets.store.count(TicketFilter()) == 1


async def test_two_messages_at_once_make_one_ticket(stores: Stores) -> None:
    store = await stores()
    other = await stores()
    messages = [mail(n, f"Order 48213 is late {n}", conversation=f"c{n}") for n in range(4)]
    runs = [await accepted(store, message) for message in messages]
    desks = [placing_of(tickets_of(one)) for one in (store, other, store, other)]
    both = await asyncio.gather(
        *(desk.place(run, one) for desk, run, one in zip(desks, runs, messages, strict=True))
    )
    assert len({one.ticket_id for one in both}) == 1
    assert sum(one.is_new for one in both) == 1
    assert len((await tickets_of(store).find(both[0].ticket_id)).runs) == 4


async def test_whoever_read_an_older_version_writes_nothing(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    first = await placed(store, tickets, mail(1, "Where is my parcel?"))
    ticket = await tickets.find(first.ticket_id)
    events = [one.changed(number=3) for one in rules.noted(ticket, "x", "eve", NOW)]
    version = await tickets.store.version(ticket.customer)
    checkpoint = await tickets.checkpoint(ticket)
    for stale in (0, version - 1, version + 1):
        with pytest.raises(TicketsChanged):
            await tickets.store.write(ticket.customer, stale, events, {ticket.id: checkpoint})
    assert (await tickets.find(ticket.id)).notes == ()


@pytest.mark.parametrize(
    "stranger",
    [
        mail(2, "About order 48213 again, {id}", address="bob@example.com", conversation="x"),
        unproven(2, "About order 48213 again, {id}", conversation="x"),
        unproven(2, "Any update on {id}?", address="ann@example.com", conversation="y"),
        mail(2, "Order 48213 {id}", principal=asserted("BOB", by="a", address="ann@example.com")),
    ],
    ids=["a colleague", "a forged sender", "a forged follow-up", "the address of another customer"],
)
async def test_nobody_joins_another_customers_ticket(stores: Stores, stranger: Any) -> None:
    store = await stores()
    tickets = tickets_of(store)
    first = await placed(store, tickets, mail(1, "Where is my order 48213?"))
    hostile = stranger.changed(body=stranger.body.replace("{id}", first.ticket_id))
    other = await placed(store, tickets, hostile)
    assert other.is_new
    assert other.ticket_id != first.ticket_id


async def test_an_unproven_sender_joins_within_his_conversation_only(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    first = await placed(store, tickets, unproven(1, "Order 48213 is late", conversation="c"))
    elsewhere = await placed(store, tickets, unproven(2, "Order 48213 is late", conversation="d"))
    assert elsewhere.ticket_id != first.ticket_id
    again = await placed(store, tickets, unproven(3, "Order 48213?", conversation="c"))
    assert again.ticket_id == first.ticket_id


async def test_a_solved_ticket_is_reopened_for_a_while(stores: Stores) -> None:
    store = await stores()
    clock = Moments()
    tickets = tickets_of(store, clock=clock)
    first = await placed(store, tickets, mail(1, "Order 48213 is late", conversation="c"))
    solved = await tickets.set_state(first.ticket_id, TicketState.SOLVED, "eve", "answered")
    assert (solved.state, await places(store, solved.id)) == (TicketState.SOLVED, ["archive"])
    clock.at += 13 * 86400
    again = await placed(store, tickets, mail(2, "Order 48213 again"))
    assert (again.ticket_id, again.matching.reopens) == (first.ticket_id, True)
    assert (await tickets.find(first.ticket_id)).state is TicketState.ACTIVE
    assert await places(store, first.ticket_id) == ["active"]
    await tickets.set_state(first.ticket_id, TicketState.SOLVED, "eve")
    clock.at += 15 * 86400
    assert (await placed(store, tickets, mail(3, "Order 48213 again"))).is_new


async def test_merged_ids_lead_on_and_an_undo_brings_them_back(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    ids = []
    for number in range(3):
        message = mail(number, f"matter {number} " * 5, conversation=f"c{number}")
        ids.append((await placed(store, tickets, message)).ticket_id)
    assert len(set(ids)) == 3
    await tickets.merge(ids[0], ids[1], "eve", "the same")
    whole = await tickets.merge(ids[1], ids[2], "eve")
    assert len(whole.runs) == 3
    assert (await tickets.store.lead(ids))[ids[0]].id == ids[2]
    cited = await placed(store, tickets, mail(9, f"I mean {ids[0]}, please"))
    assert (cited.ticket_id, cited.matching.evidence) == (ids[2], MatchEvidence.CITED)
    with pytest.raises(Conflict):
        await tickets.merge(ids[2], ids[0], "eve")
    with pytest.raises(Conflict, match="undo that change first"):
        await tickets.undo(ids[0], "eve")
    back = await tickets.undo(ids[1], "eve")
    assert (back.state, len(back.runs)) == (TicketState.ACTIVE, 2)
    assert len((await tickets.find(ids[2])).runs) == 2
    first = await tickets.undo(ids[0], "eve")
    assert (first.state, len(first.runs)) == (TicketState.ACTIVE, 1)
    for ticket_id in ids:
        assert await places(store, ticket_id) == ["active"]
    assert (await tickets.rebuild()).mended == 0


async def test_a_split_makes_a_ticket_of_its_own(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    first = await placed(store, tickets, mail(1, "Order 48213 is late", conversation="c"))
    second = await placed(store, tickets, mail(2, "And invoice 77120 is wrong", conversation="c"))
    assert second.ticket_id == first.ticket_id
    run = (await tickets.find(first.ticket_id)).runs[1]
    new = await tickets.split(first.ticket_id, [run], "eve", "two matters", "Invoice")
    assert new.id != first.ticket_id
    assert (await placed(store, tickets, mail(3, "Invoice 77120?"))).ticket_id == new.id
    assert (await placed(store, tickets, mail(4, "Order 48213?"))).ticket_id == first.ticket_id
    with pytest.raises(NotFound):
        await tickets.split("TKT-ZZZZZZZZ", [run], "eve")
    await tickets.undo(first.ticket_id, "eve")
    assert len((await tickets.find(first.ticket_id)).runs) == 3
    assert len((await tickets.find(new.id)).runs) == 1


async def test_tickets_are_found_by_what_is_asked(stores: Stores) -> None:
    store = await stores()
    clock = Moments()
    tickets = tickets_of(store, clock=clock)
    ids = []
    for number, words in enumerate(("Kaputter Drucker", "Faktúra 77120", "100%_sure [x]")):
        clock.at += 1
        ids.append(
            (await placed(store, tickets, mail(number, words, address=f"u{number}@x.cz"))).ticket_id
        )
    clock.at += 1
    await tickets.assign(ids[0], "eve", to="bob", group="tech")
    clock.at += 1
    await tickets.tag(ids[1], "eve", ["vip"])

    async def found(**which: Any) -> list[int]:
        rows = await tickets.store.find(TicketFilter(**which))
        assert await tickets.store.count(TicketFilter(**which)) == len(rows)
        return [ids.index(row.id) for row in rows]

    assert await found() == [1, 0, 2]
    assert await found(search="DRUCKER kaputter") == [0]
    assert await found(search="faktura") == [1]
    assert await found(search="100%_sure") == [2]
    assert await found(search="100x") == []
    assert await found(assignee="bob") == [0]
    assert await found(assignee="") == [1, 2]
    assert await found(group="tech") == [0]
    assert await found(tag="vip") == [1]
    assert await found(tag="vi") == []
    assert await found(customer="U1@x.cz ") == [1]
    assert await found(states=(TicketState.SOLVED,)) == []
    assert await found(conversation="c2") == [2]
    first = await tickets.store.find(TicketFilter(), limit=2)
    rest = await tickets.store.find(TicketFilter(), after=(first[1].changed_at, first[1].id))
    assert [row.id for row in rest] == [ids[2]]


async def test_both_stores_are_made_again_from_the_events(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    first = await placed(store, tickets, mail(1, "Order 48213 is late", conversation="c"))
    second = await placed(store, tickets, mail(2, "Invoice 77120", address="bob@x.cz"))
    await tickets.set_state(second.ticket_id, TicketState.SOLVED, "eve", "done")
    await tickets.note(first.ticket_id, "call her", "eve")
    before = await store._database.read_core(_all_rows)

    def wreck(core: sa.Connection) -> None:
        core.execute(t.active_tickets.delete())
        core.execute(t.ticket_messages.delete())
        core.execute(t.tickets.delete().where(t.tickets.c.id == first.ticket_id))
        core.execute(t.tickets.update().values(state="closed", checkpoint=None, tags=" x "))
        stray = {"desk": store.desk, "customer": "address:bob@x.cz", "checkpoint": b"{}"}
        core.execute(t.active_tickets.insert().values(**stray, ticket=second.ticket_id))

    await store._database.write_core(wreck)
    done = await tickets.rebuild()
    assert (done.tickets, done.active, done.archived, done.mended, done.cleared) == (2, 1, 1, 2, 1)
    assert await store._database.read_core(_all_rows) == before
    assert (await tickets.rebuild()).mended == 0


def _all_rows(core: sa.Connection) -> list[list[tuple[Any, ...]]]:
    told = (t.tickets, t.ticket_messages, t.active_tickets)
    rows: list[list[tuple[Any, ...]]] = []
    for table in told:
        query = sa.select(table).order_by(*table.primary_key.columns)
        rows.append([tuple(row) for row in core.execute(query)])
    return rows


async def test_an_active_store_that_lost_everything_is_filled_by_the_next_message(
    stores: Stores,
) -> None:
    store = await stores()
    tickets = tickets_of(store)
    first = await placed(store, tickets, mail(1, "Order 48213 is late"))
    await store._database.write_core(lambda core: core.execute(t.active_tickets.delete()))
    again = await placed(store, tickets, mail(2, "Order 48213 please"))
    assert again.ticket_id == first.ticket_id
    checkpoint = await tickets.checkpoint(await tickets.find(first.ticket_id))
    assert checkpoint.messages == 2


async def test_an_erased_customer_leaves_no_ticket(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    carla, form = "carla@example.com", unproven(2, "Hi, it is Carla", address="carla@example.com")
    first = await placed(store, tickets, mail(1, f"I am {carla}", address=carla))
    await placed(store, tickets, form)
    other = await placed(store, tickets, mail(3, "Order 48213", address="bob@example.com"))
    for run in await store.runs():
        await store.claim(run.id, {"flow": "v"})
        await store.finish(run.id, RunStatus.DONE)
    await store.erase(carla, "eve")
    with pytest.raises(NotFound):
        await tickets.find(first.ticket_id)
    assert await mentions(store, carla) == []
    assert [row.id for row in await tickets.store.find(TicketFilter())] == [other.ticket_id]


async def test_of_a_shared_ticket_only_the_erased_persons_part_goes(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    ann = asserted("ACME", by="a test", address="ann@acme.example")
    bob = asserted("ACME", by="a test", address="bob@acme.example")
    secret = mail(1, "Order 48213, my code is swordfish", address="ann@acme.example", principal=ann)
    first = await placed(store, tickets, secret)
    reply = mail(2, "Order 48213 from me too", address="bob@acme.example", principal=bob)
    assert (await placed(store, tickets, reply)).ticket_id == first.ticket_id
    why = "security: “my code is swordfish”"
    await handling.judge(tickets, first.ticket_id, DESK, {"urgency": UrgencyLevel.CRITICAL}, why)
    await tickets.assign(first.ticket_id, DESK, to=None, group="tech", why=why)
    await tickets.assign(first.ticket_id, "eve", to="eve", why="I know them")
    for run in await store.runs():
        await store.claim(run.id, {"flow": "v"})
        await store.finish(run.id, RunStatus.DONE)
    await store.erase("ann@acme.example", "eve")
    [row] = await tickets.store.find(TicketFilter())
    assert (row.id, row.messages) == (first.ticket_id, 1)
    await tickets.mend("customer:ACME")
    for word in ("swordfish", "ann@acme.example"):
        told = await store._database.read_in_transaction(
            lambda core, w=word: find_mentions(core, store.desk, w)
        )
        assert told == []
    whole = await tickets.find(row.id)
    assert (whole.urgency, whole.group, whole.assignee) == ("critical", "tech", "eve")
    reasons = {event.why for event in await tickets.store.events(row.id)}
    assert reasons == {"", "I know them", "both name 48213"}
    checkpoint = await tickets.checkpoint(whole)
    assert (checkpoint.messages, "swordfish" in checkpoint.summary) == (1, False)
    assert (await tickets.rebuild()).mended == 0


async def test_desks_do_not_see_each_others_tickets(stores: Stores) -> None:
    store, other = await stores(), await stores("other")
    first = await placed(store, tickets_of(store), mail(1, "Order 48213"))
    assert (await placed(other, tickets_of(other), mail(2, "Order 48213"))).is_new
    with pytest.raises(NotFound):
        await tickets_of(other).find(first.ticket_id)


async def test_a_contact_with_two_addresses_is_one_customer(stores: Stores) -> None:
    store = await stores()
    contacts = SqlContacts(store._database, store.desk, lambda one: None)
    addresses = ("ann@work.example", "ann@home.example")
    entries = [ContactEntry(address=one, customer_id="C7") for one in addresses]
    await contacts.put(entries, "eve")
    tickets = tickets_of(store)
    placing = placing_of(tickets)
    seen = []
    for number, address in enumerate(addresses):
        message = mail(number, "Order 48213", address=address, principal=proven(address))
        own = replace(placing, contacts=contacts)
        seen.append(await own.place(await accepted(store, message), message))
    assert seen[0].ticket_id == seen[1].ticket_id
    assert seen[0].thread_id == f"C7:{seen[0].ticket_id}"


async def test_an_archived_checkpoint_that_is_missing_is_told_anew(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    first = await placed(store, tickets, mail(1, "Order 48213"))
    await tickets.set_state(first.ticket_id, TicketState.OPEN, "eve")
    await store._database.write_core(
        lambda core: core.execute(t.tickets.update().values(checkpoint=None))
    )
    assert await places(store, first.ticket_id) == []
    await tickets.mend("address:ann@example.com")
    assert await places(store, first.ticket_id) == ["archive"]
    archive: SqlTickets = tickets.store  # type: ignore[assignment]
    ticket = await tickets.find(first.ticket_id)
    assert await archive.save_messages(ticket) == 1
    held = await tickets.checkpoint(ticket)
    assert not await archive.save_ticket(ticket, held.changed(number=1))


async def test_a_customers_tickets_are_found_first_and_put_in_order_then(stores: Stores) -> None:
    store = await stores()
    query = tickets_of_customer(store.desk, ["customer:ANN", "address:ann@x.cz"], 200)

    def plan(core: sa.Connection) -> tuple[str, str]:
        written = str(query.compile(core, compile_kwargs={"literal_binds": True}))
        if core.dialect.name == "postgresql":
            words, sign = "EXPLAIN ", "Sort Key"
        else:
            words, sign = "EXPLAIN QUERY PLAN ", "tickets_customer"
        return sign, "\n".join(str(tuple(row)) for row in core.exec_driver_sql(words + written))

    sign, told = await store._database.read_core(plan)
    assert sign in told


async def test_who_has_more_tickets_than_are_read_at_once_comes_back_to_any(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await stores()
    clock = Moments()
    tickets = tickets_of(store, clock=clock)
    ids: list[str] = []
    for number in range(6):
        clock.at += 1
        matter = mail(number, f"Order {number}8213 is late", conversation=f"c{number}")
        ids.append((await placed(store, tickets, matter)).ticket_id)
        if number != 1:
            await tickets.set_state(ids[-1], TicketState.SOLVED, "eve")
    monkeypatch.setattr(SqlTickets, "of_customer", partialmethod(SqlTickets.of_customer, limit=2))
    seen = await tickets.seen_by(["address:ann@example.com"], "none")
    assert [ticket.id for ticket in seen.tickets] == [ids[5], ids[1]]

    open_one = await placed(store, tickets, mail(10, "Order 18213 again"))
    assert open_one.ticket_id == ids[1]
    cited = await placed(store, tickets, mail(11, f"About {ids[0]}, please"))
    assert cited.ticket_id == ids[0]
    same = await placed(store, tickets, mail(12, "Hello?", conversation="c2"))
    assert same.ticket_id == ids[2]


async def test_words_are_found_in_the_whole_of_every_message(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    long = f"The printer is broken. {'It really is. ' * 60} Its name is Žluťoučký Kůň."
    first = await placed(store, tickets, mail(1, long, conversation="c"))
    for number in range(2, 9):
        await placed(store, tickets, mail(number, f"Still broken, day {number}.", conversation="c"))
    other = await placed(store, tickets, mail(9, "Invoice 77120", address="bob@example.com"))

    async def found(words: str) -> list[str]:
        wanted = TicketFilter(search=words)
        hits = [ticket.id for ticket in await tickets.store.find(wanted)]
        assert await tickets.store.count(wanted) == len(hits)
        return hits

    assert await found("zlutoucky kun") == [first.ticket_id]
    assert await found("printer zlut") == [first.ticket_id]
    assert await found("invoice zlut") == []
    assert await found("77120") == [other.ticket_id]
    assert await found("day 3") == [first.ticket_id]
    for run in await store.runs():
        await store.claim(run.id, {"flow": "v"})
        await store.finish(run.id, RunStatus.DONE)
    await store.erase("ann@example.com", "eve")
    assert await found("zlutoucky") == []


async def test_an_id_that_another_ticket_has_is_drawn_again(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await stores()
    tickets = tickets_of(store)
    first = await placed(store, tickets, mail(1, "My order is late"))
    drawn = [first.ticket_id, first.ticket_id, "TKT-00000001"]
    monkeypatch.setattr(placing_module, "new_ticket_id", lambda: drawn.pop(0))
    message = mail(2, "Reset my password", address="bob@example.com")
    second = await placed(store, tickets, message)
    assert second.ticket_id == "TKT-00000001"
    assert (await tickets.find(first.ticket_id)).customer == "address:ann@example.com"
    drawn = [first.ticket_id, "TKT-00000002"]
    monkeypatch.setattr(handling, "new_ticket_id", lambda: drawn.pop(0))
    third = await handling.open_ticket(tickets, "bob@example.com", "He called", "eve")
    assert third.id == "TKT-00000002"
