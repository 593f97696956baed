"""What every memory of answered messages must do, in whatever database it lies."""

import asyncio
from typing import Any

import numpy as np

from deskhand.adapters.stores.exchanges import SqlExchanges
from deskhand.knowledge.exchanges import learned, person_of
from deskhand.model.exchanges import Exchange, ExchangeQuery, How
from deskhand.model.message import Address
from deskhand.model.run import RunStatus
from tests.conformance.adapters import Stores
from tests.kit import a_message
from tests.knowledge_kit import HashingEmbedder

EMBEDDER = HashingEmbedder()


async def a_sent_run(store: Any, number: int, sender: str = "ann@example.com") -> str:
    message = a_message(number).changed(sender=Address(address=sender))
    run_id: str = (await store.accept(message, flow="main")).run_id
    await store.claim(run_id, {"main": "v1"})
    await store.finish(run_id, RunStatus.SENT)
    return run_id


def an_exchange(
    run_id: str,
    question: str,
    answer: str,
    *,
    sender: str = "ann@example.com",
    how: How = "approved",
    owner: str = "",
) -> Exchange:
    return Exchange(
        run_id, person_of(sender), owner or None, "inquiry", "en", how, question, answer, 5.0
    )


def asking(
    text: str, sender: str = "zoe@example.com", owner: str | None = None, limit: int = 3
) -> ExchangeQuery:
    return ExchangeQuery(EMBEDDER.embed([text], "query")[0], person_of(sender), owner, limit)


async def test_an_exchange_is_kept_once_and_found_by_likeness(stores: Stores) -> None:
    store = await stores()
    memory = SqlExchanges(store._database, "desk")
    hours, lamps = await a_sent_run(store, 1), await a_sent_run(store, 2)
    assert [run for _, run in await memory.unlearned()] == [hours, lamps]
    first = learned(
        an_exchange(hours, "when are you open on friday", "We are open until five."), EMBEDDER
    )
    assert await memory.keep(first) is True
    assert await memory.keep(first) is False
    assert await memory.keep(
        learned(an_exchange(lamps, "do you sell green lamps", "Yes, we do."), EMBEDDER)
    )
    assert await memory.unlearned() == []
    found = await memory.similar(asking("are you open on friday", limit=1))
    assert [(one.exchange.run_id, one.exchange.answer) for one in found] == [
        (hours, "We are open until five.")
    ]
    assert (await memory.of_runs([lamps]))[lamps].question == "do you sell green lamps"


async def test_what_the_sender_wrote_and_what_nobody_looked_at_is_no_example(
    stores: Stores,
) -> None:
    store = await stores()
    memory = SqlExchanges(store._database, "desk")
    runs = [await a_sent_run(store, number) for number in range(3)]
    text = "when are you open"
    await memory.keep(learned(an_exchange(runs[0], text, "At nine.", how="sent"), EMBEDDER))
    await memory.keep(
        learned(an_exchange(runs[1], text, "At nine.", sender="zoe@example.com"), EMBEDDER)
    )
    await memory.keep(learned(an_exchange(runs[2], text, "At nine.", owner="zoe"), EMBEDDER))
    assert await memory.similar(asking(text, owner="zoe")) == []
    assert [one.exchange.run_id for one in await memory.similar(asking(text))] == [runs[2]]
    assert [one.run_id for one in await memory.of_owner("zoe")] == [runs[2]]


async def test_a_sentence_counts_the_people_who_were_told_it(stores: Stores) -> None:
    store = await stores()
    memory = SqlExchanges(store._database, "desk")
    sentence = "Returns are free of charge within thirty days."
    for number, who in enumerate(["ann", "ann", "bob"]):
        run = await a_sent_run(store, number, f"{who}@example.com")
        kept = learned(an_exchange(run, "may I return it", sentence, owner=who), EMBEDDER)
        await memory.keep(kept)
    [digest] = kept.sentences
    assert await memory.told_to([digest, "unknown"]) == {digest: 2}
    for number in range(3, 6):
        sender = f"forged{number}@example.com"
        run = await a_sent_run(store, number, sender)
        unproven = an_exchange(run, "may I return it", sentence, sender=sender)
        await memory.keep(learned(unproven, EMBEDDER))
    assert await memory.told_to([digest]) == {digest: 2}, "nobody vouches for the last three"
    other = SqlExchanges(store._database, "another desk")
    assert (await other.told_to([digest]), await other.similar(asking("may I return it"))) == (
        {},
        [],
    )


async def test_an_erased_person_is_not_remembered(stores: Stores) -> None:
    store = await stores()
    memory = SqlExchanges(store._database, "desk")
    run, other = await a_sent_run(store, 1), await a_sent_run(store, 2, "bob@example.com")
    kept = learned(
        an_exchange(run, "my order is late", "It comes on the third of May.", owner="ann"), EMBEDDER
    )
    await memory.keep(kept)
    await memory.keep(
        learned(
            an_exchange(other, "my order is late", "It left us.", sender="bob@x.example"), EMBEDDER
        )
    )
    assert len(await memory.similar(asking("my order is late"))) == 2
    await store.erase("ann@example.com", "operator")
    assert [one.exchange.run_id for one in await memory.similar(asking("my order is late"))] == [
        other
    ]
    assert (await memory.of_owner("ann"), await memory.told_to(kept.sentences)) == ([], {})
    assert await memory.keep(kept) is False


async def test_what_another_process_keeps_is_found_at_once(stores: Stores) -> None:
    store, second = await stores(), await stores()
    here, there = SqlExchanges(store._database, "desk"), SqlExchanges(second._database, "desk")
    assert await there.similar(asking("hello")) == []
    runs = [await a_sent_run(store, number, f"p{number}@example.com") for number in range(12)]
    kept = [
        learned(an_exchange(run, f"question number {number}", "Yes, of course, at once."), EMBEDDER)
        for number, run in enumerate(runs)
    ]
    for_all = await asyncio.gather(*(memory.keep(one) for one in kept for memory in (here, there)))
    assert sum(for_all) == len(kept)
    assert len(await there.similar(asking("question number 3", limit=20))) == len(kept)
    assert np.isclose(
        (await here.similar(asking("question number 3")))[0].similarity, 1.0, atol=0.01
    )
