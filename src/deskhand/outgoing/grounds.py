"""What a reply may rest on: quotes that were verified, results of tools, the desk's own words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from functools import cached_property
from itertools import pairwise

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import meanings_of, words_of
from deskhand.outgoing.content_words import same_word, stands_among, tokens, words_in
from deskhand.outgoing.contradictions import kinds_in
from deskhand.outgoing.own_texts import OwnTexts, own_texts_of
from deskhand.outgoing.polarity import is_negative
from deskhand.outgoing.quoted_sources import (
    Passage,
    Quote,
    SourceText,
    ToolSource,
    Verified,
    as_text,
    records_of,
    stands_in_result,
    verified_quotes,
    without_prose,
)
from deskhand.outgoing.record_states import is_told, states_of
from deskhand.outgoing.sentences import sentences
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import Value, same_value

_SHORT = 3
"""Letters of an article or a pronoun, at most."""


@dataclass(frozen=True)
class Grounds:
    """What a reply may rest on."""

    quotes: Sequence[Quote] = ()
    """What its writer says that it rests on."""
    articles: Sequence[SourceText] = ()
    """Those that the run was given."""
    results: Sequence[ToolSource] = ()
    """What tools of the run found; it is there to be told, so it needs no quote."""
    own_texts: Sequence[str] = ()
    """What the desk's owner wrote."""
    own_links: Sequence[str] = ()
    """Hosts and addresses of the desk."""
    message: str = ""
    people: Sequence[str] = ()
    """Names of the customer."""
    now: datetime | None = None
    confirmed: frozenset[str] = frozenset()
    """Sentences that a second reader found in the articles."""
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    """Sentences that it did not find there, each with what it misses."""
    sums: Sequence[str] = ()
    """How it says that numbers follow from others; they are calculated anew."""
    counted: Sequence[str] = ()
    """What it says that small numbers count; each thing must stand in a source."""
    read_on: date | None = None
    """The day on which it read the reply; None before that."""
    language: str | None = None
    """The reply's; None where nobody can tell."""

    @property
    def for_deeds(self) -> "Grounds":
        """What may back that something was done or will be: articles, and what tools say in their
        fields. A text that a tool hands back may be anybody's, and so may a second reader's
        word."""
        results = [without_prose(result) for result in self.results]
        return replace(self.by_words, results=results)

    @property
    def by_words(self) -> "Grounds":
        """The same without what a second reader confirms."""
        return self._read_alike(replace(self, confirmed=frozenset(), sums=(), counted=()))

    def in_language(self, language: str | None) -> "Grounds":
        """The same for a reply in this language."""
        return self._read_alike(replace(self, language=language))

    def _read_alike(self, other: "Grounds") -> "Grounds":
        """The other, whose sources and message are these: what was read of them is read of it."""
        given = {field.name for field in fields(self)}
        read = {name: value for name, value in vars(self).items() if name not in given}
        vars(other).update(read)
        return other

    @cached_property
    def verified(self) -> Verified:
        """The quotes, looked up; a quote of a result stands in that result."""
        of_results = {result.id for result in self.results}
        in_articles = [quote for quote in self.quotes if quote.id not in of_results]
        checked = verified_quotes(in_articles, self.articles)
        made_up = [
            quote
            for quote in self.quotes
            if quote.id in of_results and not stands_in_result(quote, self.results)
        ]
        told_records = [record for record in self.records if not record.is_record]
        return checked._replace(
            others=[*checked.others, *told_records], made_up=[*checked.made_up, *made_up]
        )

    @cached_property
    def records(self) -> list[Passage]:
        return [record for result in self.results for record in records_of(result)]

    @cached_property
    def passages(self) -> list[Passage]:
        """All that may back a sentence."""
        return [*self.verified.passages, *self.records]

    @cached_property
    def quoted_words(self) -> frozenset[str]:
        """All words of what may back a statement, with titles and headings."""
        words = [word for passage in self.passages for word in (*passage.words, *passage.context)]
        named = [word.folded for passage in self.passages for word in words_in(passage.text)]
        return frozenset((*words, *named))

    @cached_property
    def states(self) -> frozenset[str]:
        """What the records say of where a thing is: shipped, paid, in production."""
        return frozenset(state for record in self.records for state in states_of(record.fields))

    def tells_state(self, word: str) -> bool:
        """Whether a word says what a record says in another word or language."""
        return is_told(word, self.states)

    @cached_property
    def quoted_values(self) -> list[Value]:
        return [value for passage in self.passages for value in passage.values]

    @cached_property
    def article_values(self) -> list[Value]:
        """The values of all sentences of the quoted articles, with the units of their lists."""
        texts = [sentence.text for sentence in self._of_articles]
        return [value for text in texts for value in values_in(text)]

    @cached_property
    def record_values(self) -> list[Value]:
        """The values of what tools found."""
        return [value for record in self.records for value in record.values]

    @cached_property
    def record_words(self) -> list[str]:
        """The words of what tools found, folded."""
        texts = [record.text for record in self.records]
        return list(dict.fromkeys(word.folded for text in texts for word in words_in(text)))

    @cached_property
    def article_words(self) -> list[str]:
        """The words of all sentences of the quoted articles, folded, as they are written."""
        texts = [sentence.text for sentence in self._of_articles]
        return list(dict.fromkeys(word.folded for text in texts for word in words_in(text)))

    @property
    def _of_articles(self) -> list[Passage]:
        of_tools = {result.id for result in self.results}
        return [passage for passage in self.verified.others if passage.source not in of_tools]

    @cached_property
    def shown(self) -> list[tuple[str, str]]:
        """What a second reader is shown: the quoted pieces of articles, and what tools found."""
        named = {quote.id for quote in self.quotes}
        articles = [(article.id, article.text) for article in self.articles if article.id in named]
        return [*articles, *((result.id, as_text(result)) for result in self.results)]

    @cached_property
    def quoted_kinds(self) -> frozenset[str]:
        texts = [passage.text for passage in self.passages]
        return frozenset(kind for text in texts for kind in kinds_in(text))

    @cached_property
    def source_names(self) -> frozenset[str]:
        """What the quoted sources write with a capital in the middle of a sentence."""
        words = [word for passage in self.verified.others for word in words_in(passage.text)]
        named = [word.folded for word in words if word.is_capital and not word.is_first]
        return frozenset(name for name in named if name not in words_of("capital"))

    @cached_property
    def apposed_names(self) -> frozenset[str]:
        """Names in German sources, where every noun has a capital: those right behind another
        noun, such as `Stuhl Linea`."""
        named: set[str] = set()
        for passage in self.verified.others:
            for before, word in pairwise(words_in(passage.text)):
                beside = passage.text[before.end : word.start] == " "
                is_noun = before.is_capital and len(before.folded) > _SHORT
                is_noun = is_noun and before.folded not in words_of("capital_adjectives")
                is_noun = is_noun and before.folded not in meanings_of("units")
                if beside and is_noun and word.is_capital:
                    named.add(word.folded)
        return frozenset(named)

    @cached_property
    def own(self) -> OwnTexts:
        """What the desk's owner wrote, taken apart."""
        return own_texts_of(tuple(self.own_texts))

    @cached_property
    def message_words(self) -> frozenset[str]:
        return frozenset(word.folded for word in words_in(self.message))

    @cached_property
    def message_values(self) -> tuple[Value, ...]:
        return values_in(self.message, self.now)

    def says(self, words: str, sentence: str) -> bool:
        """Whether words of a sentence stand, in this order, in one that is quoted and denies as
        it does."""
        negative = is_negative(sentence)
        return any(
            tokens(words) in tokens(passage.text) and is_negative(passage.text) == negative
            for passage in self.verified.passages
        )

    @property
    def found_nothing(self) -> bool:
        """Whether a look of the run says that there is no such thing."""
        return any(record.fields.get("found") is False for record in self.records)

    @property
    def did_something(self) -> bool:
        """Whether a tool of the run changed something."""
        return any(result.changed for result in self.results)

    @cached_property
    def asked_values(self) -> list[Value]:
        return [value for question in self.questions for value in values_in(question, self.now)]

    @cached_property
    def questions(self) -> list[str]:
        """What the customer asks, sentence by sentence; all he writes where nothing ends so."""
        written = [self.message[start:end] for start, end in sentences(self.message)]
        asked = [sentence for sentence in written if sentence.rstrip(" \"')").endswith("?")]
        return asked or written

    def knows_name(self, word: str) -> bool:
        """Whether a folded word stands in what is quoted, or the desk or the customer bears it."""
        if word in words_of("capital") or word in self.own.words or word in self._customer:
            return True
        return self.is_in_named_union(word) or any(
            same_word(word, said) for said in self.quoted_words
        )

    def is_in_named_union(self, word: str) -> bool:
        """Whether a word is a member state of the European Union, and that is what is quoted."""
        if word not in words_of("member_states"):
            return False
        said = self.quoted_words
        names_union = any(word in words_of("union") for word in said)
        return names_union and any(word.startswith(("europ", "evrop")) for word in said)

    def knows_link(self, value: Value) -> bool:
        """Whether a link stands in what is quoted, or is the desk's or the customer's own."""
        if any(same_value(value, other) for other in self.quoted_values):
            return True
        link = next(iter(value.readings))
        own = [fold(text) for text in (*self.own_links, *self.own_texts)]
        if any(link == text or link in text.split() for text in own):
            return True
        return "@" in link and link in fold(self.message)

    def names_other_record(self, clause: str, sentence: str, passage: Passage) -> bool:
        """Whether a clause names what tells another record apart from this one; the sentence
        counts where the clause names no record."""
        return self._names_other(clause, passage) or (
            not self._names_any(clause) and self._names_other(sentence, passage)
        )

    def records_named_in(self, text: str) -> list[Passage]:
        """The records that a text tells apart from another by a name."""
        named: list[Passage] = []
        for record in self.records:
            others = [other.fields for other in self.records if other is not record]
            if any(_names(text, record.fields, fields) for fields in others):
                named.append(record)
        return named

    def without_names(self, text: str) -> str:
        """A text without the words of records: names of another language tell nothing of it."""
        named = {word.folded for record in self.records for word in words_in(record.text)}
        kept = [word for word in words_in(text) if word.folded not in named]
        return " ".join(text[word.start : word.end] for word in kept) or text

    def _names_any(self, text: str) -> bool:
        named = [value for record in self.records for value in record.fields.values()]
        return any(isinstance(value, str) and _mentions(text, value) for value in named)

    def _names_other(self, text: str, passage: Passage) -> bool:
        for other in self.records:
            for name, value in other.fields.items():
                own = passage.fields.get(name)
                if own == value or not isinstance(value, str) or not isinstance(own, str):
                    continue
                if _tells_apart(text, value, own) and not _tells_apart(text, own, value):
                    return True
        return False

    @cached_property
    def _customer(self) -> frozenset[str]:
        return frozenset(word.folded for name in self.people for word in words_in(name))


def _names(text: str, fields: Mapping[str, object], others: Mapping[str, object]) -> bool:
    """Whether a text has a word of one record's fields that the other record's do not have."""
    for name, value in fields.items():
        other = others.get(name)
        if not isinstance(value, str) or not isinstance(other, str) or value == other:
            continue
        if _tells_apart(text, value, other):
            return True
    return False


def _tells_apart(text: str, name: str, other: str) -> bool:
    """Whether a text has a word of a name that the other name does not have."""
    others = [word.folded for word in words_in(other)]
    wanted = [word.folded for word in words_in(name) if len(word.folded) > 2]
    own = [word for word in wanted if not stands_among(word, others)]
    said = [word.folded for word in words_in(text)]
    return any(same_word(word, spoken) for word in own for spoken in said)


def _mentions(text: str, name: str) -> bool:
    """Whether a text names this: all its words, in any case."""
    wanted = [word.folded for word in words_in(name) if len(word.folded) > 2]
    said = [word.folded for word in words_in(text)]
    return bool(wanted) and all(stands_among(word, said) for word in wanted)
