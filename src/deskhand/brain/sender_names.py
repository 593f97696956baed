"""The sender's own names in texts: whole, by their words, bent by grammar, misspelt."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

_SHORTEST_STEM = 4
_LONGEST_ENDING = 3
_VOWELS = "aeiouy"
_LONGEST_NAME = 200
"""Characters of a name that are looked for as a whole; its words are looked for in any case."""
_MOST_SLIPS, _NEARLY = 3, 0.72
"""How much longer a misspelt name may be, and how like the name it must be."""
_MOST_MISSPELT, _LONGEST_MISSPELT = 12, 30
"""Words of the names that are looked for misspelt, and their letters."""
_LAST_OF_LINE = re.compile(r"(?<!\w)([^\W\d_]{3,})[.!,]?[ \t]*$", re.MULTILINE)
_PET_LETTERS, _LONGEST_PET = 3, 8
"""Letters that a pet form has of the name, and its length at most."""
_COMMON_WORDS = (
    "art bill dean frank grace grant hope joy mark may rose will baker black brown carpenter"
    " cook field fisher fox gold gray green grey hill hunter king lane light long marsh moon"
    " page park price rice short silver stone white winter wood young berg blau braun"
    " engel gross groß grün jung klein kurz lang neu reich roth schwarz sommer stark stein"
    " vogel weiß weiss wolf bílá bílý černá černý dlouhá dlouhý kos král krátký malá malý nová"
    " nový stará starý šťastná šťastný veselá veselý zelená zelený blanco blanca campos cruz"
    " delgado fuente fuentes leal luz mayor moreno paz pilar ríos rojo rosa rubio blanc grand"
    " leblanc legrand lenoir marchand noir petit roux"
)
_WORDS_TOO = frozenset(_COMMON_WORDS.split())
"""Names that are also words: hidden only where they are written with a capital."""


class SenderNames:
    """Finds names in one walk over a text, however many words they have."""

    def __init__(self, names: Iterable[str]) -> None:
        whole = sorted({" ".join(name.split()) for name in names}, key=len, reverse=True)
        self._whole = [_whole_name(name) for name in whole if len(name) > 1]
        words = [word for name in whole if "@" not in name for word in _words(name, 3)]
        self._as_written: set[str] = set()
        self._stems: set[str] = set()
        for word in words:
            if word.casefold() in _WORDS_TOO:
                self._as_written |= {word.capitalize(), word.upper()}
            else:
                self._stems.add(_stem(word))
        initials = "".join(sorted({word[0].upper() for word in words}))
        if initials:
            self._whole.append(re.compile(rf"(?<![\w.])[{initials}]\.(?![\w.])"))
        self._spelt = [word for name in whole for word in _words(name, 5)][:_MOST_MISSPELT]

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Beginning and end of each name and of each of its words."""
        for pattern in self._whole:
            for match in pattern.finditer(text):
                yield match.span()
        if not self._stems and not self._as_written:
            return
        for token in re.finditer(r"\w+", text):
            if token[0] in self._as_written or self._is_bent(token[0]):
                yield token.span()
        yield from self._pet_forms(text)

    def _pet_forms(self, text: str) -> Iterator[tuple[int, int]]:
        """`Ondra` for Ondřej, where a line ends with it: that is how people sign."""
        for match in _LAST_OF_LINE.finditer(text):
            word = _plain(match[1])
            is_like = any(stem.startswith(word[:_PET_LETTERS]) for stem in self._stems)
            if is_like and len(word) <= _LONGEST_PET:
                yield match.span(1)

    def misspelt(self, text: str) -> Iterator[str]:
        """Words that are nearly one of the names' words."""
        for word in set(_words(text, 5)):
            if any(_is_misspelt(word, name) for name in self._spelt):
                yield word

    def _is_bent(self, token: str) -> bool:
        """Whether a word is a name as languages bend it and people leave out its marks: `Dariuszu`
        is `Dariusz`, `Adelo` is `Adéla`."""
        plain = _plain(token)
        if plain in self._stems:
            return True
        endings = range(1, min(_LONGEST_ENDING, len(plain) - _SHORTEST_STEM) + 1)
        return any(plain[:-ending] in self._stems for ending in endings)


def _whole_name(name: str) -> re.Pattern[str]:
    written = r"\s+".join(map(re.escape, name[:_LONGEST_NAME].split()))
    return re.compile(rf"(?<!\w){written}(?!\w)", re.IGNORECASE)


def _words(text: str, shortest: int) -> list[str]:
    return re.findall(rf"[^\W\d_]{{{shortest},}}", text)


def _stem(word: str) -> str:
    plain = _plain(word)
    return plain[:-1] if len(plain) > _SHORTEST_STEM and plain[-1] in _VOWELS else plain


def _plain(word: str) -> str:
    """The word in small letters without accents."""
    return "".join(unicodedata.normalize("NFD", letter)[0] for letter in word).casefold()


def _is_misspelt(word: str, name: str) -> bool:
    """Whether a word is nearly the name."""
    if len(name) > _LONGEST_MISSPELT or abs(len(word) - len(name)) > _MOST_SLIPS:
        return False
    if word[0].casefold() != name[0].casefold():
        return False
    return SequenceMatcher(None, word.casefold(), name.casefold()).ratio() >= _NEARLY
