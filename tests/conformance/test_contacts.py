"""What every database must know about people: grown from mail, told by files, forgotten when
asked."""

from typing import Any

import pytest

from deskhand.adapters.stores.contacts import SqlContacts
from deskhand.errors import NotFound
from deskhand.model.contact import Contact, ContactEntry
from deskhand.model.message import Address, Message
from deskhand.model.principal import ANONYMOUS
from deskhand.model.run import RunStatus
from tests.conformance.adapters import Stores
from tests.kit import a_message


def contacts_of(store: Any) -> SqlContacts:
    return SqlContacts(
        store._database, store.desk, lambda mail: "cs" if "kde" in mail.body.lower() else "en"
    )


async def write(store: Any, number: int, address: str = "ann@example.com", **fields: Any) -> None:
    mail = a_message(number).model_copy(
        update={"sender": Address(address=address, name="Ann Lee"), **fields}
    )
    await store.accept(Message.model_validate(mail.model_dump()), flow="flow")


async def found(contacts: SqlContacts, address: str) -> Contact:
    contact = await contacts.find(address)
    assert contact is not None
    return contact


async def test_whoever_writes_is_known(stores: Stores) -> None:
    store = await stores(now=lambda: 1000.0)
    await write(store, 1, "Ann@Example.com")
    await write(store, 2, body="Kde je můj balík?")
    ann = await found(contacts_of(store), "ANN@example.com ")
    assert (ann.address, ann.name, ann.language, ann.messages) == (
        "ann@example.com",
        "Ann Lee",
        "cs",
        2,
    )
    assert (ann.first_seen, ann.last_seen) == (1000.0, 1000.0)
    assert await contacts_of(store).find("bob@example.com") is None
    assert await contacts_of(await stores("other")).find("ann@example.com") is None


async def test_a_look_at_somebody_counts_mail_and_writes_nothing(stores: Stores) -> None:
    store = await stores(now=lambda: 1000.0)
    contacts = contacts_of(store)
    await write(store, 1, "Ann@Example.com")
    ann = await contacts.seen("ANN@example.com ")
    assert (ann.address, ann.first_seen, ann.messages) == ("ann@example.com", 1000.0, 1)
    assert await contacts.known("ann@example.com") is None
    entry = ContactEntry(address="ann@example.com", tenure_months=30, company="Marlow")
    await contacts.put([entry], "ida")
    told = await contacts.seen("ann@example.com")
    assert (told.tenure_months, told.company, told.messages) == (30, "Marlow", 1)
    nobody = await contacts.seen("bob@example.com")
    assert (nobody.first_seen, nobody.messages) == (None, 0)


async def test_a_message_handed_in_twice_counts_once(stores: Stores) -> None:
    store = await stores()
    contacts = contacts_of(store)
    for _ in range(2):
        await write(store, 1)
        assert (await found(contacts, "ann@example.com")).messages == 1


async def test_programs_are_nobody_to_remember(stores: Stores) -> None:
    store = await stores()
    await write(store, 1, "mailer-daemon@example.com", conversation="automatic:1")
    await write(store, 2, "ann@example.com")
    assert [one.address for one in await contacts_of(store).list()] == ["ann@example.com"]


async def test_a_forged_name_does_not_take_the_place_of_a_proven_one(stores: Stores) -> None:
    store = await stores()
    contacts = contacts_of(store)
    await write(store, 1)
    assert (await found(contacts, "ann@example.com")).name == "Ann Lee"
    await write(
        store, 2, sender=Address(address="ann@example.com", name="Your Boss"), principal=ANONYMOUS
    )
    assert (await found(contacts, "ann@example.com")).name == "Ann Lee"
    await write(store, 3, sender=Address(address="ann@example.com", name="Ann Novak"))
    assert (await found(contacts, "ann@example.com")).name == "Ann Novak"


async def test_what_people_say_stands_before_what_mail_shows(stores: Stores) -> None:
    store = await stores()
    contacts = contacts_of(store)
    await write(store, 1)
    entry = ContactEntry(
        address="ANN@example.com", name="Dr. Lee", language="de", tier="gold", tags=("vip", "b2b")
    )
    assert await contacts.put([entry], "eve") == ["added"]
    ann = await found(contacts, "ann@example.com")
    assert (ann.name, ann.language, ann.tier, ann.tags, ann.messages) == (
        "Dr. Lee",
        "de",
        "gold",
        ("vip", "b2b"),
        1,
    )
    known = await contacts.known("Ann@example.com")
    assert known is not None
    assert (known.tier, known.tags) == ("gold", ("vip", "b2b"))
    assert await contacts.known("bob@example.com") is None


async def test_a_customer_has_a_plan_and_is_found_by_his_id(stores: Stores) -> None:
    contacts = contacts_of(await stores())
    ann = ContactEntry(
        address="ann@example.com",
        customer_id="CUST-001",
        plan="enterprise",
        tenure_months=0,
        seats=50,
        region="us-west",
    )
    bob = ContactEntry(address="bob@example.com", customer_id="CUST-001")
    await contacts.put([ann, bob, ContactEntry(address="cy@example.com")], "eve")
    found_people = await contacts.of_customer("CUST-001")
    assert [person.address for person in found_people] == ["ann@example.com", "bob@example.com"]
    assert found_people[0].plan_in_words == "enterprise, 50 seats, 0 months, us-west"
    assert await contacts.put([ann], "eve") == ["unchanged"]
    assert await contacts.of_customer("CUST-002") == []


async def test_saying_the_same_again_changes_nothing(stores: Stores) -> None:
    contacts = contacts_of(await stores())
    entry = ContactEntry(
        address="bob@example.com", name="Bob", tags=("vip",), notes=("likes tea",), customer_id="C7"
    )
    assert await contacts.put([entry, entry], "eve") == ["added", "unchanged"]
    assert await contacts.put([entry], "eve") == ["unchanged"]
    assert await contacts.put([ContactEntry(address="bob@example.com")], "eve") == ["unchanged"]
    more = ContactEntry(address="bob@example.com", tags=("new",), notes=("likes coffee",))
    assert await contacts.put([more], "eve") == ["changed"]
    bob = await found(contacts, "bob@example.com")
    assert (bob.name, bob.tags, bob.customer_id) == ("Bob", ("vip", "new"), "C7")
    assert [(note.text, note.by) for note in bob.notes] == [
        ("likes tea", "eve"),
        ("likes coffee", "eve"),
    ]


async def test_people_are_noted_tagged_and_listed(stores: Stores) -> None:
    store = await stores()
    contacts = contacts_of(store)
    for number, address in enumerate(("cy@example.com", "ann@example.com", "bob_x@example.com")):
        await write(store, number, address)
    assert (await contacts.note("ann@example.com", "called", "eve")).notes[0].text == "called"
    assert (await contacts.tag("ann@example.com", ["vip", "b2b"], ["none"])).tags == ("vip", "b2b")
    assert (await contacts.tag("ann@example.com", [], ["vip"])).tags == ("b2b",)
    assert (await contacts.set_tier("bob_x@example.com", "gold")).tier == "gold"
    assert (await contacts.set_tier("cy@example.com", None)).tier is None

    async def addresses(**which: Any) -> list[str]:
        return [one.address.partition("@")[0] for one in await contacts.list(**which)]

    assert await addresses() == ["ann", "bob_x", "cy"]
    assert await addresses(tag="b2b") == ["ann"]
    assert await addresses(tag="b2") == []
    assert await addresses(tier="gold") == ["bob_x"]
    assert await addresses(search="B_") == ["bob_x"]
    assert await addresses(after="ann@example.com", limit=1) == ["bob_x"]
    with pytest.raises(NotFound):
        await contacts.note("nobody@example.com", "x", "eve")


async def test_a_person_who_is_erased_is_no_contact_any_more(stores: Stores) -> None:
    store = await stores()
    contacts = contacts_of(store)
    await write(store, 1)
    await contacts.put([ContactEntry(address="ann@example.com", notes=("likes tea",))], "eve")
    await contacts.put([ContactEntry(address="bob@example.com")], "eve")
    run = (await store.runs())[0]
    assert await store.claim(run.id, {"flow": "v"}) is not None
    await store.finish(run.id, RunStatus.DONE)
    assert await store.erase("Ann@Example.com", "eve") == 1
    assert await contacts.find("ann@example.com") is None
    assert [one.address for one in await contacts.list()] == ["bob@example.com"]
    await write(store, 2)
    assert (await found(contacts, "ann@example.com")).notes == ()
