"""Mail that no person sent: auto-replies, bounces, lists, reports and our own.

Answering such mail is how loops start.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from deskhand.mail.mail_phrases import fold, mail_phrases
from deskhand.mail.reply_to import is_daemon, is_nobody, person_behind, plain
from deskhand.model.message import Message
from deskhand.model.principal import PrincipalKind

MARK = "X-Deskhand"
_ID = re.compile(r"<[^<>\s]{3,990}>")
_SUPPRESS = {"all", "oof", "autoreply", "ndr"}
"""Values of X-Auto-Response-Suppress that ask us not to answer."""
_AUTO_REPLY_HEADERS = (
    "x-autoreply",
    "x-autorespond",
    "x-autoresponder",
    "x-autoreply-from",
    "x-auto-reply-from",
    "x-mail-autoreply",
    "x-vacation",
    "auto-reply",
    "x-fc-machinegenerated",
)
_LIST_HEADERS = (
    "list-id",
    "list-post",
    "list-unsubscribe",
    "mailing-list",
    "x-mailing-list",
    "feedback-id",
)


class AutomaticKind(StrEnum):
    OWN = "own"
    BOUNCE = "bounce"
    REPORT = "report"
    """A receipt, or a feedback report of a mailbox provider."""
    AUTO_REPLY = "auto_reply"
    LIST = "list"
    SUPPRESSED = "suppressed"
    """The sender asks programs not to answer, or nobody reads what is answered."""


@dataclass(frozen=True, slots=True)
class Automatic:
    """Why a mail is taken for a program's."""

    kind: AutomaticKind
    reason: str
    certain: bool = True
    """False where a person may have written just that: then a person looks at the mail."""
    passes_words_on: bool = False
    """Whether contact forms and helpdesks have this sign as well, which pass on what somebody
    wrote."""


@dataclass(frozen=True, slots=True)
class Bounce:
    """A report that a mail could not be delivered, or is late."""

    message_ids: tuple[str, ...]
    """Message-IDs of the mails it speaks of: which of them are ours, the ledger knows."""
    recipients: tuple[str, ...]
    failed: bool
    """False for a warning that the server still tries."""
    reason: str


def own_marks(run_id: str, *, by_person: bool = False) -> dict[str, str]:
    """Headers by which others, and we, know that a program sent our mail (RFC 3834).

    What a person approved or edited is a person's mail: others must not drop it as a program's.
    """
    if by_person:
        return {MARK: run_id}
    return {"Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All", MARK: run_id}


def automatic(
    message: Message, own_addresses: Collection[str] = (), forwarders: Collection[str] = ()
) -> Automatic | None:
    """Why a program sent this mail; None for what a person wrote.

    Mail from a trusted forwarder counts as written by a person, whatever machine passed it on. So
    does a contact form's, whose Reply-To names somebody else. So does what only says that it is
    from one of the `forwarders`: a customer may have written it, and a person finds out who.
    """
    if message.principal.kind is PrincipalKind.FORWARDED:
        return None
    signs = _signs(message, own_addresses)
    is_helpdesk = plain(message.sender.address) in map(plain, forwarders)
    if is_helpdesk or person_behind(message, own_addresses) is not None:
        signs = (sign for sign in signs if not sign.passes_words_on)
    return next(signs, None)


def passed_on(message: Message, own_addresses: Collection[str] = ()) -> str | None:
    """Whom a program names as the writer of a mail, in Reply-To; None where no program sent it.

    It proves nothing: whoever fills in a contact form writes what he likes.
    """
    person = person_behind(message, own_addresses)
    if person is None or next(_signs(message, own_addresses), None) is None:
        return None
    return person.address


def _signs(message: Message, own_addresses: Collection[str]) -> Iterator[Automatic]:
    """All signs that a program sent a mail, the weightiest first."""
    headers = message.headers
    yield from _own(message, own_addresses)
    yield from _report(message)
    yield from _auto_reply(headers)
    yield from _list(headers)
    yield from _suppressed(message)
    yield from _away(message.subject)


def _own(message: Message, own_addresses: Collection[str]) -> Iterator[Automatic]:
    if MARK.lower() in message.headers:
        yield Automatic(AutomaticKind.OWN, f"it carries our mark {MARK}")
    sender = plain(message.sender.address)
    if sender in map(plain, own_addresses):
        words = f"it comes from {sender}, which is this desk's own address"
        yield Automatic(AutomaticKind.OWN, words, passes_words_on=True)


def _report(message: Message) -> Iterator[Automatic]:
    headers = message.headers
    kind = headers.get("content-type", "").lower()
    if kind.startswith("multipart/report"):
        if "delivery-status" in kind:
            yield Automatic(AutomaticKind.BOUNCE, "it is a delivery report (multipart/report)")
        else:
            yield Automatic(AutomaticKind.REPORT, "it is a report (multipart/report)")
    if _attached(message, "message/delivery-status"):
        yield Automatic(AutomaticKind.BOUNCE, "it has a delivery report in it")
    if "x-failed-recipients" in headers or is_daemon(message.sender.address):
        yield Automatic(AutomaticKind.BOUNCE, f"it comes from {message.sender.address}")
    if headers.get("return-path", "").replace(" ", "") == "<>":
        words = "its Return-Path is empty: nothing may be sent back"
        yield Automatic(AutomaticKind.BOUNCE, words)


def _auto_reply(headers: dict[str, str]) -> Iterator[Automatic]:
    submitted = headers.get("auto-submitted", "").partition(";")[0].strip().lower()
    if submitted and submitted != "no":
        words = f"Auto-Submitted is {submitted}"
        generated = submitted == "auto-generated"  # an answer is `auto-replied`
        yield Automatic(AutomaticKind.AUTO_REPLY, words, passes_words_on=generated)
    for name in _AUTO_REPLY_HEADERS:
        if headers.get(name, "").strip().lower() not in ("", "no", "false"):
            yield Automatic(AutomaticKind.AUTO_REPLY, f"it has the header {name.title()}")
    if headers.get("precedence", "").strip().lower() == "auto_reply":
        yield Automatic(AutomaticKind.AUTO_REPLY, "Precedence is auto_reply")


def _list(headers: dict[str, str]) -> Iterator[Automatic]:
    for name in _LIST_HEADERS:
        if headers.get(name, "").strip():
            # services that send mail for others write Feedback-ID into all of it
            words, of_forms = f"it has the header {name.title()}", name == "feedback-id"
            yield Automatic(AutomaticKind.LIST, words, passes_words_on=of_forms)
    precedence = headers.get("precedence", "").strip().lower()
    if precedence in ("list", "bulk", "junk"):
        of_forms = precedence != "list"
        words = f"Precedence is {precedence}"
        yield Automatic(AutomaticKind.LIST, words, passes_words_on=of_forms)


def _suppressed(message: Message) -> Iterator[Automatic]:
    asked = {
        word.strip().lower()
        for word in message.headers.get("x-auto-response-suppress", "").split(",")
    }
    if asked & _SUPPRESS:
        words = "X-Auto-Response-Suppress asks programs not to answer"
        yield Automatic(AutomaticKind.SUPPRESSED, words, passes_words_on=True)
    if is_nobody(message.sender.address):
        words = f"nobody reads {message.sender.address}"
        yield Automatic(AutomaticKind.SUPPRESSED, words, passes_words_on=True)


def _away(subject: str) -> Iterator[Automatic]:
    said = fold(subject)
    if _says_away().search(said) is None:
        return
    for word in mail_phrases().away:
        if said.startswith(word) or f": {word}" in said:
            words = f"its subject says {word!r}"
            yield Automatic(AutomaticKind.AUTO_REPLY, words, certain=False)


@cache
def _says_away() -> re.Pattern[str]:
    """Finds any of the words at once: hardly a subject has one of them."""
    words = "|".join(map(re.escape, mail_phrases().away))
    return re.compile(rf"(?:\A|: )(?:{words})")


# --- bounces


def bounce(message: Message) -> Bounce | None:
    """What a delivery report says: whom the mail did not reach, why, and which mail it was."""
    verdict = automatic(message)
    if verdict is None or verdict.kind is not AutomaticKind.BOUNCE:
        return None
    reports = "\n\n".join(_attached(message, "message/delivery-status"))
    originals = _attached(message, "message/rfc822", "text/rfc822-headers")

    fields = [_fields(group) for group in re.split(r"\n\s*\n", reports)]
    groups = [group for group in fields if "action" in group or "final-recipient" in group]
    failed = [group for group in groups if group.get("action", "failed").lower() == "failed"]

    recipients = [_recipient(group) for group in failed or groups]
    reasons = [_why(group) for group in failed or groups]
    listed = map(str.strip, message.headers.get("x-failed-recipients", "").split(","))
    return Bounce(
        message_ids=_original_ids(message, originals),
        recipients=_distinct(recipients) or tuple(filter(None, listed)),
        failed=bool(failed) or not groups,
        reason=next(filter(None, reasons), verdict.reason)[:500],
    )


def _attached(message: Message, *types: str) -> list[str]:
    """The texts of the attachments of these types."""
    return [file.text or "" for file in message.attachments if file.type in types]


def _distinct(texts: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, texts)))


def _fields(text: str) -> dict[str, str]:
    """Header fields by name in lower case; of several with one name the first."""
    fields: dict[str, str] = {}
    last = ""
    for line in text.split("\n"):
        if line[:1] in " \t" and last:
            fields[last] += f" {line.strip()}"
        elif ":" in line:
            name, _, value = line.partition(":")
            last = name.strip().lower()
            fields.setdefault(last, value.strip())
    return fields


def _recipient(group: dict[str, str]) -> str:
    written = group.get("final-recipient") or group.get("original-recipient", "")
    return written.rpartition(";")[2].strip().strip("<>")


def _why(group: dict[str, str]) -> str:
    code = group.get("diagnostic-code", "")
    diagnosis = code.partition(";")[2].strip() or code
    return " ".join(filter(None, (group.get("status", ""), diagnosis)))


def _original_ids(message: Message, originals: list[str]) -> tuple[str, ...]:
    """The bounced mail's own id; where no copy of it came back, what the report says it answers."""
    own = [_fields(text.partition("\n\n")[0]).get("message-id", "") for text in originals]
    ids = _ID.findall(" ".join(own))
    if not ids:
        headers = message.headers
        ids = _ID.findall(f"{headers.get('in-reply-to', '')} {headers.get('references', '')}")
    if not ids:
        ids = re.findall(r"(?im)^\s*message-id:\s*(<[^<>\s]{3,990}>)", message.body)
    return tuple(dict.fromkeys(ids))
