"""Finding personal data in texts, and putting placeholders in its place that can be taken out
again."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

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
_WORDS_TOO = frozenset(
    ("art", "bill", "dean", "frank", "grace", "grant", "hope", "joy", "mark", "may", "rose", "will")
)
"""Names that are also words: hidden only where they are written with a capital."""


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

    def __post_init__(self) -> None:
        names = tuple(("NAME", pattern) for pattern in _name_patterns(self.names))
        self._finders = (*names, *self.rules.patterns, *_PATTERNS)
        inside = {
            name: json.dumps(name, ensure_ascii=False)[1:-1] for name in self.names if name.strip()
        }
        self._escaped = frozenset(written for name, written in inside.items() if written != name)

    @classmethod
    def for_texts(
        cls, texts: Iterable[str], rules: RedactionRules, names: Iterable[str] = ()
    ) -> "Placeholders":
        """Placeholders that cannot be mistaken for anything in these texts."""
        whole = "\n".join(texts)
        mark = next(mark for mark in _marks() if not re.search(rf"\[[A-Z]+_{mark}\d+\]", whole))
        return cls(rules, tuple(names), mark)

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
        taken = [
            (match.start(), -match.end(), 0)
            for name in self._escaped
            for match in re.finditer(re.escape(name), text)
        ]
        plain = _ESCAPE.sub(lambda escape: " " * len(escape[0]), text)
        for place, (kind, pattern) in enumerate(self._finders):
            for match in pattern.finditer(plain):
                start, stop = match.span()
                if start < stop and not (kind in ("PHONE", "CARD") and _DATE.match(text, start)):
                    taken.append((start, -stop, place))
        own = [place for words in self.rules.own for place in _places(words, text)]
        spans = [
            (start, -stop, self._finders[place][0])
            for start, stop, place in sorted(taken)
            if not _is_within(start, -stop, own)
        ]
        return list(_merged(spans))


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


def _places(words: str, text: str) -> list[tuple[int, int]]:
    """Where these words stand by themselves."""
    pattern = rf"(?<![\w@.-]){re.escape(words)}(?![\w@-])"
    return [match.span() for match in re.finditer(pattern, text)]


def _is_within(start: int, stop: int, places: Iterable[tuple[int, int]]) -> bool:
    return any(begin <= start and stop <= end for begin, end in places)


def _marks() -> Iterator[str]:
    yield ""
    yield from (f"{number}x" for number in count(1))


def _name_patterns(names: Iterable[str]) -> Iterator[re.Pattern[str]]:
    """The whole name in any case, then each of its words."""
    for name in sorted({" ".join(name.split()) for name in names}, key=len, reverse=True):
        if len(name) < 2:
            continue
        whole = r"\s+".join(map(re.escape, name.split()))
        yield re.compile(rf"(?<!\w){whole}(?!\w)", re.IGNORECASE)
        for word in dict.fromkeys(re.findall(r"[^\W\d_]{3,}", name if "@" not in name else "")):
            if word.casefold() in _WORDS_TOO:
                yield re.compile(rf"(?<!\w)(?:{word.capitalize()}|{word.upper()})(?!\w)")
            else:
                yield re.compile(rf"(?<!\w){word}(?!\w)", re.IGNORECASE)


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
