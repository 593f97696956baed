"""Which ticket a message continues, told by evidence alone. Where only meaning is left to go by, a
desk with a model asks it instead (`model_matching.py`).

The candidates are one customer's tickets. What a text says leads to one of them or to none; it
never adds another one, so no message comes to another customer's ticket.
"""

from collections.abc import Callable, Sequence

from deskhand.model.ticket import Ticket
from deskhand.model.ticket_match import MatchConfidence, MatchEvidence, MatchResult
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.candidates import Candidate, Incoming, likeness, names_others

_ORDER = (TicketState.ACTIVE, TicketState.PENDING, TicketState.OPEN, TicketState.SOLVED)
_UNFINISHED = (TicketState.ACTIVE, TicketState.PENDING, TicketState.OPEN)
ALIKE = 0.895
"""How near two texts lie that speak of one matter. Of the pairs in tests/data/ticket_pairs.yaml
without numbers, no two matters lie nearer than 0.89."""
APART = 0.012
"""By how much the best candidate must lie nearer than the next."""
LIKELY = 0.8
"""From which chance a message joins (docs/decisions/0116-one-chance.md)."""
HARDLY = 0.25
"""Words of a follow-up do not count for a ticket that the message so unlikely continues."""
NOT_AT_ALL = 0.05
"""Nor does a number that both name, without such words: `order 4417 has come. One more, please`."""
NOT_ALIKE = 0.78
"""Words of a follow-up do not count for a ticket that the rest of the message is this far from."""


_Rule = Callable[[Incoming, Sequence[Candidate]], MatchResult | None]


def is_candidate(ticket: Ticket, now: float, reopen_within: float) -> bool:
    """Whether a message may continue this ticket: unfinished, or solved not long ago."""
    if ticket.state in _UNFINISHED:
        return True
    is_recent = ticket.solved_at is not None and now - ticket.solved_at <= reopen_within
    return ticket.state is TicketState.SOLVED and is_recent


def reachable(incoming: Incoming, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The tickets that the writer may come to, in the order in which they are looked at."""
    own = [candidate for candidate in candidates if incoming.is_proven or candidate.in_conversation]
    return sorted(own, key=_rank)


def match_by_signs(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    """What ids, numbers and words of a follow-up show; None where only meaning is left."""
    ordered = reachable(incoming, candidates)
    results = (rule(incoming, ordered) for rule in _SIGNS)
    return next((result for result in results if result is not None), None)


def match(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult:
    """The first evidence in its order decides; without any, the message opens a ticket."""
    ordered = reachable(incoming, candidates)
    for rule in (*_SIGNS, *_MEANING):
        result = rule(incoming, ordered)
        if result is not None:
            return result
    why = "nothing shows that it continues one of the customer's tickets"
    if not ordered:
        why = "the customer has no ticket that it could continue"
    return MatchResult(why=why)


def _rank(candidate: Candidate) -> tuple[int, float]:
    return (_ORDER.index(candidate.ticket.state), -candidate.checkpoint.newest_at)


def _by_name(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    for candidate in candidates:
        if incoming.named == candidate.ticket.id:
            why = "the program that handed it in names this ticket"
            return _joins(candidate, MatchConfidence.HIGH, MatchEvidence.CITED, why)
    return None


def _by_conversation(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    here = [candidate for candidate in candidates if candidate.in_conversation]
    if not here:
        return None
    chosen = here[0]
    if len(here) > 1:
        chosen = _named(incoming, here) or here[0]
    return _joins(chosen, MatchConfidence.HIGH, MatchEvidence.CONVERSATION, "the same conversation")


def _by_answer(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    for candidate in candidates:
        if incoming.answered == candidate.ticket.id:
            why = "it answers a mail of ours about this ticket"
            return _joins(candidate, MatchConfidence.HIGH, MatchEvidence.ANSWERED, why)
    return None


def _named(incoming: Incoming, candidates: Sequence[Candidate]) -> Candidate | None:
    """The ticket that the message cites; None where it cites none of these, or several."""
    named = [candidate for candidate in candidates if candidate.ticket.id in incoming.cited]
    return named[0] if len(named) == 1 else None


def _by_citation(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    chosen = _named(incoming, candidates)
    if chosen is None:
        return None
    return _joins(chosen, MatchConfidence.HIGH, MatchEvidence.CITED, "it cites this ticket")


def _by_reference(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    wanted = set(incoming.references)
    sharing = [
        candidate
        for candidate in candidates
        if wanted & set(candidate.checkpoint.references) and not _is_ruled_out(incoming, candidate)
    ]
    if not sharing:
        return None
    shared = sorted(wanted & set(sharing[0].checkpoint.references))
    why = f"both name {', '.join(shared[:3])}"
    if len(sharing) == 1:
        return _joins(sharing[0], MatchConfidence.HIGH, MatchEvidence.REFERENCE, why)
    return _joins(sharing[0], MatchConfidence.MEDIUM, MatchEvidence.REFERENCE, why)


def _is_ruled_out(incoming: Incoming, candidate: Candidate) -> bool:
    """Whether a message without words of a follow-up speaks of another matter than the ticket."""
    is_read = candidate.continued is not None and incoming.follow_up is None
    return is_read and (candidate.continued or 0.0) < NOT_AT_ALL


def _by_follow_up(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    """Unfinished tickets come first: a solved one is meant only where there is no other."""
    if incoming.follow_up is None:
        return None
    unfinished = [candidate for candidate in candidates if candidate.ticket.state in _UNFINISHED]
    possible = unfinished or list(candidates)
    if len(possible) != 1 or _is_other_matter(incoming, possible[0]):
        return None
    why = f"“{incoming.follow_up}”, and there is one ticket that it can mean"
    return _joins(possible[0], MatchConfidence.MEDIUM, MatchEvidence.FOLLOW_UP, why)


def _is_other_matter(incoming: Incoming, candidate: Candidate) -> bool:
    """Whether the message names numbers that the ticket does not know, or speaks of something
    far from it."""
    if names_others(incoming, candidate):
        return True
    if candidate.continued is not None:
        return candidate.continued < HARDLY
    near = likeness(incoming, candidate)
    return near is not None and near < NOT_ALIKE


def _by_chance(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    """The ticket that the message likely continues, by all that is known of both."""
    chances = _chances(incoming, candidates)
    if chances is None:
        return None
    best = max(range(len(chances)), key=chances.__getitem__)
    if chances[best] < LIKELY:
        return None
    why = f"it likely continues this matter ({chances[best]:.2f})"
    return _joins(candidates[best], MatchConfidence.MEDIUM, MatchEvidence.MEANING, why)


def _chances(incoming: Incoming, candidates: Sequence[Candidate]) -> list[float] | None:
    """None where nobody read message and ticket together."""
    if all(candidate.continued is None for candidate in candidates):
        return None
    from deskhand.tickets.continuation import chances

    return chances(incoming, candidates)


def _by_meaning(incoming: Incoming, candidates: Sequence[Candidate]) -> MatchResult | None:
    """For desks where nobody reads message and ticket together."""
    if any(candidate.continued is not None for candidate in candidates):
        return None
    compared: list[tuple[float, Candidate]] = []
    for candidate in candidates:
        near = likeness(incoming, candidate)
        if near is not None and not names_others(incoming, candidate):
            compared.append((near, candidate))
    if not compared:
        return None
    compared.sort(key=lambda pair: -pair[0])
    best, chosen = compared[0]
    next_best = compared[1][0] if len(compared) > 1 else 0.0
    if best < ALIKE or best - next_best < APART:
        return None
    why = f"it speaks of the same matter ({best:.2f})"
    return _joins(chosen, MatchConfidence.MEDIUM, MatchEvidence.MEANING, why)


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


_SIGNS: tuple[_Rule, ...] = (
    _by_name,
    _by_conversation,
    _by_answer,
    _by_citation,
    _by_reference,
    _by_follow_up,
)
_MEANING: tuple[_Rule, ...] = (_by_chance, _by_meaning)
