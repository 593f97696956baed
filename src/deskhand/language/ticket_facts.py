"""What really happened to whoever wrote a ticket, whose matter it is, and how the writer feels.

A trained model reads the ticket (`message_reader.py`): a question about backups is no lost data,
and an outage of last year is none.
"""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.language.concerns import pieces_of
from deskhand.language.message_reader import (
    Graph,
    MessageReader,
    MessageReading,
    shared_message_reader,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLLOW_UP_WEIGHTS = Path(__file__).with_name("follow_up_weights.npy")
LIKELY = {
    "outage": 0.25,
    "outage_part": 0.45,
    "data_loss": 0.3,
    "security": 0.22,
    "billing_error": 0.25,
    "refund": 0.2,
    "cancel": 0.25,
    "legal": 0.2,
    "regulator": 0.2,
    "press": 0.2,
}
"""From which probability a fact counts, chosen on lines that were held out of the training."""
LIKELY_IN_LONG = {
    "outage": 0.4,
    "outage_part": 0.5,
    "data_loss": 0.3,
    "security": 0.3,
    "billing_error": 0.3,
    "refund": 0.35,
    "cancel": 0.3,
    "legal": 0.45,
    "regulator": 0.35,
    "press": 0.25,
}
"""The same in more than a line, of which many sentences are looked at: what really happened is then
told at some length."""
LIKELY_IN_LONGER = {**LIKELY_IN_LONG, "data_loss": 0.6, "security": 0.7}
"""In a message of several sentences these two alarms tell plainly of what happened, or nothing did:
its accounts, colleagues and data are spoken of in many others as well."""
NOT_DENIED = 0.1
"""What the whole of a message must say of a fact that one piece of it shows: "will they vanish?" is
no lost data where the rest asks how a colleague is taken out. Only where it could be read whole."""
SURE_DEPARTMENT = 0.8
"""From which probability an ask has a department of its own, apart from its ticket's."""
A_LINE, A_PARAGRAPH = 100, 400
"""Characters of a short message, and of one of a few sentences."""
LONGEST = 6_000
_FACT = "fact"
_SMALLEST = 1e-9
"""No chance is nearer to none or to all than this: its odds stay a number."""


def _wanted(length: int) -> dict[str, float]:
    """From which probability each fact counts in a message of this length."""
    if length <= A_LINE:
        return LIKELY
    return LIKELY_IN_LONG if length <= A_PARAGRAPH else LIKELY_IN_LONGER


def facts_in(text: str, reader: MessageReader | None = None) -> dict[str, str]:
    """The facts of a ticket with the words that show each."""
    read = text[:LONGEST]
    wanted = _wanted(len(read.strip()))
    readers = [reader] if reader is not None else _both_readers()
    whole = [each.read(read) for each in readers]
    by_piece = [_facts_of(whole)]
    for piece in pieces_of(read):
        by_piece.append(_facts_of([each.read(piece) for each in readers]))
    facts: dict[str, str] = {}
    for fact, least in wanted.items():
        chance, words = max(piece[fact] for piece in by_piece)
        is_denied = whole[0].is_whole and by_piece[0][fact][0] < NOT_DENIED
        if chance >= least and not is_denied:
            facts[fact] = words
    return facts


def _facts_of(readings: Sequence[MessageReading]) -> dict[str, tuple[float, str]]:
    """The mean chance of each fact, and the words that the first reading shows for it."""
    facts: dict[str, tuple[float, str]] = {}
    for fact in LIKELY:
        chances = [reading.probability(_FACT, fact) for reading in readings]
        facts[fact] = (sum(chances) / len(chances), readings[0].words[_FACT][fact])
    return facts


def _both_readers() -> list[MessageReader]:
    """The layers for tickets, and older ones for all messages: their mean is right more often than
    either."""
    return [shared_message_reader(Graph.TICKETS), shared_message_reader(Graph.FACTS)]


def department_of(text: str, reader: MessageReader | None = None) -> str:
    """Whose matter a ticket is: `billing`, `technical` or `general`."""
    reading = (reader or shared_message_reader(Graph.TICKETS)).read(text[:LONGEST])
    department, _ = reading.best("type")
    return department


def sure_department_of(text: str, reader: MessageReader | None = None) -> str | None:
    """Whose matter a single ask is; None where its few words do not tell."""
    reading = (reader or shared_message_reader(Graph.TICKETS)).read(text[:LONGEST])
    department, probability = reading.best("type")
    return department if probability >= SURE_DEPARTMENT else None


def continuations(
    message: str, tickets: Sequence[str], reader: MessageReader | None = None
) -> list[float]:
    """How likely the message continues each ticket, given as its subject and messages: the mean of
    the odds that two trainings give."""
    readers = [reader] if reader is not None else _both_pair_readers()
    chances: list[float] = []
    for ticket in tickets:
        read = [each.read(message[:LONGEST], ticket) for each in readers]
        odds = [_odds(reading.probability("continues", "continues")) for reading in read]
        chances.append(1 / (1 + math.exp(-sum(odds) / len(odds))))
    return chances


def _odds(probability: float) -> float:
    bounded = min(max(probability, _SMALLEST), 1 - _SMALLEST)
    return math.log(bounded / (1 - bounded))


def _both_pair_readers() -> list[MessageReader]:
    return [shared_message_reader(Graph.PAIRS), shared_message_reader(Graph.PAIRS_EARLIER)]


def follow_up_score(vector: "NDArray[np.float32] | None") -> float | None:
    """How much a message sounds as if it came back to something, whatever that is: log odds.

    "Tried it as you said, no luck" presupposes an exchange; "How do I export a board?" does not. A
    linear model over the message's embedding tells them apart. `scripts/build_follow_up_model.py`
    fits it (docs/decisions/0111-coming-back.md). None for a vector of another model.
    """
    weights = _follow_up_weights()
    if vector is None or vector.shape[0] + 1 != weights.shape[0]:
        return None
    return float(vector @ weights[:-1] + weights[-1])


@cache
def _follow_up_weights() -> "NDArray[np.float32]":
    import numpy as np

    weights: NDArray[np.float32] = np.load(FOLLOW_UP_WEIGHTS)
    return weights
