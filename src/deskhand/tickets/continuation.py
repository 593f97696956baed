"""How likely a message continues each of some tickets: all soft evidence as one chance.

What a message and a ticket have in common becomes numbers. One weighted sum of them says which
ticket is meant, if any is; another one, of what speaks for the likeliest tickets, whether any is.
The chances of the tickets and of none of them add up to one, so a second likely ticket makes the
first less sure. `scripts/build_continuation_weights.py` fits the weights
(docs/decisions/0116-one-chance.md).
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from deskhand.language.function_words import small_words
from deskhand.language.slots.folded_text import fold
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.candidates import Candidate, Incoming, likeness, names_others
from deskhand.tickets.checkpoints import matter_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAMES = (
    "constant",
    "comes_back",
    "follow_up",
    "near",
    "reply_words",
    "other_words",
    "short_answer",
    "other_numbers",
    "odds",
    "unanswered",
    "solved",
    "pending",
)
"""The evidence for a ticket: see `evidence`. The first three say the same of each ticket."""
WHICH = {
    "near": 1.732,
    "reply_words": 1.177,
    "other_words": -1.264,
    "short_answer": 1.069,
    "odds": 0.604,
    "unanswered": 0.766,
    "solved": -1.154,
    "pending": 1.339,
}
"""What counts for a ticket against the customer's other ones."""
WHETHER = {
    "constant": 1.578,
    "comes_back": 1.778,
    "follow_up": 1.357,
    "near": 2.185,
    "reply_words": 1.861,
    "other_words": 0.073,
    "short_answer": 1.549,
    "other_numbers": -4.863,
    "odds": 0.908,
    "unanswered": 0.575,
    "solved": -1.027,
}
"""What counts for any of them against none: of the likeliest tickets on average, of the odds all
together."""
_MIDDLE = 0.86
"""The likeness that speaks neither for a ticket nor against it."""
_TENTHS = 10.0
_UNREAD = -2.0
"""The odds of a ticket that nobody read with the message."""
_SHORT = 60
"""Characters of an answer that says nothing but what it was asked."""
_MOST_WORDS = 3
_STEM = 5
_WORD = re.compile(r"\w{3,}|\d+")


def evidence(incoming: Incoming, candidates: Sequence[Candidate]) -> "NDArray[np.float64] | None":
    """A row for each candidate with a number for each of NAMES; None where nobody can tell how
    the message sounds or how near it lies."""
    import numpy as np

    near = [likeness(incoming, candidate) for candidate in candidates]
    nearness = [value for value in near if value is not None]
    if incoming.comes_back is None or len(nearness) < len(near) or not candidates:
        return None
    said = _stems(incoming.text)
    own = [
        _stems(f"{candidate.checkpoint.subject}\n{matter_of(candidate.checkpoint)}")
        for candidate in candidates
    ]
    replies = [_stems(candidate.checkpoint.reply) for candidate in candidates]
    rows: list[list[float]] = []
    for place, candidate in enumerate(candidates):
        others = [number for number in range(len(candidates)) if number != place]
        theirs = set[str]().union(*(own[other] | replies[other] for other in others))
        is_short = "?" in candidate.checkpoint.reply and len(incoming.text) < _SHORT
        row = {
            "constant": 1.0,
            "comes_back": incoming.comes_back,
            "near": _TENTHS * (nearness[place] - _MIDDLE),
            "reply_words": _counted((said & replies[place]) - theirs),
            "other_words": _counted(said & theirs - own[place] - replies[place]),
            "short_answer": float(is_short),
            "follow_up": float(incoming.follow_up is not None),
            "other_numbers": float(names_others(incoming, candidate)),
            "odds": _odds(candidate),
            "unanswered": float(not candidate.checkpoint.reply),
            "solved": float(candidate.ticket.state is TicketState.SOLVED),
            "pending": float(candidate.ticket.state is TicketState.PENDING),
        }
        rows.append([row[name] for name in NAMES])
    return np.array(rows)


def chances_of(
    rows: "NDArray[np.float64]", which: "NDArray[np.float64]", whether: "NDArray[np.float64]"
) -> "NDArray[np.float64]":
    """The chance of each ticket; what is left to one is the chance of none."""
    import numpy as np

    shares = shares_of(rows, which)
    summed = float(gathered(rows, shares) @ whether)
    chances: NDArray[np.float64] = shares / (1 + np.exp(-np.clip(summed, -30, 30)))
    return chances


def shares_of(rows: "NDArray[np.float64]", which: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """How likely each ticket is meant, if any is."""
    import numpy as np

    sums = rows @ which
    raised = np.exp(sums - sums.max())
    shares: NDArray[np.float64] = raised / raised.sum()
    return shares


def gathered(rows: "NDArray[np.float64]", shares: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """What speaks for any of the tickets: a number for each of NAMES."""
    means: NDArray[np.float64] = shares @ rows
    odds = NAMES.index("odds")
    means[odds] = rows[:, odds].max()
    return means


def chances(incoming: Incoming, candidates: Sequence[Candidate]) -> list[float] | None:
    """How likely the message continues each; None where `evidence` is missing."""
    rows = evidence(incoming, candidates)
    if rows is None:
        return None
    return [float(chance) for chance in chances_of(rows, _weights(WHICH), _weights(WHETHER))]


def _weights(named: Mapping[str, float]) -> "NDArray[np.float64]":
    import numpy as np

    return np.array([named.get(name, 0.0) for name in NAMES])


def _stems(text: str) -> frozenset[str]:
    """The beginnings of a text's words, without the small ones."""
    words = _WORD.findall(fold(text))
    return frozenset(word[:_STEM] for word in words if word not in _small())


@cache
def _small() -> frozenset[str]:
    return frozenset(fold(word) for word in small_words())


def _counted(words: frozenset[str] | set[str]) -> float:
    return float(min(len(words), _MOST_WORDS))


def _odds(candidate: Candidate) -> float:
    """The reading model's odds."""
    if candidate.continued is None:
        return _UNREAD
    bounded = min(max(candidate.continued, 1e-3), 1 - 1e-3)
    return math.log(bounded / (1 - bounded))
