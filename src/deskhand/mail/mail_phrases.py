"""The words of mail programs in many languages, from `mail_phrases.toml`, ready to be looked up."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import re2

DATE, NAME, ADDRESS = "date", "name", "address"
_MOMENT = (
    r".*\d[\d:.]*"
    r"(?:\s*\b(?:[ap]\.?m\.?|[A-Z]{3,4}[+-]\d+|CES?T|EES?T|WES?T|GMT|UTC|[ECMP][SD]T)\b)?"
)
"""A date ends with its time and zone; a name holds no digit."""
_MARKS = "\"'„“”«»‚‘’"


@dataclass(frozen=True, slots=True)
class MailPhrases:
    labels: Mapping[str, str]
    """Which header a label stands for; labels are folded."""
    spelled: Mapping[str, tuple[str, ...]]
    """The labels of a header as programs write them, the longest first."""
    separator: re.Pattern[str]
    original: re.Pattern[str]
    reply_above: re.Pattern[str]
    """The line of a ticket system above which somebody should write."""
    openings: frozenset[str]
    attributions: tuple[Any, ...]
    attribution_in: Mapping[str, str]
    """How a mail program names who wrote, by language."""
    wrote: re.Pattern[str]
    wrote_amid: re.Pattern[str]
    forward_subject: re.Pattern[str]
    reply_subject: re.Pattern[str]
    away: tuple[str, ...]
    signature: re.Pattern[str]
    greeting: re.Pattern[str]
    disclaimer: re.Pattern[str]


@cache
def mail_phrases() -> MailPhrases:
    """Read and compiled once, at the first mail."""
    table = tomllib.loads((files("deskhand.mail") / "mail_phrases.toml").read_text("utf-8"))
    labels = {header: _all(rows) for header, rows in table["labels"].items()}
    signatures = table["signatures"]
    subjects = table["subjects"]
    return MailPhrases(
        labels=_header_by_label(labels),
        spelled=_longest_labels_first(labels),
        separator=_between_dashes(_all(table["separators"])),
        original=_between_dashes(_all(table["original"])),
        reply_above=_after_marks(_all(table["reply_above"])),
        openings=frozenset(map(fold, _all(table["openings"]))),
        attributions=tuple(map(_template, _all(table["attributions"]))),
        attribution_in={name: written[0] for name, written in table["attributions"].items()},
        wrote=re.compile(rf"(?:\b|(?<=\W))(?:{_any_of(_all(table['wrote']))})\W*$", re.I),
        wrote_amid=re.compile(rf"\s(?:{_any_of(_all(table['wrote_amid']))})\s", re.I),
        forward_subject=re.compile(
            rf"\s*(?:{_any_of(subjects['forward'])})\s?[:：]\s*(.*)", re.I | re.S
        ),
        reply_subject=re.compile(
            rf"\s*(?:{_any_of(subjects['reply'])})(?:\[\d+\])?\s?[:：]\s*(.*)", re.I | re.S
        ),
        away=tuple(map(fold, subjects["away"])),
        signature=re.compile(rf"\W{{0,3}}(?:{_any_of(signatures['begins'])})", re.I),
        greeting=re.compile(rf"(?:{_any_of(signatures['greets'])})\s*[,.!]*\s*$", re.I),
        disclaimer=re.compile(rf"\W{{0,3}}(?:{_any_of(signatures['disclaims'])})", re.I),
    )


def _header_by_label(labels: Mapping[str, list[str]]) -> dict[str, str]:
    return {fold(label): header for header, some in labels.items() for label in some}


def _longest_labels_first(labels: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {header: tuple(_longest_first(some)) for header, some in labels.items()}


def fold(text: str) -> str:
    """In lower case, with single spaces."""
    return " ".join(text.casefold().split())


def unmarked(name: str) -> str:
    """A name without the quotation marks around it."""
    return name.strip().strip(_MARKS).strip()


def _all(rows: Mapping[str, list[str]]) -> list[str]:
    return [word for words_of_language in rows.values() for word in words_of_language]


def _longest_first(many: Iterable[str]) -> list[str]:
    return sorted(dict.fromkeys(many), key=len, reverse=True)


def _any_of(many: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in _longest_first(many))


def _between_dashes(many: Iterable[str]) -> re.Pattern[str]:
    return re.compile(
        rf"[\s>]*+(?P<dashes>-{{2,}}+)\s*+(?:{_any_of(many)})\s*+-{{2,}}+\s*(?P<rest>.*)$", re.I
    )


def _after_marks(many: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"[\s>]*+[#=*_-]{{2,}}+\s*+(?:{_any_of(many)})", re.I)


def _template(written: str) -> Any:
    """A template such as `On {date}, {name} <{address}> wrote:` as a pattern.

    It is RE2's, which takes linear time: whoever writes the mail chooses the text.
    """
    pattern = re.escape(written).replace(r"\ ", r"\s+").replace(":", r"\s?:")
    pattern = pattern.replace(r"\{date\}", rf"(?P<{DATE}>{_MOMENT})").replace(
        r"\{name\}", rf"(?P<{NAME}>\D+?)"
    )
    address = (
        r"(?:\(\s*<|[<\[(])\s*(?:mailto:)?"
        rf"(?P<{ADDRESS}>[^\s<>()\[\]]+@[^\s<>()\[\]]+)"
        r"\s*(?:>\s*\)|[>\])])"
    )
    pattern = pattern.replace(r"\s+<\{address\}>", rf"\s*{address}").replace(
        r"<\{address\}>", address
    )
    return re2.compile(rf"(?i)^\s*{pattern}\s*$")
