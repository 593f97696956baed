"""The words by which the console's search finds a run or a person.

Words are folded and split here, so both databases find the same. Each word of a run begins with a
letter that says where it stands: one index answers what the message says, what the run says, and
which numbers tools worked with.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from pydantic_core import from_json

from deskhand.engine.review_search import fold
from deskhand.model.message import Message

IN_MESSAGE, IN_RUN, IN_NUMBERS = "m", "r", "n"
SHORTEST_NUMBER = 4
"""Characters that a number has at least, to be looked for in what tools were given and said."""
_MOST_WORDS = 20_000
"""Different words of a record that are indexed: a file may be a whole book."""
_LONGEST_WORD = 60
_PARTS = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d{3,}")
_ASCII_DIGIT = re.compile(r"[0-9]")
_MAY_BE_DIGIT = re.compile(r"[0-9]|[^\x00-\x7f]")


def parts_of(text: str) -> list[str]:
    """The words of a folded text, of letters and digits alone."""
    return [part[:_LONGEST_WORD] for part in _PARTS.findall(text)]


def index_words(text: str) -> list[str]:
    """What a text is found by: its words, and the digits of those that have letters too."""
    return _words_of_folded(fold(text))


def _words_of_folded(text: str) -> list[str]:
    words: list[str] = []
    for part in parts_of(text):
        words.append(part)
        if not (part.isalpha() or part.isdigit()):
            words += _DIGITS.findall(part)
    return words


def message_text(message: Message) -> str:
    """All of a message that is searched, as it was written."""
    files = [f"{file.name} {file.text or ''}" for file in message.attachments]
    named = (message.subject, str(message.sender), str(message.writer), message.body)
    return "\n".join([*named, message.words, *files])


def number_text(bodies: Iterable[bytes]) -> str:
    """The texts with digits in what tools were given and said, from the bodies of their steps."""
    leaves: list[str] = []
    for body in bodies:
        _gather((_read(body),), leaves)
    return "\n".join(leaves)


def _has_digit(text: str) -> bool:
    if text.isascii():
        return _ASCII_DIGIT.search(text) is not None
    return any(map(str.isdigit, text))


def _read(body: bytes) -> Any:
    """None for a body that somebody changed: `audit verify` tells of it."""
    try:
        return from_json(body)
    except ValueError:
        return None


def _gather(values: Iterable[Any], leaves: list[str]) -> None:
    """Add the texts with digits and the whole numbers of a document. One function that calls
    itself for what holds others alone takes half the time of generators: bodies are long."""
    for value in values:
        kind = type(value)
        if kind is str:
            if _MAY_BE_DIGIT.search(value) is not None and _has_digit(value):
                leaves.append(value)
        elif kind is int:
            leaves.append(str(value))
        elif kind is dict:
            _gather(value.values(), leaves)
        elif kind is list:
            _gather(value, leaves)


def number_words(text: str) -> list[str]:
    """The parts with digits of whatever is long enough to be a number."""
    folded = fold(text)
    has_digit = _ASCII_DIGIT.search if folded.isascii() else _has_digit
    chunks = dict.fromkeys(folded.split())
    long_enough = [chunk for chunk in chunks if len(chunk) >= SHORTEST_NUMBER and has_digit(chunk)]
    return [word for word in _words_of_folded(" ".join(long_enough)) if has_digit(word)]


def words_of_run(run_id: str, reason: str | None, message: Message, numbers: str) -> str:
    """All words of a run, each once, with the letter of the place where it stands."""
    words = [IN_RUN + word for word in index_words(f"{run_id} {reason or ''}")]
    words += [IN_NUMBERS + word for word in number_words(numbers)]
    words += [IN_MESSAGE + word for word in index_words(message_text(message))]
    return _joined(words)


def words_of_person(*texts: str | None) -> str:
    return _joined(index_words("\n".join(filter(None, texts))))


def _joined(words: Iterable[str]) -> str:
    different = list(dict.fromkeys(words))
    return " ".join(different[:_MOST_WORDS])


def index_terms(place: str, asked: Sequence[str]) -> list[tuple[str, bool]]:
    """The words of the index that must be there, and of which of them the beginning is enough."""
    terms: dict[tuple[str, bool], None] = {}
    for word in asked:
        parts = _parts_in(place, word)
        for part in parts[:-1]:
            terms[place + part, False] = None
        # By one letter nobody means all words that begin with it.
        for last in parts[-1:]:
            terms[place + last, len(last) > 1] = None
    return list(terms)


def _parts_in(place: str, word: str) -> list[str]:
    if place != IN_NUMBERS:
        return parts_of(word)
    return [part for part in parts_of(word) if any(map(str.isdigit, part))]


def written_terms(core: sa.Connection, terms: Sequence[tuple[str, bool]]) -> str:
    """The terms in the words of the database; they are letters and digits alone."""
    if core.dialect.name == "postgresql":
        return " & ".join(f"'{term}'{':*' * begins}" for term, begins in terms)
    return " AND ".join(f'"{term}"{" *" * begins}' for term, begins in terms)
