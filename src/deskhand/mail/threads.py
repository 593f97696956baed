"""Which conversation a message belongs to: never another person's, whatever its headers say.

A conversation belongs to one person, as well proven as he was when it began. A mail joins it only
if it comes from the same person, proven in the same way, and shows that it belongs there: by the
Message-ID of our answer (only who got that answer knows it), by another Message-ID of the
conversation, or, for a proven sender, by its subject and time. Somebody else who has all of that (a
colleague in copy, whoever a mail was forwarded to) begins a conversation of his own.
"""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from deskhand.mail.mail_phrases import fold, mail_phrases
from deskhand.mail.reply_to import plain, reply_to
from deskhand.model.message import Message
from deskhand.model.principal import PrincipalKind
from deskhand.model.run import ConversationTurn, EffectKey
from deskhand.ports import Store, Threads

HEADER = "x-deskhand-thread"
"""Where the decision and its reason are kept; whatever a mail brings under this name is
overwritten."""
_ID = re.compile(r"<[^<>\s]{3,990}>")
_OURS = re.compile(r"<(run_[0-9a-z]{20})\.(\d{1,9})\.(\d{1,9})@[^<>\s]+>")
_MOST_REFERENCES = 20
_MOST_TURNS = 200
_DAYS = 14.0
_ENOUGH = 0.7
_SHORTEST_SUBJECT = 6
_EVER = 2**62


class ThreadEvidence(StrEnum):
    TOKEN = "token"  # noqa: S105 what it is called, not what it is
    """The Message-ID of a mail that we sent: 52 random bits and an entry in the ledger."""
    REFERENCE = "reference"
    """The Message-ID of an earlier mail of the conversation, which others may have seen."""
    SUBJECT = "subject"
    """The same subject, from the same person, not long after."""


@dataclass(frozen=True, slots=True)
class Placement:
    conversation: str
    why: str
    evidence: ThreadEvidence | None = None
    """None where the mail begins a conversation."""
    score: float = 0.0


async def placed(message: Message, threads: Threads) -> Message:
    """The mail in its conversation, under an id that no other person's mail has."""
    message = message.model_copy(update={"id": await _own_id(message, threads)})
    placement = await place(message, threads)
    headers = {**message.headers, HEADER: placement.why}
    return message.model_copy(update={"conversation": placement.conversation, "headers": headers})


async def place(message: Message, threads: Threads) -> Placement:
    refused = ""
    async for evidence, turn in _referred(message, threads):
        turns = await threads.conversation(turn.run.conversation, before=_EVER, limit=_MOST_TURNS)
        problem = _objection(message, turns, evidence)
        if problem is None:
            score = 1.0 if evidence is ThreadEvidence.TOKEN else 0.8
            return Placement(
                turn.run.conversation, f"joined: {evidence} ({score:.2f})", evidence, score
            )
        refused = refused or f"; not {turn.run.conversation}: {problem}"
    return await _by_subject(message, threads) or Placement(
        _fresh(message), f"new conversation{refused}"
    )


async def in_own_conversation(message: Message, store: Store) -> Message:
    """A message that names its conversation itself: in that one, or in one of its author's own.

    A conversation shows a run what was said in it, and lets it answer what was asked there. So
    whoever names somebody else's gets another one, the same each time.
    """
    turns = await store.conversation(message.conversation, before=_EVER)
    if all(turn.message.author == message.author for turn in turns):
        return message
    digest = sha256(f"{message.conversation}\0{message.author}".encode()).hexdigest()[:32]
    return message.changed(conversation=f"{message.conversation[:900]};{digest}")


def our_key(message_id: str) -> EffectKey | None:
    """The delivery that a Message-ID of ours names; whether there was one, the ledger knows."""
    match = _OURS.fullmatch(message_id.strip())
    return None if match is None else EffectKey(match[1], int(match[2]), int(match[3]))


def subject_key(subject: str) -> tuple[str, bool]:
    """A subject without `Re:` and tags, and whether it had `Re:`.

    It is empty for a forward and for a subject too short to tell conversations apart.
    """
    answers = False
    rest = subject[:500]
    while match := mail_phrases().reply_subject.match(rest):
        rest, answers = match[1], True
    if mail_phrases().forward_subject.match(rest) and not answers:
        return "", False
    key = fold(re.sub(r"\[[^\[\]]{0,60}\]", " ", rest))
    return (key, answers) if len(key) >= _SHORTEST_SUBJECT else ("", answers)


def _objection(
    message: Message, turns: Sequence[ConversationTurn], evidence: ThreadEvidence
) -> str | None:
    """Why a mail may not join; None when it may."""
    if not turns or any(turn.message.author != message.author for turn in turns):
        return "it is another person's, or this sender was not proven as its person was"
    if message.principal.kind is PrincipalKind.ANONYMOUS and evidence is not ThreadEvidence.TOKEN:
        return "nobody vouched for the sender, and it does not answer a mail of ours"
    return None


async def _referred(
    message: Message, threads: Threads
) -> AsyncIterator[tuple[ThreadEvidence, ConversationTurn]]:
    """Conversations that the mail's headers name: by our own mails first, then by the nearest."""
    headers = message.headers
    nearest = [
        *_ID.findall(headers.get("in-reply-to", "")),
        *reversed(_ID.findall(headers.get("references", ""))),
    ]
    named = list(dict.fromkeys(nearest))[:_MOST_REFERENCES]
    for message_id in named:
        key = our_key(message_id)
        if key is not None and (turn := await threads.reply_sent(key)) is not None:
            yield ThreadEvidence.TOKEN, turn
    for message_id in named:
        if our_key(message_id) is not None:
            continue
        turn = await threads.message_known(message.channel, message_id)
        if turn is not None:
            yield ThreadEvidence.REFERENCE, turn


async def _by_subject(message: Message, threads: Threads) -> Placement | None:
    """For a proven sender whose mail program lost the thread."""
    key, answers = subject_key(message.subject)
    if not key or message.principal.kind is not PrincipalKind.SENDER:
        return None
    best: Placement | None = None
    now = message.received_at.timestamp()
    for turn in await threads.messages_from(message.correspondent, since=now - _DAYS * 86400):
        earlier = turn.message
        if earlier.channel != message.channel or subject_key(earlier.subject)[0] != key:
            continue
        if _answers_at(earlier) != _answers_at(message):
            continue  # a contact form writes for many people under one subject
        score = _score(message, earlier, answers)
        if score < _ENOUGH or (best is not None and score <= best.score):
            continue
        turns = await threads.conversation(turn.run.conversation, before=_EVER, limit=_MOST_TURNS)
        if _objection(message, turns, ThreadEvidence.SUBJECT) is None:
            why = f"joined: {ThreadEvidence.SUBJECT} ({score:.2f})"
            best = Placement(turn.run.conversation, why, ThreadEvidence.SUBJECT, score)
    return best


def _answers_at(message: Message) -> set[str]:
    """Where a mail asks for answers; nothing where that is the sender."""
    return {plain(person.address) for person in reply_to(message)} - {plain(message.sender.address)}


def _score(message: Message, earlier: Message, answers: bool) -> float:
    """Half for the subject, the rest for the same recipients, for `Re:` and for being recent."""
    to = {person.address.lower() for person in (*message.recipients, *message.cc)}
    before = {person.address.lower() for person in (*earlier.recipients, *earlier.cc)}
    days = abs((message.received_at - earlier.received_at).total_seconds()) / 86400
    return 0.5 + 0.15 * bool(to & before) + 0.15 * answers + 0.2 * max(0.0, 1 - days / _DAYS)


async def _own_id(message: Message, threads: Threads) -> str:
    """The Message-ID, made different if another mail came under it before.

    So nobody can have somebody else's mail taken for a duplicate.
    """
    earlier = await threads.message_known(message.channel, message.id)
    if earlier is None or _identity(earlier.message) == _identity(message):
        return message.id
    return f"{message.id[:900]};{sha256(_identity(message).encode()).hexdigest()[:32]}"


def _identity(message: Message) -> str:
    """What two deliveries of one mail have in common; of an unproven one the words themselves."""
    person = message.author
    if message.principal.kind is PrincipalKind.SENDER:
        return person
    return f"{person}\0{message.subject}\0{message.body}"


def _fresh(message: Message) -> str:
    """An id that nobody can choose: not a Message-ID, which the sender makes up."""
    source = f"{message.channel}\0{message.id}\0{message.author}"
    return f"mail_{sha256(source.encode()).hexdigest()[:32]}"
