"""What a ticket asks for, in every store: it survives a rebuild, and erasing takes it away."""

from deskhand.adapters.stores.mentions import find_mentions
from deskhand.model.principal import asserted
from deskhand.model.run import RunStatus
from deskhand.model.ticket_state import AskStatus, TicketFilter
from deskhand.tickets.handling import mark_asks
from tests.conformance.adapters import Stores
from tests.conformance.test_tickets import placed
from tests.tickets_kit import asking, mail, tickets_of


async def test_asks_survive_a_rebuild(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    first = await placed(store, tickets, mail(1, "Where is it? Who pays?"))
    await asking(tickets, first.ticket_id, "Where is it?", "Who pays?")
    await mark_asks(tickets, first.ticket_id, AskStatus.DEFERRED, "eve", ["2"])
    assert (await tickets.rebuild()).mended == 0
    ticket = await tickets.find(first.ticket_id)
    assert [(ask.text, ask.status) for ask in ticket.asks] == [
        ("Where is it?", "open"),
        ("Who pays?", "deferred"),
    ]


async def test_what_an_erased_person_asked_is_nowhere(stores: Stores) -> None:
    """Also not in a ticket through which it only passed: merged, and taken out again."""
    store = await stores()
    tickets = tickets_of(store)
    ann = asserted("ACME", by="a test", address="ann@acme.example")
    bob = asserted("ACME", by="a test", address="bob@acme.example")
    secret = mail(1, "swordfish", address="ann@acme.example", principal=ann)
    hers = await placed(store, tickets, secret)
    his = await placed(
        store, tickets, mail(2, "Order 77120", address="bob@acme.example", principal=bob)
    )
    await asking(tickets, hers.ticket_id, "Is it swordfish?")
    await tickets.merge(hers.ticket_id, his.ticket_id, "eve")
    await mark_asks(tickets, his.ticket_id, AskStatus.ANSWERED, "eve", why="swordfish it is")
    await tickets.undo(his.ticket_id, "eve")
    [ask] = (await tickets.find(hers.ticket_id)).asks
    assert ask.status == "answered"
    for run in await store.runs():
        await store.claim(run.id, {"flow": "v"})
        await store.finish(run.id, RunStatus.DONE)
    await store.erase("ann@acme.example", "eve")
    [row] = await tickets.store.find(TicketFilter())
    assert row.id == his.ticket_id
    events = await tickets.store.events(his.ticket_id)
    assert [ask.text for event in events for ask in event.asks] == ["", ""]
    told = await store._database.read_in_transaction(
        lambda core: find_mentions(core, store.desk, "Is it swordfish")
    )
    assert told == []
