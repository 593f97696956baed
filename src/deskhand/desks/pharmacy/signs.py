"""Whether a message asks for medical advice, tells of an emergency or gives orders: word checks,
wide on purpose.

An availability question that goes to a person for nothing costs a minute; a dosage that a program
answered may cost more. So a single sign anywhere in the message is enough, whatever else it asks.
No model has a say in it.
"""

from functools import cache
from pathlib import Path
from typing import Any

import re2

from .word_forms import fold

_DATA = Path(__file__).parent / "data"
_MOST_READ = 100_000
_MOST_NAMED = 3


def emergency_signs(text: str) -> list[str]:
    """Words that tell of an overdose, a poisoning or a life in danger."""
    return _signs("emergency.txt", text)


def medical_signs(text: str) -> list[str]:
    """Words of somebody who asks for advice about medicine or speaks of his health; those of an
    emergency first."""
    return emergency_signs(text) or _signs("medical.txt", text)


def order_signs(text: str) -> list[str]:
    """Words of somebody who gives orders to a program."""
    return _signs("orders.txt", text)


def _signs(file: str, text: str) -> list[str]:
    if len(text) > _MOST_READ:
        return ["more text than is read"]
    plain = " ".join(fold(text).replace("’", "'").split())
    signs: dict[str, None] = {}
    for match in _pattern(file).finditer(plain):
        signs[match[0].strip()] = None
        if len(signs) == _MOST_NAMED:
            break
    return list(signs)


@cache
def _pattern(file: str) -> Any:
    lines = [line.strip() for line in (_DATA / file).read_text(encoding="utf-8").splitlines()]
    signs = [line for line in lines if line and not line.startswith("#")]
    return re2.compile(r"\b(?:" + "|".join(signs) + ")")
