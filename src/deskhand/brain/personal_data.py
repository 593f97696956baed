"""Finding personal data in texts, and putting placeholders in its place that can be taken out
again."""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, count
from typing import Any

from deskhand.brain.message_block import language_in
from deskhand.brain.personal_names import (
    NAMES,
    capitalized_names,
    is_nobody,
    signature_in,
    without_titles,
)
from deskhand.brain.personal_numbers import NUMBERS
from deskhand.brain.sender_names import SenderNames
from deskhand.brain.word_lists import KnownValues

_MAIL = r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
_IBAN = r"(?<!\w)[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,3})?(?!\w)"
_ACCOUNT = r"(?<![\w-])(?:\d{1,6}-\d{2,10}|\d{6,10})/\d{4}(?!\w)"
_DIGITS = r"(?<![\w.])(?:\+|\(\+?)?\d(?:(?:[ .\-/\u00a0]|\)[ ]?|[ ]?\()?\d){%d,18}(?!\w)"
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("EMAIL", re.compile(_MAIL)),
    ("IBAN", re.compile(_IBAN)),
    ("ACCOUNT", re.compile(_ACCOUNT)),
    ("CARD", re.compile(_DIGITS % 12)),
    ("PHONE", re.compile(_DIGITS % 8)),
    ("PHONE", re.compile(r"(?<!\w)\+\d(?:[ .\-/\u00a0]?\d){6,}(?!\w)")),
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")
_ESCAPE = re.compile(r'\\(?:[nrtbf"\\/]|u[0-9a-fA-F]{4})')
_MARK = re.compile(r"\[[A-Z]+_((?:\d+x)?)\d+\]")
_AROUND_VALUES = ' ,.;:!?()"„“\n'
_SHORTEST_VALUE = 2


@dataclass(frozen=True, slots=True)
class RedactionRules:
    """What is hidden beside e-mail addresses, phone, account and card numbers."""

    patterns: tuple[tuple[str, Any], ...] = ()
    """Kind (`ORDER`) and compiled RE2 pattern."""
    own: tuple[str, ...] = ()
    """The desk's own words, as its signature and its addresses: never hidden."""


@dataclass(slots=True)
class Placeholders:
    """One request's hidden values: the same value has the same placeholder throughout."""

    rules: RedactionRules
    names: tuple[str, ...] = ()
    mark: str = ""
    """Put into every placeholder, so that none stands in the texts already."""
    values: dict[str, str] = field(default_factory=dict[str, str])
    """Placeholder to value."""
    _placeholders: dict[str, str] = field(default_factory=dict[str, str])
    _counts: Counter[str] = field(default_factory=Counter[str])
    _finders: tuple[tuple[str, Any], ...] = ()
    _escaped: frozenset[str] = frozenset()
    _sender: SenderNames = field(init=False)
    _learned: KnownValues = field(default_factory=KnownValues)
    """What texts were found to say of people."""

    def __post_init__(self) -> None:
        self._sender = SenderNames(self.names)
        self._finders = (*self.rules.patterns, *_PATTERNS)
        inside = {
            name: json.dumps(name, ensure_ascii=False)[1:-1] for name in self.names if name.strip()
        }
        self._escaped = frozenset(written for name, written in inside.items() if written != name)

    @classmethod
    def for_texts(
        cls, texts: Iterable[str], rules: RedactionRules, names: Iterable[str] = ()
    ) -> "Placeholders":
        """Placeholders that cannot be mistaken for anything in these texts."""
        used = set(_MARK.findall("\n".join(texts)))
        mark = next(mark for mark in _marks() if mark not in used)
        return cls(rules, tuple(names), mark)

    def learn(self, text: str) -> None:
        """Note what a customer's text says of people, to be hidden wherever it stands."""
        plain = _without_escapes(text)
        for kind, pattern in NUMBERS:
            for match in pattern.finditer(plain):
                self._learn(match[match.lastindex or 0], kind)
        for pattern in NAMES:
            for match in pattern.finditer(plain):
                self._learn_name(match[1])
        if (signature := signature_in(text)) is not None:
            self._learn_name(signature)
        for word in capitalized_names(plain, is_german=language_in(text) == "German"):
            self._learn_name(word)
        for word in self._sender.misspelt(plain):
            self._learn_name(word)

    def _learn_name(self, name: str) -> None:
        """Note a name and each of its words that is written like one."""
        name = without_titles(name)
        self._learn(name, "NAME")
        for word in re.findall(r"[^\W\d_]{4,}", name):
            if word[0].isupper():
                self._learn(word, "NAME")

    def _learn(self, value: str, kind: str) -> None:
        value = value.strip(_AROUND_VALUES)
        is_recent = kind != "DATE" and _DATE.fullmatch(value) is not None
        if len(value) < _SHORTEST_VALUE or is_recent or is_nobody(value) or self._is_own(value):
            return
        self._learned.add(value, kind)

    def _is_own(self, value: str) -> bool:
        """Whether this stands in the desk's own words, as its signature does."""
        return any(value in own for own in self.rules.own)

    def hide(self, text: str) -> str:
        pieces, end = [], 0
        for start, stop, kind in self._spans(text):
            pieces += [text[end:start], self._placeholder(kind, text[start:stop])]
            end = stop
        return "".join((*pieces, text[end:]))

    def restore(self, text: str, *, in_json: bool = False) -> str:
        """Put the values back; inside JSON they are escaped."""
        if not self.values or "[" not in text:
            return text

        def value_of(placeholder: re.Match[str]) -> str:
            value = self.values.get(placeholder[0], placeholder[0])
            as_is = not in_json or value in self._escaped
            return value if as_is else json.dumps(value, ensure_ascii=False)[1:-1]

        return re.sub(rf"\[[A-Z]+_{self.mark}\d+\]", value_of, text)

    def _placeholder(self, kind: str, value: str) -> str:
        if value not in self._placeholders:
            self._counts[kind] += 1
            self._placeholders[value] = f"[{kind}_{self.mark}{self._counts[kind]}]"
            self.values[self._placeholders[value]] = value
        return self._placeholders[value]

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        """What to hide, first to last; a stretch that two kinds claim is named by the earlier
        kind."""
        own = _OwnPlaces(self.rules.own, text)
        # The longest stretch at a place comes first; of equal ones the first that was found.
        claims = sorted(self._claims(text), key=lambda claim: (claim[0], -claim[1]))
        return list(_merged(claim for claim in claims if not own.hold(claim[0], claim[1])))

    def _claims(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Every stretch that some kind claims, the most certain kinds first."""
        for name in self._escaped:
            for match in re.finditer(re.escape(name), text):
                yield match.start(), match.end(), "NAME"
        plain = _without_escapes(text)
        for start, stop in self._sender.find(plain):
            yield start, stop, "NAME"
        for kind, pattern in self._finders:
            for match in pattern.finditer(plain):
                start, stop = match.span()
                if start < stop and not (kind in ("PHONE", "CARD") and _DATE.match(text, start)):
                    yield start, stop, kind
        yield from self._learned.find(plain)


class _OwnPlaces:
    """Where the desk's own words stand by themselves in a text."""

    def __init__(self, own: Iterable[str], text: str) -> None:
        places: list[tuple[int, int]] = []
        for words in own:
            pattern = rf"(?<![\w@.-]){re.escape(words)}(?![\w@-])"
            places += [match.span() for match in re.finditer(pattern, text)]
        places.sort()
        self._starts = [start for start, _ in places]
        self._reach = list(accumulate((stop for _, stop in places), max))
        """How far the places up to each one reach."""

    def hold(self, start: int, stop: int) -> bool:
        """Whether this stretch lies within one of the places."""
        before = bisect_right(self._starts, start)
        return before > 0 and self._reach[before - 1] >= stop


def _without_escapes(text: str) -> str:
    """The text with spaces for what JSON escapes, each letter in its place."""
    return _ESCAPE.sub(lambda escape: " " * len(escape[0]), text)


def _merged(spans: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Overlapping spans are hidden as one, under the kind of the first: nothing of either shows."""
    current: tuple[int, int, str] | None = None
    for start, stop, kind in spans:
        if current is not None and start < current[1]:
            current = (current[0], max(stop, current[1]), current[2])
            continue
        if current is not None:
            yield current
        current = (start, stop, kind)
    if current is not None:
        yield current


def _marks() -> Iterator[str]:
    yield ""
    yield from (f"{number}x" for number in count(1))


def texts_in(value: Any) -> Iterator[str]:
    """Every text of a message, wherever it stands."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)
