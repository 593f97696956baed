"""Names that a sender nobody has proven gave himself: a reply does not repeat them.

Whoever forges a sender chooses the display name and the signature. A reply that repeats them
carries his words, under our name, to whomever he chose.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from deskhand.mail.mail_phrases import mail_phrases
from deskhand.model.message import Message

LONGEST = 20_000
"""Characters of a message in which a signature is looked for."""
_MOST_SIGNED = 20
_SIGNED_LINES = 2
_LONGEST_NAME = 200
_WORD = re.compile(r"[^\W_]+")
_LIKE_A_NAME = re.compile(r"[^\W\d_]+(?:[ '’.\-]{1,2}[^\W\d_]+){1,3}\.?")
_SALUTATION = re.compile(
    r"\s*(?:"
    # English
    r"hello|hi|hey|dear|good (?:morning|afternoon|evening|day)|greetings|welcome|thanks|thank you|"
    # Czech
    r"dobr[ýy] den|dobr[ée] \w+|zdrav[íi]m|ahoj|v[áa][žz]en\w+|mil[ýáí]|"
    # German
    r"guten (?:tag|morgen|abend)|hallo|moin|gr[üu](?:ß|ss) gott|sehr geehrte\w*|liebe[rs]?|"
    # Spanish
    r"hola|buen[oa]s (?:d[íi]as|tardes|noches)|estimad\w+|querid\w+|"
    # French
    r"bonjour|bonsoir|salut|ch[èe]re?s?|madame|monsieur"
    r")\b",
    re.I,
)
_NEAR = 2
"""Letters at the end of a name that a language may change: `Novák` is greeted as `Nováku`."""
_SHORTEST = 3


def unproven_names(message: Message) -> list[str]:
    """The names that the sender of a message gives himself; none where it is proven who wrote."""
    if message.principal.may_act:
        return []
    names = [message.sender.name, *signed_names(message.words)]
    if message.prepared is not None:
        names.append(message.prepared.name)
    lines = (" ".join(name.split())[:_LONGEST_NAME] for name in names)
    return list(dict.fromkeys(name for name in lines if name))


def signed_names(text: str) -> list[str]:
    """What stands below the closings of a mail (`Regards,`), and a last line like a name."""
    lines = [line.strip() for line in text[:LONGEST].splitlines()]
    written = [line for line in lines if line and not line.startswith(">")]
    names: list[str] = []
    for number, line in enumerate(written):
        if mail_phrases().greeting.match(line):
            names += written[number + 1 : number + 1 + _SIGNED_LINES]
    if written and _LIKE_A_NAME.fullmatch(written[-1]):
        names.append(written[-1])
    return names[:_MOST_SIGNED]


def repeated_names(text: str, names: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Where a text repeats one of these names, as begin and end.

    A name of several words is looked for everywhere, its single words in the salutation only: one
    word may be any word.
    """
    words = [
        (match.start(), match.end(), match.group().casefold()) for match in _WORD.finditer(text)
    ]
    greeted = _greeted(text, words)
    for name in names:
        wanted = [match.group().casefold() for match in _WORD.finditer(name)]
        if len(wanted) > 1:
            yield from _runs(words, wanted)
        for start, end, word in greeted:
            if any(_is_form_of(word, part) for part in wanted):
                yield start, end


def stands_in_any(name: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts has this name, whole and in its order of words."""
    wanted = [match.group().casefold() for match in _WORD.finditer(name)]
    if not wanted:
        return False
    return any(
        wanted[0] in _different_words(text)
        and next(_runs(_words_of(text), wanted), None) is not None
        for text in texts
    )


@lru_cache(maxsize=256)
def _words_of(text: str) -> "_Words":
    """The words of a text of the company's own: the same ones are read for every reply."""
    return tuple((0, 0, match.group().casefold()) for match in _WORD.finditer(text))


@lru_cache(maxsize=256)
def _different_words(text: str) -> frozenset[str]:
    return frozenset(word for _, _, word in _words_of(text))


_Words = Sequence[tuple[int, int, str]]


def _runs(words: _Words, wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where these words stand one after the other."""
    said = [word for _, _, word in words]
    for first in range(len(said) - len(wanted) + 1):
        if said[first] == wanted[0] and said[first : first + len(wanted)] == list(wanted):
            yield words[first][0], words[first + len(wanted) - 1][1]


def _greeted(text: str, words: _Words) -> list[tuple[int, int, str]]:
    """The words after the greeting in the first line; none where it greets nobody."""
    greeting = _SALUTATION.match(text)
    if greeting is None:
        return []
    line_end = text.find("\n", greeting.end())
    end = len(text) if line_end < 0 else line_end
    return [word for word in words if greeting.end() <= word[0] < end and len(word[2]) > 1]


def _is_form_of(word: str, name: str) -> bool:
    """Whether a word is this part of a name, perhaps with the ending of another case."""
    if word == name:
        return True
    stem = max(_SHORTEST, len(name) - _NEAR)
    return len(name) >= _SHORTEST and word[:stem] == name[:stem] and len(word) <= len(name) + _NEAR
