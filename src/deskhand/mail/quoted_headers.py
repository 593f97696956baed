"""The headers of an earlier mail as programs copy them into the text of the next one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from deskhand.mail.mail_phrases import fold, mail_phrases

PEOPLE = ("from", "to", "cc", "reply_to")
_QUOTE = re.compile(r"^\s{0,3}>[ \t]?")
_QUOTES = re.compile(r"^[\s>]*")
_LABEL_LENGTH = 30
_FURTHEST = 25
"""No program writes more lines of headers."""
_BEFORE = {
    "from": r"(?:^|(?<=\s))",
    "to": r"(?:(?<=>)|(?<=\s))",
    "cc": r"(?<=>)",
    "date": r"(?:(?<=>)|(?<=\s))",
}
"""What stands before a label within a line; a copy's follows a recipient's bracket, or it is a
word of the subject."""


@dataclass(slots=True)
class HeaderBlock:
    """Headers found in a text, by what they are called in English, and the line after the last
    of them."""

    end: int
    headers: dict[str, str] = field(default_factory=dict)
    quoted: bool = False

    @property
    def speaks_of_a_mail(self) -> bool:
        return "from" in self.headers and len(self.headers) >= 2


def unquoted(line: str) -> str:
    """A line one level of `>` further out."""
    return _QUOTE.sub("", line, count=1)


def bare(line: str) -> str:
    return _QUOTES.sub("", line, count=1).strip()


def label_of(line: str) -> tuple[str, str] | None:
    """Which header a line holds, and its value."""
    text = bare(line).lstrip("*_ ")
    at = min(
        (
            place
            for mark in ":："
            if 0 < (place := text.find(mark, 0, _LABEL_LENGTH)) <= _LABEL_LENGTH
        ),
        default=-1,
    )
    if at < 0:
        return None
    header = mail_phrases().labels.get(fold(text[:at].strip("* _")))
    if header is None:
        return None
    return header, text[at + 1 :].strip().lstrip("*").strip()


def read_block(lines: Sequence[str], start: int) -> HeaderBlock:
    """The block that begins at a line, or after up to three blank lines.

    It ends before a blank line and before what is no header.
    """
    at = start
    while at < len(lines) and at < start + 4 and not bare(lines[at]):
        at += 1
    block = HeaderBlock(at)
    current: str | None = None
    for number in range(at, min(len(lines), at + _FURTHEST)):
        text = bare(lines[number])
        label = label_of(lines[number]) if text else None
        if label and label[0] not in block.headers:
            current = label[0]
            block.headers[current] = label[1]
            block.quoted = block.quoted or lines[number].lstrip().startswith(">")
        elif (
            not text
            or current is None
            or label
            or not _goes_on(block.headers[current], current, lines, number)
        ):
            break
        else:
            block.headers[current] = f"{block.headers[current]} {text}".strip()
        block.end = number + 1
    return block


def _goes_on(value: str, header: str, lines: Sequence[str], number: int) -> bool:
    """Whether a line without a label belongs to the header above it."""
    if not value:
        return header != "cc" or "@" in lines[number]
    if header in PEOPLE and (
        value.endswith((",", ";", "<")) or "@" not in value or bare(lines[number]).startswith("<")
    ):
        return "@" in lines[number]
    following = lines[number + 1] if number + 1 < len(lines) else ""
    return label_of(following) is not None and len(bare(lines[number])) < 200


def inline_block(line: str) -> dict[str, str]:
    """Headers that stand in one line without a break between them, as Yahoo writes them."""
    starts: list[tuple[str, int, int]] = []
    at = 0
    for header in ("from", "to", "cc", "date", "subject"):
        names = "|".join(map(re.escape, mail_phrases().spelled[header]))
        before = _BEFORE.get(header, "")
        match = re.compile(rf"{before}(?:{names})\s?[:：]").search(line, at)
        if match is None and header in ("cc", "subject"):
            match = re.compile(rf"{before}(?:{names})(?=\s)").search(line, at)
        if match is not None:
            starts.append((header, match.start(), match.end()))
            at = match.end()
    ends = [start for _, start, _ in starts[1:]] + [len(line)]
    return {
        header: line[begin:end].strip()
        for (header, _, begin), end in zip(starts, ends, strict=True)
    }
