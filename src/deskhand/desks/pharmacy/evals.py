"""How replies of golden cases are judged beside what every desk's cases can say."""

from collections.abc import Mapping
from typing import Any

from deskhand import scorer

from .word_forms import fold

_LEFT = ("sent", "answered")


@scorer("right_if_it_leaves")
def right_if_it_leaves(run: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Whether a reply that left by itself went to the right address, says what it must and nothing
    that it must not. What waits for a person is the person's to judge.

    `|` stands between alternatives; `leaves: false` means that no reply may leave.
    """
    reply = run.get("reply") or {}
    text = fold(str(reply.get("text") or ""))
    if run.get("status") not in _LEFT:
        return True
    if expected.get("leaves") is False:
        return False
    if any(_says(text, words) for words in expected.get("never", ())):
        return False
    is_addressed = fold(str(reply.get("to") or "")) == fold(str(expected["to"]))
    return is_addressed and all(_says(text, words) for words in expected.get("says", ()))


def _says(text: str, words: str) -> bool:
    return any(fold(alternative) in text for alternative in words.split("|"))
