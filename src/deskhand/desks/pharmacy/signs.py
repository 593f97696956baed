"""Whether a message asks for medical advice, tells of an emergency or gives orders: word checks,
wide on purpose.

An availability question that goes to a person for nothing costs a minute; a dosage that a program
answered may cost more. So a single sign of a question anywhere in the message is enough, whatever
else it asks. Words of health alone are no question, and what happened years ago is no emergency. No
model has a say in it.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import re2

from .catalogue import sample_products
from .marked_names import with_marked_names
from .phrases import kinds_of, plain_sentences, plain_text, speaks_of
from .product_search import index_of

_DATA = Path(__file__).parent / "data"
_MOST_READ = 100_000
_MOST_NAMED = 3
_FEW_WORDS = 8
_IN_ONE = 60
_KEPT = 16
_OF_OUR_OWN = re2.compile(
    r"\b(?:jsem|jsme|som|sme|i|we|ich|wir|yo|nosotr[oa]s"
    r"|(?:he|hemos) (?:compr|recog|retir|reserv)ado)\b"
)
_JOINED = re2.compile(r"\b(?:a|ale|and|but|und|aber|y|pero)\b")


def emergency_signs(text: str) -> list[str]:
    """Words that tell of an overdose, a poisoning or a life in danger, now."""
    if len(text) > _MOST_READ:
        return []
    recent = [plain for plain in plain_sentences(text) if not _is_long_ago(plain)]
    return _first(sign for plain in recent for sign in _signs("emergency.txt", plain))


def medical_signs(text: str) -> list[str]:
    """Words of somebody who asks for advice about medicine or speaks of his health; those of an
    emergency first."""
    if len(text) > _MOST_READ:
        return ["more text than is read"]
    return list(_medical_signs(text))


@lru_cache(maxsize=_KEPT)
def _medical_signs(text: str) -> tuple[str, ...]:
    """A message's guard looks for them, and then the gate at each of its calls."""
    whole = with_marked_names(plain_text(text))
    asked = _first(_signs("medical.txt", _without_harmless(whole)))
    about_names = _first(_signs("about_names.txt", whole))
    together = _first(_taken_together(text))
    signs = emergency_signs(text) or asked or about_names or together or _first(_troubles(text))
    return tuple(signs)


def order_signs(text: str) -> list[str]:
    """Words of somebody who gives orders to a program."""
    if len(text) > _MOST_READ:
        return ["more text than is read"]
    return _first(_signs("orders.txt", plain_text(text)))


def other_people_signs(text: str) -> list[str]:
    """Words that ask what somebody else bought or collected: that is told to nobody."""
    if len(text) > _MOST_READ:
        return []
    of_others = [plain for plain in plain_sentences(text) if not _OF_OUR_OWN.search(plain)]
    return _first(sign for plain in of_others for sign in _signs("other_people.txt", plain))


def _taken_together(text: str) -> Iterator[str]:
    """Words for `together`, unless their sentence speaks of paying or collecting alone."""
    for plain in plain_sentences(text):
        of_a_sum = speaks_of("paying", plain) and not speaks_of("bearing", plain)
        if not of_a_sum:
            yield from sorted(kinds_of("together", plain))


def _troubles(text: str) -> Iterator[str]:
    """Words of health, unless they only say why somebody wants to buy something."""
    whole = plain_text(text)
    wants_to_buy = speaks_of("buying", whole) or speaks_of("post", whole)
    names_one = _mentions(text) == 1
    for plain in plain_sentences(text):
        if wants_to_buy and (_is_long_ago(plain) or _is_reason(plain)):
            continue
        if wants_to_buy and names_one and _only_says_what_is_taken(plain):
            continue
        yield from _signs("health.txt", with_marked_names(plain))


def _is_reason(plain: str) -> bool:
    """Whether a sentence with words of health tells only why something is wanted: it speaks of
    buying, or it is a statement that names no medicine."""
    named = _mentions(plain)
    if speaks_of("buying", plain):
        is_beside_another = named > 1 and speaks_of("takes", plain)
        return not is_beside_another and (named > 0 or not plain.endswith("?"))
    return not plain.endswith("?") and not named


def _mentions(text: str) -> int:
    return len(index_of(sample_products()).mentions(text))


def _only_says_what_is_taken(plain: str) -> bool:
    """Whether a short statement says nothing but that somebody takes a medicine: `I take Aulin.`
    Where no other medicine is named, it tells which one is asked for."""
    is_short = len(plain.split()) <= _FEW_WORDS and not plain.endswith("?")
    if not is_short or _JOINED.search(plain) or not _mentions(plain):
        return False
    return all(speaks_of("takes", sign) for sign in _signs("health.txt", with_marked_names(plain)))


def _is_long_ago(plain: str) -> bool:
    return speaks_of("long_ago", plain) and not speaks_of("just_now", plain)


def _without_harmless(plain: str) -> str:
    """The text without words that are of health elsewhere: `how much change shall I take`."""
    for pattern in _patterns("harmless.txt"):
        plain = str(pattern.sub(" ", plain))
    return plain


def _first(signs: Iterator[str]) -> list[str]:
    seen: dict[str, None] = {}
    for sign in signs:
        seen[sign] = None
        if len(seen) == _MOST_NAMED:
            break
    return list(seen)


def _signs(file: str, plain: str) -> Iterator[str]:
    for pattern in _patterns(file):
        for match in pattern.finditer(plain):
            yield match[0].strip()


@cache
def _patterns(file: str) -> list[Any]:
    """The patterns of a file, so many in one that RE2 has memory enough for each."""
    lines = [line.strip() for line in (_DATA / file).read_text(encoding="utf-8").splitlines()]
    signs = [line for line in lines if line and not line.startswith("#")]
    parts = [signs[at : at + _IN_ONE] for at in range(0, len(signs), _IN_ONE)]
    return [re2.compile(r"\b(?:" + "|".join(part) + ")") for part in parts]
