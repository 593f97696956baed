"""Which ticket a message continues, told by evidence alone: no model is asked.

The candidates are one customer's tickets. What a text says leads to one of them or to none; it
never adds another one, so no message comes to another customer's ticket.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deskhand.model.ticket import (
    MatchConfidence,
    MatchEvidence,
    MatchResult,
    Ticket,
    TicketCheckpoint,
)
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.checkpoints import direction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REOPEN_WITHIN = 14 * 86400.0
"""How long after it was solved a message reopens a ticket."""
_ORDER = (TicketState.ACTIVE, TicketState.PENDING, TicketState.OPEN, TicketState.SOLVED)
_UNFINISHED = (TicketState.ACTIVE, TicketState.PENDING, TicketState.OPEN)
ALIKE = 0.895
"""How near two texts lie that speak of one matter. Of the pairs in tests/data/ticket_pairs.yaml
without numbers, no two matters lie nearer than 0.89."""
APART = 0.012
"""By how much the best candidate must lie nearer than the next."""
CONTINUED = 0.9
"""How likely the best candidate must be continued, as the reading model sees it."""
OTHERS = 0.45
"""How likely no other candidate may be."""
HARDLY = 0.1
"""Words of a follow-up do not count for a ticket that the message so unlikely continues."""
NEAR = 15.0
"""What likeness to a ticket counts, beside sounding as if the message came back to something."""
MIDDLE = 0.86
"""The likeness that speaks neither for a ticket nor against it."""
READ = 0.2
"""What the reading model's odds count."""
UNREAD = -1.0
"""The odds of a ticket that nobody read with the message."""
COMES_BACK = 0.1
"""From which sum a message joins. On the pairs in tests/data/ticket_pairs.yaml 19 of 20 are right
that join by this alone."""
CLEAR = 0.1
"""By how much the best candidate must lead."""
NOT_ALIKE = 0.78
"""Words of a follow-up do not count for a ticket that the rest of the message is this far from."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """What a new message brings to the comparison."""

    conversation: str
    is_proven: bool
    """Whether somebody vouched for the sender: else only his own conversation counts."""
    cited: tuple[str, ...] = ()
    """Tickets that it names; a merged one stands as the ticket that it became part of."""
    references: tuple[str, ...] = ()
    follow_up: str | None = None
    answered: str | None = None
    """The ticket that the mail of ours was about which this message answers."""
    vector: "NDArray[np.float32] | None" = None
    comes_back: float | None = None
    """How much it sounds as if it came back to something: log odds. None where nobody can tell."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the customer's tickets that the message may continue."""

    ticket: Ticket
    checkpoint: TicketCheckpoint
    in_conversation: bool = False
    """Whether one of its messages came in the same conversation."""
    continued: float | None = None
    """How likely the message continues it, as the reading model sees both; None where nobody
    read them."""


_Rule = Callable[[Incoming, Sequence[Candidate]], MatchResult | None]


def is_candidate(ticket: Ticket, now: float, reopen_within: float) -> bool:
    """Whether a message may continue this ticket: unfinished, or solved not long ago."""
    if ticket.state in _UNFINISHED:
        return True
    is_recent = ticket.solved_at is not None and now - ticket.solved_at <= reopen_within
    return ticket.state is TicketState.SOLVED and is_recent


def match(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult:
    """The first evidence in its order decides; without any, the message opens a ticket."""
    reachable = [one for one in candidates if incoming.is_proven or one.in_conversation]
    ordered = sorted(reachable, key=_rank)
    for rule in _RULES:
        found = rule(incoming, ordered)
        if found is not None:
            return found
    why = "nothing shows that it continues one of the customer's tickets"
    if not ordered:
        why = "the customer has no ticket that it could continue"
    return MatchResult(why=why)


def _rank(candidate: Candidate) -> tuple[int, float]:
    return (_ORDER.index(candidate.ticket.state), -candidate.checkpoint.newest_at)


def _by_conversation(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    here = [one for one in candidates if one.in_conversation]
    if not here:
        return None
    chosen = here[0]
    if len(here) > 1:
        chosen = _named(incoming, here) or here[0]
    return _joins(chosen, MatchConfidence.HIGH, MatchEvidence.CONVERSATION, "the same conversation")


def _by_answer(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    for one in candidates:
        if incoming.answered == one.ticket.id:
            why = "it answers a mail of ours about this ticket"
            return _joins(one, MatchConfidence.HIGH, MatchEvidence.ANSWERED, why)
    return None


def _named(incoming: Incoming, candidates: Sequence[Candidate]) -> Candidate | None:
    """The ticket that the message cites; None where it cites none of these, or several."""
    named = [one for one in candidates if one.ticket.id in incoming.cited]
    return named[0] if len(named) == 1 else None


def _by_citation(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    chosen = _named(incoming, candidates)
    if chosen is None:
        return None
    return _joins(chosen, MatchConfidence.HIGH, MatchEvidence.CITED, "it cites this ticket")


def _by_reference(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    wanted = set(incoming.references)
    sharing = [one for one in candidates if wanted & set(one.checkpoint.references)]
    if not sharing:
        return None
    shared = sorted(wanted & set(sharing[0].checkpoint.references))
    why = f"both name {', '.join(shared[:3])}"
    if len(sharing) == 1:
        return _joins(sharing[0], MatchConfidence.HIGH, MatchEvidence.REFERENCE, why)
    return _joins(sharing[0], MatchConfidence.MEDIUM, MatchEvidence.REFERENCE, why)


def _by_follow_up(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    """Unfinished tickets come first: a solved one is meant only where there is no other."""
    if incoming.follow_up is None:
        return None
    unfinished = [one for one in candidates if one.ticket.state in _UNFINISHED]
    possible = unfinished or list(candidates)
    if len(possible) != 1 or _is_other_matter(incoming, possible[0]):
        return None
    why = f"“{incoming.follow_up}”, and there is one ticket that it can mean"
    return _joins(possible[0], MatchConfidence.MEDIUM, MatchEvidence.FOLLOW_UP, why)


def _is_other_matter(incoming: Incoming, candidate: Candidate) -> bool:
    """Whether the message names numbers that the ticket does not know, or speaks of something
    far from it."""
    if _names_others(incoming, candidate):
        return True
    if candidate.continued is not None:
        return candidate.continued < HARDLY
    likeness = _likeness(incoming, candidate)
    return likeness is not None and likeness < NOT_ALIKE


def _names_others(incoming: Incoming, candidate: Candidate) -> bool:
    held = set(candidate.checkpoint.references)
    return bool(incoming.references) and bool(held) and held.isdisjoint(incoming.references)


def _by_reading(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    """One ticket that the message surely continues, and no other that it may continue as well."""
    read: list[tuple[float, Candidate]] = []
    for one in candidates:
        if one.continued is not None and not _names_others(incoming, one):
            read.append((one.continued, one))
    read.sort(key=lambda pair: -pair[0])
    if not read or read[0][0] < CONTINUED:
        return None
    if len(read) > 1 and read[1][0] >= OTHERS:
        return None
    probability, chosen = read[0]
    why = f"it reads as a continuation ({probability:.2f})"
    return _joins(chosen, MatchConfidence.MEDIUM, MatchEvidence.MEANING, why)


def _by_coming_back(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    """One ticket that lies nearest to a message which sounds as if it came back to something."""
    if incoming.comes_back is None:
        return None
    summed: list[tuple[float, Candidate]] = []
    for one in candidates:
        likeness = _likeness(incoming, one)
        if likeness is None or _names_others(incoming, one):
            continue
        near = NEAR * (likeness - MIDDLE)
        summed.append((incoming.comes_back + near + READ * _odds(one.continued), one))
    summed.sort(key=lambda pair: -pair[0])
    if not summed or summed[0][0] < COMES_BACK:
        return None
    if len(summed) > 1 and summed[0][0] - summed[1][0] < CLEAR:
        return None
    score, chosen = summed[0]
    why = f"it comes back to this matter ({score:.2f})"
    return _joins(chosen, MatchConfidence.MEDIUM, MatchEvidence.MEANING, why)


def _odds(chance: float | None) -> float:
    if chance is None:
        return UNREAD
    bounded = min(max(chance, 1e-4), 1 - 1e-4)
    return math.log(bounded / (1 - bounded))


def _by_meaning(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    """For desks where nobody reads message and ticket together."""
    if any(one.continued is not None for one in candidates):
        return None
    compared: list[tuple[float, Candidate]] = []
    for one in candidates:
        likeness = _likeness(incoming, one)
        if likeness is not None and not _names_others(incoming, one):
            compared.append((likeness, one))
    if not compared:
        return None
    compared.sort(key=lambda pair: -pair[0])
    best, chosen = compared[0]
    next_best = compared[1][0] if len(compared) > 1 else 0.0
    if best < ALIKE or best - next_best < APART:
        return None
    why = f"it speaks of the same matter ({best:.2f})"
    return _joins(chosen, MatchConfidence.MEDIUM, MatchEvidence.MEANING, why)


def _likeness(incoming: Incoming, candidate: Candidate) -> float | None:
    held = direction(candidate.checkpoint)
    if incoming.vector is None or held is None or held.shape != incoming.vector.shape:
        return None
    return float(held @ incoming.vector)


def _joins(
    candidate: Candidate, confidence: MatchConfidence, evidence: MatchEvidence, why: str
) -> MatchResult:
    return MatchResult(
        matched_ticket_id=candidate.ticket.id,
        confidence=confidence,
        evidence=evidence,
        why=why,
        reopens=candidate.ticket.state is TicketState.SOLVED,
    )


_RULES: tuple[_Rule, ...] = (
    _by_conversation,
    _by_answer,
    _by_citation,
    _by_reference,
    _by_follow_up,
    _by_reading,
    _by_coming_back,
    _by_meaning,
)
