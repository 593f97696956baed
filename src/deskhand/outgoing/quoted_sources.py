"""What stands behind a reply: sentences of the articles it quotes, records of what tools found.

A quote is verified word for word against the source it names. It then stands for the sentences it
is taken from, with their headings; a made-up quote stands for nothing.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from deskhand.language.identify import identify
from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import meanings_of, words_of
from deskhand.outgoing.content_words import Word, carries_meaning, tokens, words_in
from deskhand.outgoing.polarity import is_negative
from deskhand.outgoing.sentences import clauses_of, conjuncts_of, sentences
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import Value

_LEFT_OUT = re.compile(r"\[?(?:\.\.\.|…)\]?")
_WRAPPED = re.compile(r"(?<=\S)[ \t]*\n(?![ \t]*(?:\n|[-*#>|]|[0-9]+[.)]))[ \t]*")
_FEWEST = 2
"""Words of a quote: one word alone quotes nothing."""
_PROSE = 6
"""Words from which a text in a result is read as sentences."""
HANDED_IN = 4
"""Words from which a text that a run gives to a tool is known again in what tools hand back."""
_LISTED = re.compile(r"[,;] | (?:and|a|und|y|et|i) (?=[^\W\d_])")
_DEEPEST = 6


class SourceText(NamedTuple):
    """An article that a run was given, or a part of one."""

    id: str
    text: str
    title: str = ""


class ToolSource(NamedTuple):
    """What a tool of the run found."""

    id: str
    data: Any
    arguments: Mapping[str, Any] = {}
    changed: bool = False
    """Whether the tool did something."""
    handed_in: tuple[str, ...] = ()
    """Texts that the run gave to its tools: where one comes back, it says nothing."""
    is_own_text: bool = False
    """Whether a stage of the desk wrote it for the customer, so that no outsider's words are
    in it."""


class Quote(NamedTuple):
    """What a reply's writer says that it rests on."""

    id: str
    quote: str


@dataclass(frozen=True)
class Clause:
    text: str
    words: tuple[str, ...]
    """Those that carry a meaning, without those of its values."""
    values: tuple[Value, ...]
    negative: bool


@dataclass(frozen=True)
class Passage:
    """A sentence of a source, or one record of a result."""

    source: str
    text: str
    clauses: tuple[Clause, ...]
    context: tuple[str, ...] = ()
    """Words of its title, and of the sentence before it where it only goes on about that."""
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """A record's own fields and those of what holds it; empty for a sentence."""

    @property
    def is_record(self) -> bool:
        return bool(self.fields)

    @cached_property
    def values(self) -> list[Value]:
        return [value for clause in self.clauses for value in clause.values]

    @cached_property
    def words(self) -> list[str]:
        return [word for clause in self.clauses for word in clause.words]


class Verified(NamedTuple):
    passages: list[Passage]
    """What the verified quotes stand for."""
    others: list[Passage]
    """All sentences of the sources that are quoted: what speaks against a claim may stand there."""
    made_up: list[Quote]
    """Quotes that stand in no source."""


def verified_quotes(quotes: Sequence[Quote], sources: Sequence[SourceText]) -> Verified:
    """Look each quote up in the sources of its id."""
    passages: list[Passage] = []
    others: list[Passage] = []
    made_up: list[Quote] = []
    for quote in quotes:
        named = [source for source in sources if source.id == quote.id]
        quoted = [passage for source in named for passage in _quoted_in(source, quote.quote)]
        if not quoted and not any(_is_title(quote, source) for source in named):
            made_up.append(quote)
        passages += quoted
        others += [passage for source in named for passage in passages_of(source)]
    return Verified(_each_once(passages), _each_once(others), made_up)


def _is_title(quote: Quote, source: SourceText) -> bool:
    """Whether a quote is an article's title: that says nothing, and is not made up."""
    return bool(source.title) and tokens(quote.quote) == tokens(source.title)


def stands_in_result(quote: Quote, results: Sequence[ToolSource]) -> bool:
    """Whether the words of a quote stand in the result that it names, as a model is shown it."""
    named = [result for result in results if result.id == quote.id]
    return any(_has_parts(tokens(as_text(result)), quote.quote) for result in named)


def as_text(result: ToolSource) -> str:
    """What a tool found, as a model is shown it."""
    return json.dumps(result.data, ensure_ascii=False, default=str)


def stands_in_text(quote: str, text: str) -> bool:
    """Whether the words of a quote stand in a text, in one piece or with some left out; those of an
    empty one stand nowhere."""
    words, whole = tokens(quote), tokens(text)
    return bool(words.strip()) and (words in whole or _has_parts(whole, quote))


def passages_of(source: SourceText) -> tuple[Passage, ...]:
    """The sentences of a source."""
    return _passages_of(source)


@lru_cache(maxsize=2048)
def _passages_of(source: SourceText) -> tuple[Passage, ...]:
    text = _WRAPPED.sub(" ", source.text)
    title_words = _meaning(source.title)
    language = identify(text).code
    passages: list[Passage] = []
    before: tuple[str, ...] = ()
    for start, end in sentences(text):
        sentence = text[start:end]
        context = title_words
        if _begins_with_pronoun(sentence):
            context = (*title_words, *before)
        clauses = _clauses(sentence, language)
        passages.append(Passage(source.id, sentence, clauses, context))
        before = _meaning(sentence)
    return tuple(passages)


@lru_cache(maxsize=2048)
def _whole_tokens(source: SourceText) -> str:
    return tokens(source.text)


def _begins_with_pronoun(sentence: str) -> bool:
    """Whether a sentence goes on about what the one before it speaks of."""
    first = words_in(sentence)[:1]
    return bool(first) and first[0].folded in words_of("pronoun")


def _quoted_in(source: SourceText, quote: str) -> list[Passage]:
    """The sentences that a quote is taken from; none where the source does not say it."""
    passages = passages_of(source)
    whole = _whole_tokens(source)
    if not _has_parts(whole, quote):
        return []
    quoted: list[Passage] = []
    for part in _parts(quote):
        words = tokens(part)
        for passage in passages:
            said = tokens(passage.text)
            if words in said or said in words or _overlap(said, words, whole):
                quoted.append(passage)
    return quoted


def _overlap(said: str, words: str, whole: str) -> bool:
    """Whether a quote of several sentences ends or begins within this one."""
    begin = whole.find(words)
    at = whole.find(said)
    while at >= 0:
        if at < begin + len(words) - 1 and begin < at + len(said) - 1:
            return True
        at = whole.find(said, at + 1)
    return False


def _has_parts(whole: str, quote: str) -> bool:
    parts = _parts(quote)
    place = 0
    for part in parts:
        place = whole.find(tokens(part), place)
        if place < 0:
            return False
    return bool(parts)


def _parts(quote: str) -> list[str]:
    return [part for part in _LEFT_OUT.split(quote) if len(tokens(part).split()) >= _FEWEST]


def _clauses(sentence: str, language: str | None) -> tuple[Clause, ...]:
    parts: list[str] = []
    for start, end in clauses_of(sentence):
        parts += _valued_parts(sentence[start:end], language)
    return tuple(clause_of(part, language) for part in parts)


def _valued_parts(clause: str, language: str | None) -> list[str]:
    """A clause, apart around each `and` with values on both sides: they are of different things."""
    parts: list[str] = []
    for start, end in conjuncts_of(clause, language):
        part = clause[start:end]
        if parts and not (values_in(parts[-1]) and values_in(part)):
            parts[-1] = f"{parts[-1]} {part}"
        else:
            parts.append(part)
    return parts


@lru_cache(maxsize=8192)
def clause_of(text: str, language: str | None = None) -> Clause:
    """What a clause says; `language` is that of the text it stands in."""
    words = tuple(word.folded for word in meaningful_words(text))
    return Clause(text, words, values_in(text), is_negative(text, language))


def meaningful_words(text: str) -> list[Word]:
    """The words of a text that carry its meaning; those of its values are told by the values."""
    values = values_in(text)
    return [
        word
        for word in words_in(text)
        if carries_meaning(word.folded) and not _is_within(word, values)
    ]


def _is_within(word: Word, values: Sequence[Value]) -> bool:
    return any(value.start <= word.start < value.end for value in values)


def _meaning(text: str) -> tuple[str, ...]:
    return tuple(word.folded for word in words_in(text) if carries_meaning(word.folded))


def _each_once(passages: Sequence[Passage]) -> list[Passage]:
    distinct = {(passage.source, passage.text): passage for passage in passages}
    return list(distinct.values())


# --- records


def records_of(result: ToolSource) -> list[Passage]:
    """What a tool found, record by record, each with the fields of what holds it; texts of several
    words in it as sentences as well."""
    data = _without_handed_in(result.data, [fold(text) for text in result.handed_in])
    data = _without_echo(data, result.arguments)
    if not isinstance(data, Mapping):
        data = {"result": data}
    return list(_records(result.id, data, {}, 0))


def _records(
    source: str, data: Mapping[str, Any], around: Mapping[str, Any], depth: int
) -> Iterator[Passage]:
    own = _own_fields(data)
    fields = {**around, **own}
    nested: list[Mapping[str, Any]] = []
    for value in data.values():
        items = value if isinstance(value, list) else [value]
        nested += [item for item in items if isinstance(item, Mapping)]
    short = {name: value for name, value in fields.items() if not _is_prose(value)}
    if short:
        yield _record(source, short)
    for text in own.values():
        if isinstance(text, str) and len(text.split()) >= _PROSE:
            yield from passages_of(SourceText(source, text, str(own.get("title") or "")))
    if depth < _DEEPEST:
        for item in nested:
            yield from _records(source, item, fields, depth + 1)


def _is_prose(value: Any) -> bool:
    """Whether a field is a text of several sentences: each of them says something of its own."""
    return isinstance(value, str) and len(list(sentences(value))) > 1


def _own_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """Texts, numbers and lists of them; what holds further fields is a record of its own."""
    own: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, list) and not any(isinstance(item, Mapping | list) for item in value):
            own[str(name)] = ", ".join(map(str, value)) if value else None
        elif not isinstance(value, Mapping | list):
            own[str(name)] = value
    return own


def _record(source: str, fields: Mapping[str, Any]) -> Passage:
    """A clause for each field, and for each part of a text that lists something."""
    clauses: list[Clause] = []
    for name, value in fields.items():
        line = _line(name, value)
        parts = _LISTED.split(line) if isinstance(value, str) else [line]
        clauses += [clause_of(part) for part in parts]
    text = "\n".join(clause.text for clause in clauses)
    return Passage(source, text, tuple(clauses), fields=fields)


def _line(name: str, value: Any) -> str:
    """`price_czk: 81` is 81 CZK: what a field counts may stand in its name."""
    words = name.split("_")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{words[0]}: {value} {[*words, *filter(meanings_of('units').get, words)][-1]}"
    return f"{' '.join(words)}: {value}"


def without_prose(result: ToolSource) -> ToolSource:
    """Its states, names and numbers alone. Anybody may have written a text that a tool hands back:
    a note, a ticket, a message."""
    if result.is_own_text:
        return result
    return result._replace(data=_kept_texts(result.data, lambda text: len(text.split()) < _PROSE))


def _without_handed_in(data: Any, handed_in: Sequence[str]) -> Any:
    """Without texts that the run itself gave to a tool, wherever they come back."""

    def is_new(text: str) -> bool:
        folded = fold(text)
        return not any(
            given in folded or (folded in given and len(text.split()) >= _PROSE)
            for given in handed_in
        )

    return _kept_texts(data, is_new) if handed_in else data


def _kept_texts(data: Any, keeps: Callable[[str], bool], depth: int = 0) -> Any:
    """Data without the texts that are not kept."""
    if depth > _DEEPEST:
        return None
    if isinstance(data, str):
        return data if keeps(data) else None
    if isinstance(data, Mapping):
        kept = {name: _kept_texts(value, keeps, depth + 1) for name, value in data.items()}
        return {name: value for name, value in kept.items() if value is not None}
    if isinstance(data, list):
        return [_kept_texts(item, keeps, depth + 1) for item in data]
    return data


def _without_echo(data: Any, arguments: Mapping[str, Any]) -> Any:
    """Without what only repeats the question: its words are the customer's or the model's."""
    if not isinstance(data, Mapping):
        return data
    asked = [fold(str(value)) for value in arguments.values() if isinstance(value, str)]

    def echoes(name: str, value: Any) -> bool:
        if not isinstance(value, str) or re.fullmatch(r"\S*[0-9]\S*", value):
            return False
        return fold(value) in asked or (name in arguments and bool(asked))

    found_nothing = any(_is_empty(value) for value in data.values())
    return {
        name: value
        for name, value in data.items()
        if found_nothing or _is_denied(str(name)) or not echoes(str(name), value)
    }


def _is_empty(value: Any) -> bool:
    """Whether a field says that there is none: then what was asked for may be named."""
    return value is None or value is False or value == 0 or value == []


def _is_denied(name: str) -> bool:
    """`not_in_catalogue`: what stands there is named because it is not there."""
    return re.match(r"(?:not|no|missing|unknown|without|un)_", name) is not None
