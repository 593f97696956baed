"""A text without anything that the models cannot read, at a bounded cost."""

import re
import unicodedata

LONGEST = 16_000
"""Characters of a text that are looked at; of a longer one, its beginning and its end."""
_TAIL = LONGEST // 4

_SURROGATES = re.compile(r"[\ud800-\udfff]")
_CONTROLS = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]+"
)
_SPACES = re.compile(r"\s+")
LONGEST_WORD = 200
"""Characters of ASCII without a space between them that still may be a word, or an address on the
web. Scripts that write no spaces are not in ASCII."""
_TOO_LONG_WORD = re.compile(rf"(?<![!-~])([!-~]{{{LONGEST_WORD}}})[!-~]+")


LONGEST_READ = 2_000
"""Characters of a person's own words that the models read as a whole: some 330 words. A longer
message is a document, which a person reads."""
_MOST_UNITS = 550
_UNIT = re.compile(r"[^\W_]+|[^\w\s]|_")
TOO_LONG = "the message is too long to be read as a whole"


def is_too_long(text: str) -> bool:
    """Whether the models would not read all of it, or take long: whoever sends a text chooses how
    long it is, and how many words and marks stand in a line."""
    if len(text) > LONGEST_READ:
        return True
    return sum(1 for _ in _UNIT.finditer(text)) > _MOST_UNITS


def clean(text: str) -> str:
    """One line without control characters, at most `LONGEST` characters, whatever was handed in.

    Of a word that is too long to be one, only the beginning is left: the models would spend most
    of their time on what nobody wrote to be read.
    """
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - _TAIL - 1]} {text[-_TAIL:]}"
    text = _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text if text.isascii() else _mended(text))
    line = _SPACES.sub(" ", _CONTROLS.sub(" ", text)).strip()
    return _TOO_LONG_WORD.sub(r"\1", line) if len(line) > LONGEST_WORD else line


_MISREAD = re.compile("[\u00c2-\u00c5\u0102\u0139][^\x00-\x7f]")
"""How an accented letter in UTF-8 looks when it was read in a Central or Western European code."""


def _mended(text: str) -> str:
    """Text that some mail program decoded wrongly, decoded rightly: `Ăşvod` is `úvod`."""
    if _MISREAD.search(text):
        for code in ("cp1250", "cp1252", "latin-1"):
            try:
                return text.encode(code).decode("utf-8")
            except UnicodeError:
                continue
    return text


_READABLE = re.compile(r"[\u0000-\u02ff\u0370-\u052f\u0e00-\u0e7f\u1e00-\u1fff]")


def strange_share(text: str) -> float:
    """The share of letters in scripts that the embedding model cannot read.

    It reads Latin, Cyrillic, Greek and Thai.
    """
    letters = [] if text.isascii() else list(filter(str.isalpha, text))
    if not letters:
        return 0.0
    return sum(_READABLE.match(letter) is None for letter in letters) / len(letters)


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit in it: emoji, signs and spaces alone ask nothing."""
    return any(unicodedata.category(character)[0] in "LN" for character in text)
