"""The language in which a customer asks to be answered: "please answer in German"."""

import re
import unicodedata
from functools import cache

from deskhand.language.clean_text import clean

_NAMES = {
    "en": "english englisch englischer anglicky anglictine inglés ingles anglais angielsku inglese",
    "de": "german deutsch deutscher nemecky nemcine aleman allemand niemiecku tedesco",
    "cs": "czech tschechisch tschechischer cesky cestine checo tcheque czesku ceco",
    "sk": "slovak slowakisch slovensky slovencine eslovaco slovaque slowacku slovacco",
    "es": "spanish spanisch spanischer spanelsky spanelstine espanol castellano espagnol"
    " hiszpansku spagnolo",
    "fr": "french französisch franzosisch francouzsky francouzstine frances francais francusku",
    "pl": "polish polnisch polnischer polsky polstine polaco polonais polsku polacco",
    "it": "italian italienisch italsky italstine italiano italien wlosku",
    "nl": "dutch niederlandisch hollandisch holandsky nizozemsky holandes neerlandais holendersku",
    "pt": "portuguese portugiesisch portugalsky portugues portugais portugalsku portoghese",
    "uk": "ukrainian ukrainisch ukrajinsky ukrajinstine ucraniano ukrainien ukrainsku",
    "ru": "russian russisch rusky rustine ruso russe rosyjsku russo",
}
_ANSWER = (
    r"answer|reply|replies|respond|response|write (?:back|to)|get back"
    r"|antwort\w*|schreib\w*|odpov\w*|odepis\w*|napis\w*|piste"
    r"|respond\w*|contest\w*|respuesta|escrib\w*|repond\w*|reponse|ecri\w*"
    r"|odpowied\w*|odpisa\w*|prosze pisac|rispond\w*|risposta"
)
_SAYS_ANSWER = re.compile(rf"\b(?:{_ANSWER})\b")
_WORD = re.compile(r"\w+")
_FURTHEST_AFTER, _FURTHEST_BEFORE = 40, 25
"""Letters between the word for answering and the language."""
_DENIED = re.compile(r"\b(?:not|nicht|kein\w*|ne|no|pas|nie|non)\b")
_SENTENCE = re.compile(r"[.!?\n]+")


def wished_language(text: str) -> str | None:
    """Returns the code of the language that the text asks to be answered in; None for no wish."""
    for sentence in _SENTENCE.split(_folded(text)):
        if _DENIED.search(sentence):
            continue
        code = _named_near_answer(sentence)
        if code is not None:
            return code
    return None


def _named_near_answer(sentence: str) -> str | None:
    names = _codes()
    answers = [match.span() for match in _SAYS_ANSWER.finditer(sentence)]
    for match in _WORD.finditer(sentence) if answers else ():
        if match[0] in names and any(_is_near(match.span(), answer) for answer in answers):
            return names[match[0]]
    return None


def _is_near(name: tuple[int, int], answer: tuple[int, int]) -> bool:
    after = name[0] - answer[1]
    before = answer[0] - name[1]
    return 0 <= after <= _FURTHEST_AFTER or 0 <= before <= _FURTHEST_BEFORE


def _folded(text: str) -> str:
    letters = unicodedata.normalize("NFD", clean(text[:8000]).lower())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


@cache
def _codes() -> dict[str, str]:
    return {_folded(name): code for code, names in _NAMES.items() for name in names.split()}
