"""Words as the full-text index sees them: the same in every database, whatever its own rules
are."""

import re
import unicodedata

LONGEST_QUESTION = 4000
"""Characters of a question that are read; nobody asks in more, and pasted logs must not cost
more."""
_LONGEST_WORD = 64
_MOST_TERMS = 64
_UNWANTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\ufeff\ud800-\udfff]")
_WORD = re.compile(r"[^\W_]+")


def clean(text: str) -> str:
    """Text that every database can store and every terminal show: no control characters, no half
    characters."""
    return _UNWANTED.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))


def words(text: str) -> list[str]:
    """The words of a text in small letters without accents: `Přihlášení` is `prihlaseni`."""
    parts = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(character for character in parts if not unicodedata.combining(character))
    return [word[:_LONGEST_WORD] for word in _WORD.findall(bare)]


def terms(question: str) -> tuple[str, ...]:
    """The different words of a question, in order; more than anybody asks with are left out."""
    different = dict.fromkeys(words(question[:LONGEST_QUESTION]))
    return tuple(different)[:_MOST_TERMS]


def question_text(question: str) -> str:
    """A question as it is embedded: cleaned and bounded; empty when nothing is left."""
    return " ".join(clean(question[:LONGEST_QUESTION]).split())


def primary_language(tag: str) -> str:
    """The language of a tag: `en` for `en-GB`."""
    return tag.strip().replace("_", "-").partition("-")[0].lower()
