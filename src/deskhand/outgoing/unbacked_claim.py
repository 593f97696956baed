"""Words of a reply that nothing stands behind."""

from typing import Any, Literal, NamedTuple

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

    def as_json(self) -> dict[str, Any]:
        """What a reviewer's screen shows."""
        return {**self._asdict(), "field": "text"}
