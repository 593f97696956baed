"""Mail that no person sent: auto-replies, bounces, lists, reports and our own.

Answering such mail is how loops start.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from deskhand.mail.mail_phrases import fold, mail_phrases
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
_DAEMONS = ("mailer-daemon", "postmaster", "mail-daemon", "mailerdaemon", "bounce", "bounces")
_NOBODY = re.compile(r"^(?:do[-_.]?not[-_.]?reply|no[-_.]?reply|noreply|donotreply)(?:[-+_.].*)?$")


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


@dataclass(frozen=True, slots=True)
class Bounce:
    """A report that a mail could not be delivered, or is late."""

    message_ids: tuple[str, ...]
    """Message-IDs of the mails it speaks of: which of them are ours, the ledger knows."""
    recipients: tuple[str, ...]
    failed: bool
    """False for a warning that the server still tries."""
    reason: str


def own_marks(run_id: str) -> dict[str, str]:
    """Headers by which others, and we, know that a program sent our mail (RFC 3834)."""
    return {"Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All", MARK: run_id}


def automatic(message: Message, own_addresses: Collection[str] = ()) -> Automatic | None:
    """Why a program sent this mail; None for what a person wrote.

    Mail from a trusted forwarder counts as written by a person, whatever machine passed it on.
    """
    if message.principal.kind is PrincipalKind.FORWARDED:
        return None
    headers = message.headers
    return (
        _own(message, own_addresses)
        or _report(message)
        or _auto_reply(headers)
        or _list(headers)
        or _suppressed(message)
        or _away(message.subject)
    )


def _own(message: Message, own_addresses: Collection[str]) -> Automatic | None:
    if MARK.lower() in message.headers:
        return Automatic(AutomaticKind.OWN, f"it carries our mark {MARK}")
    sender = message.sender.address.strip().lower()
    if sender in {address.strip().lower() for address in own_addresses}:
        return Automatic(
            AutomaticKind.OWN, f"it comes from {sender}, which is this desk's own address"
        )
    return None


def _report(message: Message) -> Automatic | None:
    headers = message.headers
    kind = headers.get("content-type", "").lower()
    if kind.startswith("multipart/report"):
        if "delivery-status" in kind:
            return Automatic(AutomaticKind.BOUNCE, "it is a delivery report (multipart/report)")
        return Automatic(AutomaticKind.REPORT, "it is a report (multipart/report)")
    if _attached(message, "message/delivery-status"):
        return Automatic(AutomaticKind.BOUNCE, "it has a delivery report in it")
    name = message.sender.address.partition("@")[0].lower()
    if "x-failed-recipients" in headers or name in _DAEMONS:
        return Automatic(AutomaticKind.BOUNCE, f"it comes from {message.sender.address}")
    if headers.get("return-path", "").replace(" ", "") == "<>":
        return Automatic(AutomaticKind.BOUNCE, "its Return-Path is empty: nothing may be sent back")
    return None


def _auto_reply(headers: dict[str, str]) -> Automatic | None:
    submitted = headers.get("auto-submitted", "").partition(";")[0].strip().lower()
    if submitted and submitted != "no":
        return Automatic(AutomaticKind.AUTO_REPLY, f"Auto-Submitted is {submitted}")
    for name in _AUTO_REPLY_HEADERS:
        if headers.get(name, "").strip().lower() not in ("", "no", "false"):
            return Automatic(AutomaticKind.AUTO_REPLY, f"it has the header {name.title()}")
    if headers.get("precedence", "").strip().lower() == "auto_reply":
        return Automatic(AutomaticKind.AUTO_REPLY, "Precedence is auto_reply")
    return None


def _list(headers: dict[str, str]) -> Automatic | None:
    for name in _LIST_HEADERS:
        if headers.get(name, "").strip():
            return Automatic(AutomaticKind.LIST, f"it has the header {name.title()}")
    precedence = headers.get("precedence", "").strip().lower()
    if precedence in ("list", "bulk", "junk"):
        return Automatic(AutomaticKind.LIST, f"Precedence is {precedence}")
    return None


def _suppressed(message: Message) -> Automatic | None:
    asked = {
        word.strip().lower()
        for word in message.headers.get("x-auto-response-suppress", "").split(",")
    }
    if asked & _SUPPRESS:
        return Automatic(
            AutomaticKind.SUPPRESSED, "X-Auto-Response-Suppress asks programs not to answer"
        )
    if _NOBODY.match(message.sender.address.partition("@")[0].lower()):
        return Automatic(AutomaticKind.SUPPRESSED, f"nobody reads {message.sender.address}")
    return None


def _away(subject: str) -> Automatic | None:
    said = fold(subject)
    for word in mail_phrases().away:
        if said.startswith(word) or f": {word}" in said:
            return Automatic(AutomaticKind.AUTO_REPLY, f"its subject says {word!r}", certain=False)
    return None


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
