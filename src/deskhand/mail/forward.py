"""Forwarded mail: who wrote it first, to whom, when, about what."""

import re
from dataclasses import dataclass
from functools import lru_cache

from deskhand.mail.mail_phrases import ADDRESS, DATE, NAME, fold, mail_phrases, unmarked
from deskhand.mail.mailboxes import Mailbox, mailboxes
from deskhand.mail.quoted_headers import (
    HeaderBlock,
    bare,
    inline_block,
    label_of,
    read_block,
    unquoted,
)

_UNDERSCORES = re.compile(r"[\s>]*_{20,}\s*$")
_LONG_RULE = 8
"""Fewer dashes around `Original Message` are Outlook's, which writes them above answers as well."""
_LONGEST_LINE = 500
LONGEST = 300_000
_KEPT = 32
_MOST_ATTRIBUTIONS = 200
"""Lines that could be one and are looked at closely: nobody writes more above what he forwards."""


@dataclass(frozen=True, slots=True)
class Forwarded:
    """A mail inside a mail. What it says about people proves nothing: the forwarder wrote it."""

    from_: Mailbox
    to: tuple[Mailbox, ...]
    cc: tuple[Mailbox, ...]
    subject: str | None
    date: str | None
    body: str
    message: str | None
    """What the forwarder wrote above it."""


@lru_cache(maxsize=_KEPT)
def forwarded(text: str, subject: str | None = None) -> Forwarded | None:
    """The mail that this text forwards, or None.

    `subject` is the forwarding mail's own: some programs mark a forward nowhere else. Many stages
    ask this of one message, so the last answers are kept.
    """
    lines = plain_lines(text[:LONGEST])
    said = None if subject is None else mail_phrases().forward_subject.match(subject)
    answers = subject is not None and not said and bool(mail_phrases().reply_subject.match(subject))
    tries = _MOST_ATTRIBUTIONS
    for number, line in enumerate(lines):
        block = _separated(lines, number, line, answers)
        if block is None and said:
            tries -= "@" in line
            block = _unseparated(lines, number, line, attributed=tries >= 0)
        if block is not None:
            inner_subject = said[1].strip() if said else None
            return _forwarded(lines[:number], lines, block, inner_subject)
    return None


def plain_lines(text: str) -> list[str]:
    text = (
        text.replace("\r\n", "\n")
        .replace("\r", "\n")
        .replace("\ufeff", "")
        .replace("\N{NO-BREAK SPACE}", " ")
    )
    return text.replace("\u200e", "").replace("\u200f", "").split("\n")


def _separated(lines: list[str], number: int, line: str, answers: bool) -> HeaderBlock | None:
    """The block after a line that says that a forwarded mail follows."""
    phrases = mail_phrases()
    if separator := phrases.separator.match(line):
        if separator["rest"].strip():
            return _inline(number, separator["rest"])
    elif (original := phrases.original.match(line)) and not answers:
        if len(original["dashes"]) < _LONG_RULE:
            return None
    elif not (
        _is_opening(line)
        or (not answers and _UNDERSCORES.match(line) and _follows_from(lines, number + 1))
    ):
        return None
    block = read_block(lines, number + 1)
    return block if block.speaks_of_a_mail else None


def _is_opening(line: str) -> bool:
    text = bare(line)
    return (
        text.endswith((":", "："))
        and len(text) < 100
        and fold(text[:-1]) in mail_phrases().openings
    )


def _follows_from(lines: list[str], number: int) -> bool:
    label = label_of(lines[number]) if number < len(lines) else None
    return label is not None and label[0] == "from"


def _inline(number: int, rest: str) -> HeaderBlock | None:
    headers = inline_block(rest[: 20 * _LONGEST_LINE])
    block = HeaderBlock(number + 1, headers)
    return block if block.speaks_of_a_mail else None


def _unseparated(
    lines: list[str], number: int, line: str, *, attributed: bool
) -> HeaderBlock | None:
    """The block or attribution that nothing announces: for subjects that say `FW:` only."""
    if _follows_from(lines, number):
        block = read_block(lines, number)
        if block.speaks_of_a_mail and len(block.headers) >= 3:
            return block
    if attributed and (said := attribution(line)):
        return HeaderBlock(
            number + 1, {"from": f"{said[NAME]} <{said[ADDRESS]}>", "date": said[DATE]}
        )
    return None


def attribution(line: str) -> dict[str, str] | None:
    """Date, name and address of a line such as `On Monday, Ann <ann@example.com> wrote:`."""
    text = bare(line)
    if len(text) > _LONGEST_LINE or "@" not in text or not text.endswith((":", "：")):
        return None
    for template in mail_phrases().attributions:
        if match := template.match(text):
            return {
                DATE: match[DATE].strip(" ,"),
                NAME: unmarked(match[NAME].strip(" ,")),
                ADDRESS: match[ADDRESS],
            }
    return None


def _forwarded(
    above: list[str], lines: list[str], block: HeaderBlock, subject: str | None
) -> Forwarded:
    headers = block.headers
    senders = mailboxes(headers.get("from", ""))
    return Forwarded(
        from_=senders[0] if senders else Mailbox(None),
        to=mailboxes(headers.get("to", "")),
        cc=mailboxes(headers.get("cc", "")),
        subject=headers.get("subject") or subject,
        date=headers.get("date") or None,
        body=_body(lines[block.end :], quoted=block.quoted, indented="to" not in headers),
        message="\n".join(above).strip() or None,
    )


def _body(lines: list[str], *, quoted: bool, indented: bool) -> str:
    if quoted or all(line.lstrip().startswith(">") for line in lines if line.strip()):
        lines = [unquoted(line) for line in lines]
    if indented:
        lines = [line.removeprefix("    ") for line in lines]
    return "\n".join(line.rstrip() for line in lines).strip()
