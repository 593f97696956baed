"""Where brains find things in a task: the message, its sender, what earlier stages gave."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from deskhand.language.clean_text import has_words
from deskhand.language.identify import Language, identify
from deskhand.mail.forward import forwarded
from deskhand.mail.mail_phrases import mail_phrases
from deskhand.mail.reply import visible_reply
from deskhand.model.message import CHAT, HANDED_BACK
from deskhand.model.tasks import Task
from deskhand.model.understanding import Understanding

Fields = dict[str, Any]

_CLEAR = 0.8
"""How clear a text's language must be to change the language of a conversation."""
_NEAR = {"sk": "cs", "cs": "sk"}
"""Languages whose speakers read each other's, and that a few words hardly tell apart."""
_LONGEST_SUBJECT = 120
_PASSED_ON = re.compile(
    r"\W*(?:re|aw|antw|odp|sv|rép|fwd?|wg|tr|rv|přep|pd)(?:\[[0-9]{1,3}\])? ?:", re.IGNORECASE
)
"""How the subject of an answer, or of a mail that is passed on, begins."""
_FEW_WORDS = 4
"""A body shorter than this says little without its subject."""


def understanding_of(task: Task) -> Understanding:
    """What earlier stages have found out about the message."""
    outputs = task.inputs.get("outputs")
    return Understanding(cast(Fields, outputs) if isinstance(outputs, dict) else {})


def newest(task: Task, field: str) -> Any:
    """The newest value of `field` that is not None; the task's own comes before earlier stages'."""
    own = task.inputs.get(field)
    return own if own is not None else understanding_of(task).newest(field)


def message_of(task: Task) -> Fields:
    message = task.inputs.get("message")
    return cast(Fields, message) if isinstance(message, dict) else {}


def sender_name(task: Task) -> str:
    """The customer's, where a preprocessor found it behind a helpdesk's; empty where nobody has
    proven who wrote."""
    prepared = message_of(task).get("prepared")
    if isinstance(prepared, dict) and prepared.get("name"):
        return str(prepared["name"])
    sender = message_of(task).get("sender")
    return str(sender.get("name") or "") if isinstance(sender, dict) else ""


def received_at(task: Task) -> datetime:
    try:
        moment = datetime.fromisoformat(str(message_of(task).get("received_at")))
    except ValueError:
        return datetime.now(UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def said_in(task: Task) -> str:
    """The sender's own words; of a mail that passes another on, those of both; the whole where
    nothing else is left."""
    subject = str(message_of(task).get("subject") or "")
    own = own_words(task.text, subject)
    if forwarded(task.text, subject) is None and (attached := _attached_mail(task)):
        own = f"{own}\n{attached}".strip()
    return own or task.text


def own_words(text: str, subject: str) -> str:
    """What a mail says without what it quotes; of one that passes another on, the words of
    both."""
    own = visible_reply(text)
    passed_on = forwarded(text, subject)
    return own if passed_on is None else f"{own}\n{visible_reply(passed_on.body)}".strip()


def own_subject(task: Task) -> str:
    """The subject, where the sender wrote it for this message; that of an answer or of a mail that
    is passed on is an earlier message's."""
    subject = " ".join(str(message_of(task).get("subject") or "").split())[:_LONGEST_SUBJECT]
    return subject if has_words(subject) and not _PASSED_ON.match(subject) else ""


def wording_of(task: Task) -> str:
    """The words by which the sender's language is known: the subject where there are no others."""
    said = said_in(task)
    return said if has_words(said) else with_subject(task, said)


def _attached_mail(task: Task) -> str:
    """The words of a mail that is passed on as an attachment, where the subject says that it is
    passed on."""
    if not mail_phrases().forward_subject.match(str(message_of(task).get("subject") or "")):
        return ""
    attachments = message_of(task).get("attachments")
    for attachment in attachments if isinstance(attachments, list) else ():
        if not isinstance(attachment, Mapping) or attachment.get("type") != "message/rfc822":
            continue
        if attachment.get("text"):
            return visible_reply(str(attachment["text"]).partition("\n\n")[2])
    return ""


def with_subject(task: Task, text: str | None = None) -> str:
    """The text below its subject; all of the task's where no other is given."""
    text = task.text if text is None else text
    subject = str(message_of(task).get("subject") or "").strip()
    return f"{subject}\n{text}" if subject and subject not in text else text


def question_of(task: Task) -> str:
    """What the message asks: its body, with the subject where the body alone says little."""
    text = said_in(task)
    return text if len(text.split(maxsplit=_FEW_WORDS)) >= _FEW_WORDS else with_subject(task, text)


def in_chat(task: Task) -> bool:
    """Whether the message came in a chat, where nobody writes letters, or from a program that
    writes the letter itself."""
    return message_of(task).get("channel") in (CHAT, HANDED_BACK)


def conversation_language(task: Task, text: str, desk: Sequence[str]) -> str | None:
    """The text's language; of a text that hardly has one, as an order number, the language that
    was spoken before."""
    own = tuple(code.partition("-")[0] for code in desk)
    spoken = understanding_of(task).language or _spoken_before(task, own)
    if spoken in own and written_language(text) not in own:
        return spoken
    return language_of(text, desk).code


def written_language(text: str) -> str | None:
    """The language that a text is surely written in."""
    written = identify(text)
    return written.code if written.confidence >= _CLEAR else None


def _spoken_before(task: Task, own: tuple[str, ...]) -> str | None:
    """Which of the desk's languages the customer wrote in before, where that is clear."""
    before = str(task.inputs.get("said_before") or "")
    if not has_words(before):
        return None
    language = identify(before, own)
    return language.code if language.confidence >= _CLEAR else None


def language_of(text: str, desk: Sequence[str]) -> Language:
    """The text's language; where that is unclear, the likeliest of the desk's own."""
    language = identify(text)
    own = tuple(code.partition("-")[0] for code in desk)
    near = _NEAR.get(language.code or "")
    if near in own and language.code not in own:
        return Language(near, language.confidence)
    if language.code is not None and language.confidence >= 0.5:
        return language
    narrowed = identify(text, own)
    if narrowed.code is None:
        return language
    return Language(narrowed.code, language.confidence)
