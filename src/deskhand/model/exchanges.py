"""Messages that were answered, kept so that the next one like them finds how."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

How = Literal["sent", "approved", "edited"]
"""Who let the reply go: nobody but the desk, a person as it was, or a person in other words."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One message and its reply."""

    run_id: str
    person: str
    """A digest of the address that was answered: tells people apart, names nobody."""
    owner: str | None
    """A digest of who the sender was proven to be; None for one whom nobody vouched for."""
    category: str | None
    language: str | None
    how: How
    question: str
    answer: str
    answered_at: float


@dataclass(frozen=True, slots=True)
class LearnedExchange:
    """An exchange with what it is found by."""

    exchange: Exchange
    vector: bytes
    """float16, little endian."""
    sentences: tuple[str, ...]
    """Digests of the reply's sentences, where a person let it go."""


@dataclass(frozen=True, slots=True)
class ExchangeQuery:
    """A message that looks for its like."""

    vector: "NDArray[np.float32]"
    person: str
    owner: str | None
    limit: int = 3


@dataclass(frozen=True, slots=True)
class FoundExchange:
    exchange: Exchange
    similarity: float
