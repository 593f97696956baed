"""What a plan says itself to a customer's turn, in the languages of `turn_replies.yaml`."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from deskhand.config.yaml import read_yaml
from deskhand.language.identify import identify

_TEXTS = Path(__file__).with_name("turn_replies.yaml")
_USUAL_LANGUAGE = "en"


def words_for(text: str) -> Mapping[str, str]:
    """What is said in the language of a text."""
    texts = turn_texts()
    return texts.get(identify(text).code or "", texts[_USUAL_LANGUAGE])


def confirming(values: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """The question whether these values are right."""
    shown = ", ".join(f"{name} {_shown(value)}" for name, value in values.items())
    return words["confirm"].format(values=shown)


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
    if isinstance(value, Mapping):
        return " ".join(str(part) for part in value.values())
    return str(value)
