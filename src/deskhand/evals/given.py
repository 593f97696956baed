"""What a case brings along: what the desk's agent says in place of its model, and tickets."""

import json
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from deskhand.engine.story import Document
from deskhand.errors import ModelRefused
from deskhand.evals.case_sections import SaidSection
from deskhand.evals.lane import Lane
from deskhand.mail.message_files import message_from
from deskhand.model.chat import ChatRequest, Chunk, Completion, ToolRequest
from deskhand.model.message import Message
from deskhand.model.run import RunStatus
from deskhand.model.ticket import MessageFacts, Ticket, TicketEvent
from deskhand.model.ticket_match import MatchResult
from deskhand.model.ticket_state import TicketState
from deskhand.tickets import rules
from deskhand.tickets.checkpoints import build
from deskhand.tickets.message_hints import facts_of, told_matter

MODEL = "given by the case"


class GivenTurns:
    """A chat model that says what it was given, in order, whatever it is asked."""

    def __init__(self) -> None:
        self._turns: deque[Completion] = deque()
        self._given = 0

    def add(self, turns: Iterable[Completion]) -> None:
        before = len(self._turns)
        self._turns.extend(turns)
        self._given += len(self._turns) - before

    async def complete(self, request: ChatRequest) -> Completion:
        if not self._turns:
            raise ModelRefused(
                f"the case gives {self._given} turns of the agent, and one more is asked for"
            )
        return self._turns.popleft()

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        whole = await self.complete(request)
        yield Chunk(whole.text, whole)


def completion_of(said: SaidSection) -> Completion:
    """A turn as the case writes it."""
    calls = said.call if isinstance(said.call, list) else [said.call]
    requests = tuple(
        ToolRequest("", tool, _text(given)) for call in calls for tool, given in call.items()
    )
    finish = "tool_calls" if requests else "stop"
    return Completion(said.say, MODEL, requests, "length" if said.cut_off else finish)


def said_in(turn: Mapping[str, Any]) -> Document:
    """A recorded turn as a case writes it."""
    calls = [{call["tool"]: _arguments(call["arguments"])} for call in turn["calls"]]
    by_tool: Document = {}
    for call in calls:
        by_tool |= call
    each_tool_once = len(by_tool) == len(calls)
    said = {
        "call": by_tool if each_tool_once else calls,
        "say": turn["text"],
        "cut_off": turn["finish"] == "length",
    }
    return {name: value for name, value in said.items() if value} or {"say": ""}


def _text(arguments: Mapping[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _arguments(text: str) -> Any:
    """The arguments as a mapping; as they were written where they are none, so that they are
    read the same again."""
    try:
        read = json.loads(text or "{}")
    except ValueError:
        return text
    return read if isinstance(read, dict) else text


DAY = 86400.0
_BETWEEN = 60.0
"""Seconds between two messages of a given ticket."""
_CASE = "the case"
_GIVEN = MatchResult(why="given by the case")


@dataclass(frozen=True, slots=True)
class GivenTicket:
    """One of the customer's earlier tickets."""

    id: str
    customer_id: str
    messages: tuple[str, ...]
    """What the customer wrote, oldest first."""
    state: TicketState = TicketState.ACTIVE
    subject: str = ""
    days_ago: float = 1.0
    """How long ago the last message came."""
    reply: str | None = None
    """What we answered last."""


async def give_ticket(lane: Lane, given: GivenTicket, now: float) -> None:
    """Put a ticket into a lane as it stood before: its messages are rows of runs that are over."""
    facts = await _taken(lane, given, now)
    events = list(_events(given, facts))
    ticket = Ticket(id=given.id, customer=f"customer:{given.customer_id}")
    replies = [] if given.reply is None else [(given.reply, facts[-1].at)]
    tickets = lane.tickets
    checkpoint = build(ticket, facts, replies)
    vectors = {fact.run: fact.vector for fact in facts if fact.vector is not None}
    version = await tickets.store.version(ticket.customer)
    await tickets.record(
        ticket.customer, version, [ticket], events, {ticket.id: checkpoint}, vectors
    )


async def _taken(lane: Lane, given: GivenTicket, now: float) -> list[MessageFacts]:
    """What the ticket's messages say; each has a run that is over."""
    from deskhand.language.embed import shared_embedder  # who reads cases does not wait for it

    facts: list[MessageFacts] = []
    last = now - given.days_ago * DAY
    for number, words in enumerate(given.messages, 1):
        at = last - _BETWEEN * (len(given.messages) - number)
        message = _message(given, number, words, at)
        accepted = await lane.store.accept(message, flow=lane.flow_for(message))
        await lane.store.claim(accepted.run_id, {lane.flow_for(message): ""})
        await lane.store.finish(accepted.run_id, RunStatus.DONE, reason=_GIVEN.why)
        vector = shared_embedder().embed([told_matter(message)], "query")[0]
        facts.append(facts_of(accepted.run_id, message, vector.astype("<f2").tobytes()))
    return facts


def _message(given: GivenTicket, number: int, words: str, at: float) -> Message:
    fields = {
        "id": f"{given.id} {number}",
        "conversation": given.id,
        "from": f"{given.id.lower()}@example.com",
        "customer_id": given.customer_id,
        "subject": given.subject,
        "body": words,
        "received_at": datetime.fromtimestamp(at, UTC),
    }
    return message_from(fields, vouched_by=_CASE)


def _events(given: GivenTicket, facts: Sequence[MessageFacts]) -> Iterator[TicketEvent]:
    customer = f"customer:{given.customer_id}"
    first = facts[0]
    subject = given.subject or " ".join(first.excerpt.split())[:120]
    events = rules.opened(given.id, customer, subject, first.run, _GIVEN, _CASE, first.at)
    ticket = Ticket(id=given.id, customer=customer)
    for fact in facts[1:]:
        events += rules.joined(ticket, fact.run, _GIVEN, _CASE, fact.at)
    yield from events
    yield from rules.moved_to(ticket, given.state, _CASE, "", facts[-1].at)
