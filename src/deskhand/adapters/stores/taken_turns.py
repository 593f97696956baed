"""Which words of customers were taken, by digests of them: a message that a program hands in again
is known without reading the customer's tickets."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.model.message import Message
from deskhand.model.run import RunStatus
from deskhand.model.ticket_request import (
    MOST_MESSAGES,
    TakenTurn,
    TakenWords,
    TicketTurn,
    handed_in,
    words_taken,
)

_AT_WORK = (RunStatus.QUEUED, RunStatus.RUNNING)


def write_turns(core: sa.Connection, desk: str, customer: str, runs: Sequence[int]) -> None:
    """Tell anew what the messages at these positions brought of a customer's words."""
    forget_turns(core, desk, runs)
    here = t.messages.c
    query = sa.select(here.run, here.body).where(here.run.in_(runs), here.body.is_not(None))
    rows: list[dict[str, Any]] = []
    for run, body in core.execute(query).all():
        rows += rows_of(desk, customer, run, Message.model_validate_json(body))
    if rows:
        core.execute(t.taken_turns.insert(), rows)


def forget_turns(core: sa.Connection, desk: str, runs: Sequence[int]) -> None:
    here = t.taken_turns.c
    core.execute(t.taken_turns.delete().where(here.desk == desk, here.run.in_(runs)))


def rows_of(desk: str, customer: str, run: int, message: Message) -> list[dict[str, Any]]:
    return [
        {
            "desk": desk,
            "run": run,
            "place": place,
            "digest": _digest(customer, words.content),
            "at": words.at,
            "conversation": words.conversation,
        }
        for place, words in enumerate(words_taken(message))
    ]


def turns_taken(
    core: sa.Connection,
    desk: str,
    customers: Sequence[str],
    turns: Sequence[TicketTurn],
    ticket: str | None,
) -> list[TakenTurn]:
    """As `TicketStore.turns_taken`. More takings of the same words than a request can hold are
    never needed."""
    content_by_digest = _digests(customers, turns)
    ranked = _ranked(desk, list(content_by_digest), turns, ticket).subquery()
    chosen = (
        sa.select(ranked, t.runs.c.id)
        .join(t.runs, t.runs.c.position == ranked.c.run)
        .where(ranked.c.rank <= MOST_MESSAGES)
        .order_by(ranked.c.run, ranked.c.place)
    )
    return [_taken_turn(row, content_by_digest) for row in core.execute(chosen)]


def turns_waiting(
    core: sa.Connection, desk: str, sender: Message, turns: Sequence[TicketTurn]
) -> list[TakenTurn]:
    """As `TicketStore.turns_waiting`."""
    contents = {turn.words for turn in turns}
    waiting: list[TakenTurn] = []
    for row in core.execute(_unplaced(desk, sender)):
        message = Message.model_validate_json(row.body)
        if message.author != sender.author or handed_in(message) is None:
            continue
        said = [words for words in words_taken(message) if words.content in contents]
        waiting += [TakenTurn(words, row.id, message.conversation) for words in said]
    return waiting


def _unplaced(desk: str, sender: Message) -> sa.Select[Any]:
    """The messages of an address that wait for their ticket. They are found among the runs at
    work, which are few, and not among all that the sender ever wrote."""
    runs, here, links = t.runs.c, t.messages.c, t.ticket_messages.c
    address = sender.correspondent.strip().lower()
    at_work = (runs.desk == desk, runs.pruned_at.is_(None), runs.status.in_(_AT_WORK))
    is_placed = sa.exists().where(links.desk == desk, links.run == runs.position)
    return (
        sa.select(runs.id, here.body)
        .join(t.messages, here.run == runs.position)
        .where(*at_work, here.sender + "" == address, here.body.is_not(None), ~is_placed)
        .order_by(runs.position)
    )


def _ranked(
    desk: str, digests: Sequence[bytes], turns: Sequence[TicketTurn], ticket: str | None
) -> sa.Select[Any]:
    """All takings of these words, each with its rank among those of the same words."""
    here, links = t.taken_turns.c, t.ticket_messages.c
    times = [turn.at for turn in turns if turn.at is not None]
    is_sought = sa.case((links.ticket == ticket, 0), (here.at.in_(times), 1), else_=2)
    order = (is_sought, here.run.desc(), here.place.desc())
    rank = sa.func.row_number().over(partition_by=here.digest, order_by=order)
    same_run = sa.and_(links.desk == here.desk, links.run == here.run)
    return (
        sa.select(here.run, here.place, here.digest, here.at, here.conversation, links.ticket)
        .add_columns(rank.label("rank"))
        .join(t.ticket_messages, same_run)
        .where(here.desk == desk, here.digest.in_(digests))
    )


def _digests(customers: Sequence[str], turns: Sequence[TicketTurn]) -> dict[bytes, str]:
    contents = {turn.words for turn in turns}
    return {_digest(customer, content): content for customer in customers for content in contents}


def _taken_turn(row: Any, content_by_digest: Mapping[bytes, str]) -> TakenTurn:
    words = TakenWords(content_by_digest[bytes(row.digest)], row.at, row.conversation)
    return TakenTurn(words, row.id, row.ticket)


def _digest(customer: str, content: str) -> bytes:
    """Of the customer too: words that everybody says are looked up as quickly as any."""
    return sha256(f"{customer}\0{content}".encode()).digest()[:16]
