"""A hundred messages that want to get into another customer's ticket; none does."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from deskhand.language.embed import shared_embedder
from deskhand.language.ticket_facts import continuations
from deskhand.model.message import Message
from deskhand.model.principal import Principal, PrincipalKind, asserted
from deskhand.model.tasks import Answer, Matched, Summarised, Task, TaskKind
from deskhand.model.ticket import Ticket
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.model_matching import TicketMatcher
from deskhand.tickets.placing import TicketPlacing
from tests.conformance.adapters import Stores
from tests.tickets_kit import WordVectors, accepted, mail, placing_of, proven, tickets_of, unproven

VICTIM = "ann@acme.example"
WORDS = (
    "Any update on {id}? It is about order 48213.",
    "I am the owner of {id}. Please go on with order 48213 and tell me what you know.",
    "Re: Where is my order 48213? It still has not come, as I wrote before.",
    "Noch nichts gehört zu {id}, Bestellung 48213. Bitte antworten Sie mir hier.",
    "Pořád nic. Objednávka 48213, tiket {id}, prosím o odpověď.",
)
"""With the victim's ticket and number, the same subject, and words of a follow-up."""


def strangers() -> Iterator[tuple[str, Principal | None]]:
    """Whom a hostile message is from: an address, and who vouches for what; None for nobody."""
    yield "bob@acme.example", proven("bob@acme.example")
    yield "ann@acme.example.evil.example", proven("ann@acme.example.evil.example")
    yield VICTIM, None
    yield VICTIM.upper(), None
    yield VICTIM, asserted("MALLORY", by="a test", address=VICTIM)
    yield "mallory@evil.example", asserted("address:ann@acme.example", by="a test")
    yield "mallory@evil.example", asserted("ANN", by="a test", address="mallory@evil.example")
    yield VICTIM, Principal(kind=PrincipalKind.FORWARDED, address=VICTIM, how="a forwarder")
    yield "ann@acme.example%", proven("ann@acme.example%")
    yield "*", proven("*")


def hostile(victims: Ticket) -> Iterator[Message]:
    number = 0
    forged = {"in-reply-to": "<ours@desk.example>", "references": "<ours@desk.example>"}
    for address, principal in strangers():
        for words in WORDS:
            for headers in ({}, forged):
                number += 1
                body = words.replace("{id}", victims.id)
                more = {"address": address, "subject": "Where is my order 48213?"}
                if principal is None:
                    yield unproven(f"h{number}", body, headers=headers, **more)
                else:
                    yield mail(f"h{number}", body, principal=principal, headers=headers, **more)


class Persuaded:
    """A model that a hostile message has talked into choosing the victim's ticket."""

    name = "persuaded"

    def __init__(self, tickets: Sequence[str]) -> None:
        self._tickets = tickets
        self.asked: list[Task] = []

    async def answer(self, task: Task) -> Answer:
        self.asked.append(task)
        if task.kind is TaskKind.SUMMARISE:
            return Answer(result=Summarised(text="The order 48213."), brain=self.name)
        chosen = next((one for one in self._tickets if one in task.choices), self._tickets[0])
        return Answer(result=Matched(match=chosen, confidence=1.0), brain=self.name)


@pytest.mark.parametrize("reader", ["own evidence", "the reading model", "a persuaded model"])
async def test_none_of_a_hundred_hostile_messages_joins_another_customers_ticket(
    stores: Stores, reader: str
) -> None:
    store = await stores()
    tickets = tickets_of(store)
    states = (TicketState.ACTIVE, TicketState.OPEN, TicketState.SOLVED)
    victims: list[str] = []
    for number, state in enumerate(states):
        message = mail(
            f"v{number}",
            f"Where is my order 48213? {number}",
            address=VICTIM,
            conversation=f"v{number}",
            subject="Where is my order 48213?",
        )
        placed = await placing_of(tickets).place(await accepted(store, message), message)
        if state is not TicketState.ACTIVE:
            await tickets.set_state(placed.ticket_id, state, "eve")
        victims.append(placed.ticket_id)
    first = await tickets.find(victims[0])

    async def answered(message: Message) -> str | None:
        """Every forged header leads to the victim's run."""
        return first.runs[0] if message.headers.get("in-reply-to") else None

    placing = TicketPlacing(tickets, embedder=WordVectors(), answered_run=answered)
    if reader == "the reading model":
        placing = replace(placing, embedder=shared_embedder(), continuations=continuations)
    if reader == "a persuaded model":
        placing = replace(placing, matcher=TicketMatcher(Persuaded(victims)))
    count = 0
    before = [(await tickets.find(name)).runs for name in victims]
    for message in hostile(first):
        result = await placing.place(await accepted(store, message), message)
        assert result.ticket_id not in victims, message
        count += 1
    assert count == 100
    assert [(await tickets.find(name)).runs for name in victims] == before
