"""What every database finds for the console's search: all that is there, and nothing of others."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores import search_index
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.console_feed import SqlConsoleFeed
from deskhand.adapters.stores.contacts import SqlContacts
from deskhand.adapters.stores.search_index import SqlSearchIndex
from deskhand.engine.journal import make_row
from deskhand.model.audited import Kept
from deskhand.model.contact import ContactEntry
from deskhand.model.envelope import Delta, StageResult
from deskhand.model.message import Address
from deskhand.model.run import RunStatus, StepRow
from tests.conformance.adapters import Stores
from tests.conformance.test_store import claimed
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


async def messages_with(feed: SqlConsoleFeed, *words: str) -> list[str]:
    hits = await feed.search(["desk"], words, 30)
    return [hit.reference for hit in hits if hit.kind == "message"]


async def test_czech_is_found_without_its_accents_and_by_the_beginning_of_a_word(
    stores: Stores,
) -> None:
    store = await stores()
    feed = SqlConsoleFeed(store._database)
    body = "Dobrý den, kůň Žižka je příliš žluťoučký. Objednávka č. SO-2024/117, díl P1002."
    asked = await store.accept(a_message(1, body=body), flow="flow")
    await store.accept(a_message(2, body="Guten Tag, die Straße"), flow="flow")
    for words in (
        ["kun"],
        ["KŮŇ"],
        ["zizka", "prilis"],
        ["zlutou"],
        ["so-2024"],
        ["2024/117"],
        ["p1002"],
        ["1002"],
        ["objednávka", "č."],
    ):
        assert await messages_with(feed, *words) == [asked.run_id], words
    for words in (["izka"], ["so-117"], ["k"], ["%"], ["'"], ['"'], ["a'", "&", "|"], ["*"]):
        assert await messages_with(feed, *words) == [], words
    assert len(await messages_with(feed, "strasse")) == 1


async def test_several_may_index_the_same_at_the_same_time(stores: Stores) -> None:
    here, elsewhere = await stores(), await stores()
    for number in range(60):
        run_id, _ = await claimed(here, number, body=f"zanzibar{number}")
        await here.finish(run_id, RunStatus.DONE)
    indexes = [SqlSearchIndex(store._database, "desk") for store in (here, elsewhere) * 3]
    while any(await asyncio.gather(*(index.index_some() for index in indexes))):
        pass
    feed = SqlConsoleFeed(here._database)
    assert await feed.not_searchable(["desk"], 1000) == 0
    assert len(await feed.search(["desk"], ["zanzibar"], 100)) == 60


async def test_who_is_overtaken_does_not_write_older_figures_over_newer_ones(
    stores: Stores,
) -> None:
    store = await stores()
    slow, fast = (SqlSearchIndex(store._database, "desk") for _ in range(2))
    first, _ = await claimed(store, 1, conversation="c1", body="zanzibar1")
    read_early = await read_batch(store, slow)
    await store.finish(first, RunStatus.DONE, reason="quokka")
    assert await fast.index_some() == 1

    await store._database.write_core(lambda core: slow._write(core, read_early))

    assert await became(store) == {first: "nothing"}
    assert len(await SqlConsoleFeed(store._database).search(["desk"], ["zanzibar1"], 5)) == 1
    assert await fast.index_some() == 0, "nothing is left to do"


async def test_the_first_message_is_counted_anew_where_a_later_one_was_overtaken(
    stores: Stores,
) -> None:
    store = await stores()
    slow, fast = (SqlSearchIndex(store._database, "desk") for _ in range(2))
    first, _ = await claimed(store, 1, conversation="c1", body="zanzibar1")
    await store.finish(first, RunStatus.WAITING_USER)
    while await fast.index_some():
        pass
    second, _ = await claimed(store, 2, conversation="c1", body="zanzibar2")
    read_early = await read_batch(store, slow)
    done = t.runs.update().where(t.runs.c.id == first).values(status=RunStatus.DONE)
    await store._database.write_core(lambda core: core.execute(done))
    assert await fast.index_some() == 2

    await store._database.write_core(lambda core: slow._write(core, read_early))
    while await fast.index_some():
        pass

    assert await became(store) == {first: "nothing", second: "open"}


async def test_a_change_whose_note_was_committed_late_is_not_lost_to_who_did_not_see_it(
    stores: Stores,
) -> None:
    """On PostgreSQL, a note may be committed after others that have higher numbers."""
    store = await stores()
    slow, fast = (SqlSearchIndex(store._database, "desk") for _ in range(2))
    first, _ = await claimed(store, 1, conversation="c1", body="zanzibar1")
    read_early = await read_batch(store, fast)
    await store.finish(first, RunStatus.DONE)
    [run] = read_early.runs
    noted = t.search_due.insert().values(desk="desk", run=run).returning(t.search_due.c.number)
    last = await store._database.write_core(lambda core: core.execute(noted).scalar_one())
    read_late = await read_batch(store, slow)

    saw_the_last_alone = replace(read_early, notes={last: (run, None)})
    await store._database.write_core(lambda core: fast._write(core, saw_the_last_alone))
    await store._database.write_core(lambda core: slow._write(core, read_late))
    while await fast.index_some():
        pass

    assert await became(store) == {first: "nothing"}


async def test_the_first_message_is_counted_anew_where_it_alone_was_overtaken(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who looks for what is at rest leaves the later message, which is at work, to others."""
    monkeypatch.setattr(search_index, "AT_WORK", 3600.0)
    store = await stores()
    slow, fast = (SqlSearchIndex(store._database, "desk") for _ in range(2))
    first, _ = await claimed(store, 1, conversation="c1", body="zanzibar1")
    await store.finish(first, RunStatus.WAITING_USER)
    while await fast.index_some():
        pass
    second, _ = await claimed(store, 2, conversation="c1", body="zanzibar2")
    read_early = await read_batch(store, slow)
    done = t.runs.update().where(t.runs.c.id == first).values(status=RunStatus.DONE)
    await store._database.write_core(lambda core: core.execute(done))
    assert await fast.index_some(at_rest=True) == 1

    await store._database.write_core(lambda core: slow._write(core, read_early))
    while await fast.index_some():
        pass

    assert await became(store) == {first: "nothing", second: "open"}


async def read_batch(store: Any, index: SqlSearchIndex) -> Any:
    due = await index._due()
    return await store._database.read_core(lambda core: index._read(core, due))


async def became(store: Any) -> dict[str, str]:
    """What the figures say of each run."""
    figures, runs = t.run_figures.c, t.runs.c
    query = sa.select(runs.id, figures.became).join(t.runs, runs.position == figures.run)

    def read(core: sa.Connection) -> dict[str, str]:
        return {row.id: row.became for row in core.execute(query)}

    found: dict[str, str] = await store._database.read_core(read)
    return found


async def test_a_message_that_was_worked_is_indexed_once(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_index, "AT_WORK", 3600.0)
    store = await stores()
    feed, index = SqlConsoleFeed(store._database), SqlSearchIndex(store._database, "desk")
    run_id, _ = await claimed(store, 1, body="zanzibar")

    assert await index.index_some(at_rest=True) == 0, "it changes in a moment"
    await store.finish(run_id, RunStatus.DONE)
    assert await feed.not_searchable(["desk"], 1000) > 1
    assert await index.index_some(at_rest=True) == 1

    assert await feed.not_searchable(["desk"], 1000) == 0
    assert len(await feed.search(["desk"], ["zanzibar"], 5)) == 1


async def test_a_message_that_is_at_work_for_long_is_found(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_index, "AT_WORK", 3600.0)
    store = await stores()
    index = SqlSearchIndex(store._database, "desk")
    await claimed(store, 1, body="zanzibar")
    assert await index.index_some(at_rest=True) == 0

    monkeypatch.setattr(search_index, "AT_WORK", -1.0)
    assert await index.index_some(at_rest=True) == 1


async def test_a_hit_shows_each_thing_once_and_the_place_of_the_word(stores: Stores) -> None:
    store = await stores()
    feed = SqlConsoleFeed(store._database)
    body = "Dobrý den. " + "Děkuji za vše. " * 20 + "Kde je můj balík?"
    await store.accept(a_message(1, body=body), flow="flow")
    await store.accept(a_message(2, body="Kde je balík?").changed(subject=""), flow="flow")
    without_subject, long = await feed.search(["desk"], ["balik"], 5)
    assert without_subject.title == "Ann <ann@example.com>"
    assert without_subject.detail == "Kde je balík?"
    assert long.title == "My parcel"
    assert long.detail.startswith("Ann <ann@example.com>: … ")
    assert long.detail.endswith("Kde je můj balík?")
    [by_name] = await feed.search(["desk"], ["ann", "dekuji"], 5)
    assert by_name.detail.startswith("Ann <ann@example.com>: Dobrý den.")


async def test_the_newest_of_many_stand_first(stores: Stores) -> None:
    store = await stores()
    feed = SqlConsoleFeed(store._database)
    accepted = [
        await store.accept(a_message(number, body="Where is my parcel?"), flow="flow")
        for number in range(40)
    ]
    newest_first = [one.run_id for one in reversed(accepted)]
    assert await messages_with(feed, "parc") == newest_first[:30]


async def test_runs_are_found_by_why_they_rest_and_by_the_numbers_of_their_tools(
    stores: Stores,
) -> None:
    store = await stores()
    feed = SqlConsoleFeed(store._database)
    accepted = await store.accept(a_message(1, body="Hello"), flow="flow")
    assert await messages_with(feed, "hello") == [accepted.run_id]
    run_id, digest = await claimed(store, 2, body="Hello again")
    await store.append(a_tool_step(run_id, digest, {"order": "A-10007", "count": 3}))
    await store.finish(run_id, RunStatus.FAILED, reason="Das Lager ist geschlossen")
    for words, kind in (
        (["geschl"], "run"),
        (["a-10007"], "order"),
        (["10007"], "order"),
    ):
        hits = await feed.search(["desk"], words, 5)
        assert [(hit.kind, hit.reference) for hit in hits] == [(kind, run_id)], words
    assert await feed.search(["desk"], ["b-10007"], 5) == []


async def test_what_was_erased_or_pruned_is_not_found_and_not_in_the_index(stores: Stores) -> None:
    now = 1_800_000_000.0
    store = await stores(now=lambda: now)
    feed = SqlConsoleFeed(store._database)
    people = SqlContacts(store._database, "desk", lambda text: None)
    ann = Address(address="ann@example.com", name="Ann Quixotic")
    for number, sender in ((1, ann), (2, Address(address="bob@example.com"))):
        message = a_message(number, body=f"zanzibar{number}").changed(sender=sender)
        accepted = await store.accept(message, flow="flow")
        await store.claim(accepted.run_id, {"flow": "v1"})
        await store.finish(accepted.run_id, RunStatus.DONE)
    await people.grow()
    assert len(await messages_with(feed, "zanzibar")) == 2
    assert len(await feed.search(["desk"], ["quixotic"], 5)) == 2

    await store.erase("ann@example.com", "ida")
    assert await indexed_words(store) == {"zanzibar2", "bob"}
    assert await feed.search(["desk"], ["quixotic"], 5) == []
    assert await feed.search(["desk"], ["zanzibar1"], 5) == []
    assert await indexed_words(store) == {"zanzibar2", "bob"}

    now += 86400 * 400
    await store.prune_old(Kept.RUNS, 86400 * 365, after=0, limit=10)
    assert await messages_with(feed, "zanzibar") == []
    assert await indexed_words(store) == {"bob"}
    assert await feed.not_searchable(["desk"], 10) == 0


async def test_words_that_were_read_before_an_erasure_are_not_written_after_it(
    stores: Stores,
) -> None:
    store = await stores()
    index = SqlSearchIndex(store._database, "desk")
    people = SqlContacts(store._database, "desk", lambda text: None)
    message = a_message(1, body="zanzibar1").changed(sender=Address(address="bob@example.com"))
    accepted = await store.accept(message, flow="flow")
    await store.claim(accepted.run_id, {"flow": "v1"})
    await store.finish(accepted.run_id, RunStatus.DONE)
    await people.grow()
    batch = await read_batch(store, index)
    await store.erase("bob@example.com", "ida")
    await store._database.write_core(lambda core: index._write(core, batch))
    assert await indexed_words(store) == set()


async def indexed_words(store: Any) -> set[str]:
    """Which of the words of these tests the tables of the index hold, and the changes due."""

    def read(core: sa.Connection) -> str:
        texts: list[str] = []
        for column in (t.search_runs.c.words, t.search_people.c.words, t.search_due.c.address):
            texts += [str(text) for text in core.execute(sa.select(column)).scalars()]
        return " ".join(texts)

    text = await store._database.read_core(read)
    return {word for word in ("zanzibar1", "zanzibar2", "quixotic", "bob") if word in text}


def a_tool_step(run_id: str, previous: bytes, arguments: dict[str, Any]) -> StepRow:
    return make_row(
        run_id,
        0,
        "act/find_order",
        StageResult(delta=Delta(outputs={"act": {"args": arguments}})),
        attempt=1,
        flow_version="v1",
        started_at=1.5,
        latency_ms=2.25,
        previous=previous,
    )
