"""The words of mail programs in many languages, from `mail_phrases.toml`, ready to be looked up."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
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


class MailPhrases:
    """Each part is compiled when it is first looked up: most mails need few of them."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._table = table

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """Which header a label stands for; labels are folded."""
        return _header_by_label(self._labels)

    @cached_property
    def spelled(self) -> Mapping[str, tuple[str, ...]]:
        """The labels of a header as programs write them, the longest first."""
        return _longest_labels_first(self._labels)

    @cached_property
    def separator(self) -> re.Pattern[str]:
        return _between_dashes(self._words("separators"))

    @cached_property
    def original(self) -> re.Pattern[str]:
        return _between_dashes(self._words("original"))

    @cached_property
    def reply_above(self) -> re.Pattern[str]:
        """The line of a ticket system above which somebody should write."""
        return _after_marks(self._words("reply_above"))

    @cached_property
    def openings(self) -> frozenset[str]:
        return frozenset(map(fold, self._words("openings")))

    @cached_property
    def attributions(self) -> tuple[Any, ...]:
        return tuple(map(_template, self._words("attributions")))

    @cached_property
    def attribution_in(self) -> Mapping[str, str]:
        """How a mail program names who wrote, by language."""
        return {name: written[0] for name, written in self._table["attributions"].items()}

    @cached_property
    def wrote(self) -> re.Pattern[str]:
        return re.compile(rf"(?:\b|(?<=\W))(?:{_any_of(self._words('wrote'))})\W*$", re.I)

    @cached_property
    def wrote_amid(self) -> re.Pattern[str]:
        return re.compile(rf"\s(?:{_any_of(self._words('wrote_amid'))})\s", re.I)

    @cached_property
    def forward_subject(self) -> re.Pattern[str]:
        begins = _any_of(self._table["subjects"]["forward"])
        return re.compile(rf"\s*(?:{begins})\s?[:：]\s*(.*)", re.I | re.S)

    @cached_property
    def reply_subject(self) -> re.Pattern[str]:
        begins = _any_of(self._table["subjects"]["reply"])
        return re.compile(rf"\s*(?:{begins})(?:\[\d+\])?\s?[:：]\s*(.*)", re.I | re.S)

    @cached_property
    def away(self) -> tuple[str, ...]:
        return tuple(map(fold, self._table["subjects"]["away"]))

    @cached_property
    def signature(self) -> re.Pattern[str]:
        begins = _any_of(self._table["signatures"]["begins"])
        return re.compile(rf"\W{{0,3}}(?:{begins})", re.I)

    @cached_property
    def greeting(self) -> re.Pattern[str]:
        greets = _any_of(self._table["signatures"]["greets"])
        return re.compile(rf"(?:{greets})\s*[,.!]*\s*$", re.I)

    @cached_property
    def disclaimer(self) -> re.Pattern[str]:
        disclaims = _any_of(self._table["signatures"]["disclaims"])
        return re.compile(rf"\W{{0,3}}(?:{disclaims})", re.I)

    @cached_property
    def _labels(self) -> dict[str, list[str]]:
        return {header: _all(rows) for header, rows in self._table["labels"].items()}

    def _words(self, name: str) -> list[str]:
        return _all(self._table[name])


@cache
def mail_phrases() -> MailPhrases:
    """Read once, at the first mail."""
    return MailPhrases(
        tomllib.loads((files("deskhand.mail") / "mail_phrases.toml").read_text("utf-8"))
    )


def _header_by_label(labels: Mapping[str, list[str]]) -> dict[str, str]:
    return {fold(label): header for header, some in labels.items() for label in some}


def _longest_labels_first(labels: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {header: tuple(_longest_first(some)) for header, some in labels.items()}


def fold(text: str) -> str:
    """The text in lower case, with single spaces."""
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
