"""Words of a reply that nothing stands behind."""

from typing import Any, Literal, NamedTuple

from deskhand.outgoing.values import Value

ClaimKind = Literal[
    "value",
    "name",
    "link",
    "statement",
    "opposite",
    "answer",
    "deed",
    "record",
    "open",
    "holding",
    "refused",
    "quote",
    "data",
    "subject",
]
"""What is not backed: something that is told, a yes or a no, what somebody did, what a result says,
what is left open, the reply as a whole, or what a second reader does not find."""


class UnbackedClaim(NamedTuple):
    """Words of a reply that nothing stands behind."""

    kind: ClaimKind
    text: str
    reason: str
    start: int
    end: int
    value: Value | None = None
    """The value that is not backed, with the unit that the words around it give it."""
    is_for_words_alone: bool = False
    """Whether the sentence tells of a deed or states a dose: no second reader settles that."""

    def as_json(self) -> dict[str, Any]:
        """What a reviewer's screen shows."""
        shown = self._asdict()
        del shown["value"], shown["is_for_words_alone"]
        return {**shown, "field": "text"}
