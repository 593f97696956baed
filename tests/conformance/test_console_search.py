"""What every database finds for the console's search: all that is there, and nothing of others."""

from deskhand.adapters.stores.console_feed import SqlConsoleFeed
from deskhand.adapters.stores.contacts import SqlContacts
from deskhand.model.contact import ContactEntry
from deskhand.model.message import Address
from tests.conformance.adapters import Stores
from tests.kit import a_message


async def test_messages_people_and_runs_are_found_however_they_are_written(stores: Stores) -> None:
    store, other = await stores(), await stores("bank")
    feed = SqlConsoleFeed(store._database)
    ann = Address(address="ann@example.com", name="Ann Řezáčová")
    asked = a_message(1, body='Where is my "LAMP"?').changed(subject="SO-1 100%", sender=ann)
    first = await store.accept(asked, flow="flow")
    for number in range(2, 8):
        await store.accept(a_message(number, body="Where is my parcel?"), flow="flow")
    await other.accept(a_message(1, body="Where is my lamp?"), flow="flow")

    async def found(*words: str) -> list[str]:
        hits = await feed.search(["desk"], words, 5)
        return [hit.reference for hit in hits if hit.kind == "message"]

    assert await found("lamp") == [first.run_id]
    assert await found('"lamp"') == [first.run_id]
    assert await found("Lamp", "so-1") == [first.run_id]
    assert await found("řezáčová") == [first.run_id]
    assert await found("ŘEZÁČOVÁ") == [first.run_id]
    assert await found("100%") == [first.run_id]
    assert await found("10_%") == []
    assert await found("lamp", "parcel") == []
    assert len(await found("parcel")) == 5
    assert await found("received_at") == []
    runs = await feed.search(["desk"], [first.run_id[4:]], 5)
    assert [hit.reference for hit in runs if hit.kind == "run"] == [first.run_id]


async def test_people_are_found_by_name_address_and_company(stores: Stores) -> None:
    store = await stores()
    contacts = SqlContacts(store._database, "desk", lambda text: None)
    entry = ContactEntry(address="peter@marlow.example", name="Peter Marlow", company="Joinery")
    await contacts.put([entry], "ida")
    feed = SqlConsoleFeed(store._database)
    for word in ("marlow", "PETER@", "joinery"):
        hits = await feed.search(["desk"], [word], 5)
        people = [(hit.title, hit.reference) for hit in hits if hit.kind == "person"]
        assert people == [("Peter Marlow", "peter@marlow.example")], word
    assert await feed.search(["bank"], ["marlow"], 5) == []
