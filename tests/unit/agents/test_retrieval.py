"""Context for a message: from several sources, within a budget, whoever of them fails."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from deskhand.agents.office_sources import calendar_source, contact_source
from deskhand.agents.remembering import (
    approved_replies,
    conversation_source,
    own_source,
    similar_source,
)
from deskhand.agents.retrieval import Asked, ContextPiece, Source, retrieve_from
from deskhand.agents.standalone import Standalone
from deskhand.config.sections.calendar import CalendarSpec
from deskhand.knowledge.exchanges import owner_of, person_of
from deskhand.model.booking import Span
from deskhand.model.contact import Contact, Note
from deskhand.model.envelope import Envelope
from deskhand.model.exchanges import Exchange, ExchangeQuery, FoundExchange, How
from deskhand.model.message import Message
from deskhand.model.principal import ANONYMOUS
from deskhand.model.tasks import Task, TaskKind, tokens_of
from tests.kit import a_message
from tests.knowledge_kit import HashingEmbedder


def source(name: str, *texts: str, categories: frozenset[str] | None = None) -> Source:
    async def find(asked: Asked) -> Sequence[ContextPiece]:
        return [ContextPiece(text, f"{name}-{number}", 0.9) for number, text in enumerate(texts)]

    return Source(name, find, categories)


async def retrieved(
    among: Sequence[Source], category: str = "inquiry", patience: float = 60.0, **settings: Any
) -> Any:
    envelope = Envelope.of(a_message(), run_id="run_1").with_output("c", {"category": category})
    return await retrieve_from(among, patience=patience)(envelope, Standalone(envelope), settings)


async def test_each_piece_says_where_it_comes_from() -> None:
    made = await retrieved(
        [source("knowledge", "Open at nine."), source("contact", "Ann, since 2020.")]
    )
    assert made["context"] == ["Open at nine.", "Ann, since 2020."]
    assert made["sources"][1] == {
        "source": "contact",
        "ref": "contact-0",
        "text": "Ann, since 2020.",
        "score": 0.9,
    }
    assert (made["found"], made["skipped"], made["left_out"]) == ("1 knowledge, 1 contact", [], 0)


async def test_a_source_that_fails_or_hangs_is_noted_and_skipped() -> None:
    async def breaks(asked: Asked) -> Sequence[ContextPiece]:
        raise OSError("the calendar server is away")

    async def hangs(asked: Asked) -> Sequence[ContextPiece]:
        await asyncio.Event().wait()
        return []

    sources = [
        Source("calendar", breaks),
        Source("crm", hangs),
        source("knowledge", "Open at nine."),
    ]
    made = await retrieved(sources, patience=0.05)
    assert made["context"] == ["Open at nine."]
    assert made["skipped"] == [
        {"source": "calendar", "reason": "OSError: the calendar server is away"},
        {"source": "crm", "reason": "no answer within 0.05 s"},
    ]


async def test_the_budget_keeps_the_best_of_every_source_first() -> None:
    long = "word " * 60
    sources = [source("knowledge", long, long, long), source("contact", "Ann")]
    made = await retrieved(sources, budget=tokens_of(long) + 10)
    assert [one["source"] for one in made["sources"]] == ["knowledge", "contact"]
    assert made["left_out"] == 2
    assert made["tokens"] <= tokens_of(long) + 10


async def test_a_source_is_asked_only_about_what_it_can_help_with() -> None:
    sources = [
        source("calendar", "Monday at ten is free.", categories=frozenset({"meeting_request"}))
    ]
    assert (await retrieved(sources))["context"] == []
    assert (await retrieved(sources, category="meeting_request"))["context"] == [
        "Monday at ten is free."
    ]
    assert (await retrieved([source("a", "one"), source("b", "two")], sources=["b"]))[
        "context"
    ] == ["two"]


class Memory:
    """Exchanges in a list."""

    desk = "desk"

    def __init__(self, exchanges: Sequence[Exchange], told: int = 1) -> None:
        self.exchanges, self.told = exchanges, told

    async def similar(self, query: ExchangeQuery) -> list[FoundExchange]:
        return [FoundExchange(one, 0.95) for one in self.exchanges if one.person != query.person]

    async def of_owner(self, owner: str, limit: int = 5) -> list[Exchange]:
        return [one for one in self.exchanges if one.owner == owner]

    async def of_runs(self, run_ids: Sequence[str]) -> dict[str, Exchange]:
        return {one.run_id: one for one in self.exchanges if one.run_id in run_ids}

    async def told_to(self, sentences: Any) -> dict[str, int]:
        return dict.fromkeys(sentences, self.told)


def exchange(run_id: str, sender: str, how: How = "approved", owner: str | None = None) -> Exchange:
    answer = (
        "Dear Bob Secret, your divorce papers of 3 May lie here. Returns are free within thirty"
        " days."
    )
    return Exchange(
        run_id, person_of(sender), owner, "inquiry", "en", how, "I am Bob Secret", answer, 86400.0
    )


def asked(message: Message) -> Asked:
    return Asked("run_9", message, message.body, "inquiry", message.principal)


async def test_another_customers_exchange_is_a_pointer_without_its_words() -> None:
    memory: Any = Memory([exchange("run_1", "bob@example.com")])
    [piece] = await similar_source(memory, HashingEmbedder).find(asked(a_message()))
    assert piece.ref == "run_1"
    assert (
        piece.text
        == "A message like this one (inquiry) was answered with a colleague's approval on"
        " 1970-01-02."
    )
    assert not {"Bob", "Secret", "divorce"} & set(piece.text.split())


async def test_what_three_people_were_told_may_be_told_again() -> None:
    memory: Any = Memory([exchange("run_1", "bob@example.com", "edited")], told=3)
    [piece] = await similar_source(memory, HashingEmbedder).find(asked(a_message()))
    assert piece.text.endswith("Returns are free within thirty days.")
    assert "in a colleague's words" in piece.text


async def test_earlier_exchanges_are_shown_whole_to_nobody_but_the_proven_sender() -> None:
    message = a_message()
    memory: Any = Memory([exchange("run_1", "ann@example.com", owner=owner_of(message.principal))])
    [piece] = await own_source(memory).find(asked(message))
    assert "divorce papers" in piece.text
    forged = message.changed(principal=ANONYMOUS)
    assert await own_source(memory).find(asked(forged)) == []


async def test_the_conversation_so_far_comes_with_what_was_answered() -> None:
    from types import SimpleNamespace as Some

    class Turns:
        async def run(self, run_id: str) -> Any:
            return Some(position=7)

        async def conversation(
            self, conversation: str, *, before: int, limit: int, remembered: bool
        ) -> list[Any]:
            assert (conversation, before) == ("c1", 7)
            return [
                Some(
                    run=Some(id="run_1"),
                    message=a_message(body="Hello?\n\n> quoted text that was ours"),
                )
            ]

    store: Any = Turns()
    memory: Any = Memory([exchange("run_1", "ann@example.com")])
    [piece] = await conversation_source(store, memory).find(asked(a_message()))
    assert piece.text.startswith("The sender wrote on 2026-11-15: Hello?\nWe answered: Dear Bob")
    assert "quoted" not in piece.text


async def test_only_the_proven_sender_is_looked_up_and_notes_stay_with_the_company() -> None:
    class Contacts:
        async def find(self, address: str) -> Contact | None:
            notes = (Note(text="pays late", by="eve", at=1.0),)
            return Contact(address=address, name="Ann Baker", tier="gold", notes=notes, messages=3)

    contacts: Any = Contacts()
    [piece] = await contact_source(contacts).find(asked(a_message()))
    assert "name: Ann Baker; address: ann@example.com; tier: gold; messages: 3" in piece.text
    assert "pays late" not in piece.text
    assert (
        await contact_source(contacts).find(asked(a_message().changed(principal=ANONYMOUS))) == []
    )


async def test_the_calendar_tells_when_and_not_what() -> None:
    start = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)

    class Busy:
        def __init__(self) -> None:
            self.spans = [Span(start, start + timedelta(hours=1))]

        async def busy(self, frame: Span) -> list[Span]:
            assert frame.start == start
            return self.spans

    calendar: Any = Busy()
    spec = CalendarSpec(zone="Europe/Prague", openings={0: ((540, 1020),)}, notice=timedelta(0))
    source = calendar_source(calendar, spec, start.timestamp)
    assert source.categories == frozenset({"meeting_request"})
    [piece] = await source.find(asked(a_message()))
    assert piece.text == "We are busy (Europe/Prague): 2026-11-16 10:00 to 2026-11-16 11:00"
    calendar.spans = []
    [piece] = await source.find(asked(a_message()))
    assert "no appointments" in piece.text
    keeps_holidays = spec.changed(holidays=("CZ",), openings={1: ((540, 1020),)})
    [piece] = await calendar_source(calendar, keeps_holidays, start.timestamp).find(
        asked(a_message())
    )
    assert "closed on public holidays: 2026-11-17 (" in piece.text


async def test_a_draft_is_shown_only_what_several_people_were_told() -> None:
    fields = a_message().model_dump(mode="json")
    task = Task(kind=TaskKind.DRAFT, stage="draft", text="Returns?", inputs={"message": fields})
    memory: Any = Memory([exchange("run_1", "bob@example.com", "edited")], told=3)
    shared = await approved_replies(memory, HashingEmbedder)(task)
    assert "Returns are free within thirty days." in shared[0]
    alone: Any = Memory([exchange("run_1", "bob@example.com", "edited")], told=1)
    assert await approved_replies(alone, HashingEmbedder)(task) == []
