"""What a plan says itself to a customer's turn, in the languages of `turn_replies.yaml`."""

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from deskhand.brain.declared_plans import words_in
from deskhand.config.yaml import read_yaml
from deskhand.language.identify import identify

_TEXTS = Path(__file__).with_name("turn_replies.yaml")
_USUAL_LANGUAGE = "en"


SlotLabels = Mapping[str, Mapping[str, str]]
"""What customers read as the name of each slot, by language."""

_SENTENCE_END = re.compile(r"(?<=[^\W\d_]{4})[.!?…]+\s+(?=[^\W\d_])|\s*\n+\s*")
"""Where a customer's own words go on: they are shown in one question, and promise nothing."""
_LABEL_OF = "the label of {}"
"""The key of a slot's label among the words."""


def words_for(
    text: str, labels: SlotLabels | None = None, spoken: str | None = None
) -> Mapping[str, str]:
    """What is said in the language that is spoken, else in that of a text, with the slots' labels
    in it."""
    texts = turn_texts()
    codes = (spoken or "", identify(text).code or "", _USUAL_LANGUAGE)
    language = next(code for code in codes if code in texts)
    words = dict(texts[language])
    for slot, label in (labels or {}).items():
        words[_LABEL_OF.format(slot)] = words_in(label, language) or slot
    return words


def confirming(values: Mapping[str, Any], words: Mapping[str, str], tool: str = "") -> str:
    """The question whether these values are right, and whether this is what shall be done."""
    shown = _named(values, words)
    done = words.get(_LABEL_OF.format(tool))
    if done:
        shown.insert(0, done)
    return words["confirm"].format(values=", ".join(shown))


def noted(values: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """What is said to somebody who put values right."""
    return words["noted"].format(values=", ".join(_named(values, words)))


def _named(values: Mapping[str, Any], words: Mapping[str, str]) -> list[str]:
    return [
        f"{words.get(_LABEL_OF.format(name), name)} {_shown(value)}"
        for name, value in values.items()
    ]


def which_of(values: list[Any], words: Mapping[str, str]) -> str:
    """What is said to somebody who means another one, where there are several."""
    shown = ", ".join(_shown(value) for value in values)
    return words["which_of"].format(values=shown) if values else words["which"]


@cache
def turn_texts() -> Mapping[str, Mapping[str, str]]:
    return read_yaml(_TEXTS).data


def _shown(value: Any) -> str:
    """A value as a customer writes it. Of money, only the number: a sum with its currency would be
    a promise that nothing stands behind."""
    if isinstance(value, Mapping) and "amount" in value:
        return str(value["amount"])
    if isinstance(value, Mapping) and "share" in value:
        return _shown_share(Fraction(str(value["share"])))
    if isinstance(value, Mapping):
        return " ".join(str(part) for part in value.values())
    return _SENTENCE_END.sub(", ", str(value)).rstrip(".!?… ")


def _shown_share(share: Fraction) -> str:
    """A share in percent where that is a whole number, as `50 %`."""
    percent = share * 100
    return f"{percent} %" if percent.denominator == 1 else str(share)
