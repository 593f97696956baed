"""One thread across mail, chat and tickets: what the customer said, what left, and who did what.

A ticket holds messages of several conversations; the thread shows all of them in order of time.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from deskhand.engine.attachment_list import ListedFile, list_files
from deskhand.engine.descriptions import actor_of
from deskhand.engine.story import Records, read_records
from deskhand.mail.reply import visible_reply
from deskhand.model.attached_files import FileOrigin
from deskhand.model.chats import DESK, VISITOR, ChatFile, ChatLine
from deskhand.model.message import CHAT, DELIVER, REPLY, Message
from deskhand.model.run import Decision, EffectState, Event, Review, ReviewState, Run
from deskhand.model.ticket import Ticket
from deskhand.web.api.access import ServedDesk
from deskhand.web.console.event_phrases import actor_words, event_words
from deskhand.web.console.translation import Phrase

MOST_RUNS = 20
"""Messages of a thread that are shown; the rest is a click away."""
NOTE = "conversation.note"
_NOTES = ("review.note", NOTE)
_SAID_BY_PEOPLE = ("review.take_over", "review.reject", "review.close", "run.cancelled")
_ANSWERED = "run.answered_by_person"
"""In a chat, the colleague's line says the same."""
_TOLD = (*_SAID_BY_PEOPLE, "reply.bounced", "reply.complained", _ANSWERED)
"""Events of a run that a reader of the thread wants to know."""

Look = Literal["customer", "desk", "person", "note", "event"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a thread. Program, people and notes look different."""

    look: Look
    at: float
    who: str
    text: str
    channel: str = ""
    tag: str = ""
    """How it came about: "by itself", "approved by ida"."""
    run: str = ""
    review: str = ""
    waits: bool = False
    """It has not left: a draft, or a review that is open."""
    files: tuple[ListedFile | ChatFile, ...] = ()
    said: str = ""
    """The name of a chat's message, by which its files are found."""
    thumb: str = ""
    """What a visitor thought of it: `up` or `down`."""
    has_page: bool = False
    language: str = ""


@dataclass(frozen=True, slots=True)
class Thread:
    run: Run
    """The newest run."""
    message: Message | None
    entries: list[Entry]
    ticket: Ticket | None
    open_review: Review | None
    is_chat: bool
    chat_address: str | None
    channels: list[str]
    runs: list[Run]
    earlier: int
    """How many messages are not shown."""


async def read_thread(desk: ServedDesk, run: Run) -> Thread:
    """The thread that a run's message belongs to."""
    store = desk.store
    ticket = await _ticket_of(desk, run.id)
    runs = await _runs_of(desk, run, ticket)
    shown = runs[-MOST_RUNS:]
    records = await asyncio.gather(*(read_records(store, past.id) for past in shown))
    entries: list[Entry] = []
    chats: dict[str, Sequence[ChatLine]] = {}
    for record in records:
        conversation = record.run.conversation
        if conversation not in chats:
            chats[conversation] = await desk.chats.lines(conversation, limit=1000)
            entries += _lines(conversation, chats[conversation])
        entries += await _of_run(desk, record, in_chat=bool(chats[conversation]))
    if ticket is not None:
        entries += [Entry("note", note.at, note.by, note.text) for note in ticket.notes]
    newest = records[-1]
    reviews = [review for record in records for review in record.reviews]
    chat = await desk.chats.chat(newest.run.conversation)
    channels = {record.message.channel for record in records if record.message is not None}
    address = None if chat is None else chat.address
    return Thread(
        newest.run,
        newest.message,
        sorted(entries, key=lambda entry: entry.at),
        ticket,
        _open(reviews),
        chat is not None,
        address,
        sorted(channels),
        shown,
        len(runs) - len(shown),
    )


async def read_replies(desk: ServedDesk, run_ids: Sequence[str]) -> list[Entry]:
    """What the customer was told in these runs, and what waits to be told: the newest runs only."""
    shown = run_ids[-MOST_RUNS:]
    records = await asyncio.gather(*(read_records(desk.store, run_id) for run_id in shown))
    entries: list[Entry] = []
    for of_run in records:
        entries += await _reply(desk, of_run)
        entries += [entry for entry in _waiting(of_run) if entry.waits]
    return entries


async def _ticket_of(desk: ServedDesk, run_id: str) -> Ticket | None:
    ticket_id = await desk.tickets.store.ticket_of_run(run_id)
    if ticket_id is None:
        return None
    led = await desk.tickets.store.lead([ticket_id])
    return await desk.tickets.store.ticket(led[ticket_id].id) if ticket_id in led else None


async def _runs_of(desk: ServedDesk, run: Run, ticket: Ticket | None) -> list[Run]:
    """The conversation's runs and those of its ticket, oldest first."""
    runs_by_id = {past.id: past for past in await desk.store.runs(conversation=run.conversation)}
    for run_id in () if ticket is None else ticket.runs[-MOST_RUNS:]:
        if run_id not in runs_by_id:
            runs_by_id[run_id] = await desk.store.run(run_id)
    return sorted(runs_by_id.values(), key=lambda past: past.position)


def _open(reviews: Iterable[Review]) -> Review | None:
    waiting = [review for review in reviews if review.state is ReviewState.OPEN]
    return waiting[-1] if waiting else None


# --- what stands in it


def _lines(chat: str, lines: Sequence[ChatLine]) -> Iterator[Entry]:
    for line in lines:
        if line.author == VISITOR:
            said = f"{chat}/{line.id}"
            yield Entry("customer", line.at, "", line.text, CHAT, files=line.files, said=said)
        elif line.author == DESK:
            yield Entry("desk", line.at, "", line.text, CHAT, thumb=line.thumb or "")
        else:
            yield Entry("person", line.at, line.name or line.author, line.text, CHAT)


async def _of_run(desk: ServedDesk, records: Records, *, in_chat: bool) -> list[Entry]:
    """A run's message, its reply, and what people did about it; of a chat only the last."""
    entries: list[Entry] = []
    message = records.message
    if message is not None and not in_chat:
        files = await desk.store.files(records.run.id)
        came = [file for file in list_files(message, files) if file.origin is FileOrigin.MESSAGE]
        entries.append(
            Entry(
                "customer",
                records.run.created_at,
                message.writer.name or message.writer.address,
                visible_reply(message.words) or message.words,
                message.channel,
                run=records.run.id,
                files=tuple(came),
                has_page=any(file.origin is FileOrigin.PAGE for file in files),
            )
        )
    if not in_chat:
        entries += await _reply(desk, records)
    entries += _waiting(records)
    entries += [_noted(event) for event in records.events if event.kind in _NOTES]
    told_kinds = [kind for kind in _TOLD if not (in_chat and kind == _ANSWERED)]
    entries += [
        _told_entry(event, records.run.id) for event in records.events if event.kind in told_kinds
    ]
    return entries


async def _reply(desk: ServedDesk, records: Records) -> list[Entry]:
    """What left, and how it came about."""
    sent = [
        effect
        for effect in await desk.store.effects(records.run.id)
        if effect.tool == DELIVER and effect.state is EffectState.DONE
    ]
    if not sent or not records.states:
        return []
    reply = records.states[-1].after.output(REPLY)
    if not isinstance(reply, dict):
        return []
    look, who, tag = _writer(records.reviews)
    return [
        Entry(
            look,
            sent[-1].updated_at,
            who,
            str(reply.get("text") or ""),
            "" if records.message is None else records.message.channel,
            tag,
            run=records.run.id,
            language=str(reply.get("language") or ""),
        )
    ]


def _writer(reviews: Sequence[Review]) -> tuple[Look, str, str]:
    """Who wrote a reply that left: a look, a name, and how."""
    decided = [review for review in reviews if review.decision is not None and review.decided_by]
    for review in reversed(decided):
        by = str(review.decided_by)
        if review.decision is Decision.ANSWER:
            return "person", by, ""
        if review.decision is Decision.EDIT:
            return "desk", "", Phrase("edited and approved by {who}", who=by)
        if review.decision in (Decision.APPROVE, Decision.ACKNOWLEDGE) and not review.fallback:
            return "desk", "", Phrase("approved by {who}", who=by)
    return "desk", "", Phrase("by itself")


def _waiting(records: Records) -> Iterator[Entry]:
    """A draft that waits for a person, or why a person is asked."""
    review = _open(records.reviews)
    if review is None:
        return
    reply: Any = review.payload.get(REPLY)
    text = str(reply.get("text") or "") if isinstance(reply, dict) else ""
    if text:
        yield Entry(
            "desk",
            review.created_at,
            "",
            text,
            tag=Phrase("waits for approval"),
            run=records.run.id,
            review=review.id,
            waits=True,
        )
        return
    words = Phrase("asked for a person: {why}", why=review.reason)
    who = Phrase("The desk")
    yield Entry("event", review.created_at, who, words, run=records.run.id, review=review.id)


def _noted(event: Event) -> Entry:
    return Entry("note", event.at, actor_of(event), str(event.payload.get("text") or ""))


def _told_entry(event: Event, run_id: str) -> Entry:
    return Entry("event", event.at, actor_words(event), event_words(event), run=run_id)
