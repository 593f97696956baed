"""Asks a model which of a customer's tickets a message continues, where nothing harder shows it.

The model is given the same candidates as everybody else and chooses among their ids or none: what
a message says cannot lead it to another customer's ticket.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from deskhand.errors import ModelAnswerInvalid, ModelAway, ModelRefused, ModelUnavailable
from deskhand.model.tasks import Answer, Task, TaskKind
from deskhand.model.ticket_match import MatchConfidence, MatchEvidence, MatchResult
from deskhand.model.ticket_state import TicketState
from deskhand.ports import Brain
from deskhand.tickets.candidates import Candidate, Incoming, names_others
from deskhand.tickets.checkpoints import read_text

STAGE = "match"
SURE, LIKELY = 0.85, 0.6
"""From which chance the model's choice counts as high and as medium; below it opens a ticket."""
_SHORT = 2
"""A ticket of so many messages is told as it is: it is as short as its summary."""
_KEPT = 1000
_EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class AskedMatch:
    """What a model said, and who it was; `result` is None where it said nothing of use."""

    result: MatchResult | None = None
    answered: dict[str, Any] = field(default_factory=dict)


class TicketMatcher:
    """One desk's. Summaries are kept by ticket and event, so each is asked for once."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain
        self._summaries: OrderedDict[tuple[str, int], str] = OrderedDict()

    async def match(
        self,
        run_id: str,
        incoming: Incoming,
        candidates: Sequence[Candidate],
        *,
        without_model: bool = False,
    ) -> AskedMatch:
        """What the model says about a message and the tickets that it can continue.

        ModelAway passes through, since the run then waits; after any other fault, and where no
        model was asked after all, the desk's own evidence decides.
        """
        possible = [candidate for candidate in candidates if not names_others(incoming, candidate)]
        if not possible:
            return AskedMatch()
        try:
            described = [
                await self._described(run_id, candidate, without_model) for candidate in possible
            ]
            task = Task(
                kind=TaskKind.MATCH,
                stage=STAGE,
                run_id=run_id,
                text=incoming.text,
                inputs={"candidates": described},
                choices=tuple(candidate.ticket.id for candidate in possible),
                without_model=without_model,
            )
            answer = await self._brain.answer(task)
        except ModelAway:
            if not without_model:
                raise
            return AskedMatch()
        except (ModelUnavailable, ModelRefused, ModelAnswerInvalid):
            return AskedMatch()
        if answer.brain == _EMBEDDED:
            return AskedMatch()
        return AskedMatch(_result(answer, possible), answer.answered)

    async def _described(
        self, run_id: str, candidate: Candidate, without_model: bool
    ) -> dict[str, Any]:
        """A ticket as the model is told of it."""
        return {
            "id": candidate.ticket.id,
            "state": candidate.ticket.state.value,
            "subject": candidate.checkpoint.subject,
            "summary": await self._summary(run_id, candidate, without_model),
            "our_last_reply": candidate.checkpoint.reply,
        }

    async def _summary(self, run_id: str, candidate: Candidate, without_model: bool) -> str:
        """What a ticket is about: in the model's words where it has many messages."""
        if candidate.checkpoint.messages <= _SHORT:
            return candidate.checkpoint.summary
        key = (candidate.ticket.id, candidate.checkpoint.number)
        if key not in self._summaries:
            task = Task(
                kind=TaskKind.SUMMARISE,
                stage=STAGE,
                run_id=run_id,
                text=read_text(candidate.checkpoint),
                without_model=without_model,
            )
            self._keep(key, str((await self._brain.answer(task)).data["text"]))
        return self._summaries[key] or candidate.checkpoint.summary

    def _keep(self, key: tuple[str, int], text: str) -> None:
        self._summaries[key] = text
        while len(self._summaries) > _KEPT:
            self._summaries.popitem(last=False)


def _result(answer: Answer, candidates: Sequence[Candidate]) -> MatchResult:
    fields = answer.data
    chance = float(fields["confidence"])
    chosen = next(
        (candidate for candidate in candidates if candidate.ticket.id == fields["match"]), None
    )
    if chosen is None or chance < LIKELY:
        return MatchResult(why=f"the model takes it for none of the tickets ({chance:.2f})")
    return MatchResult(
        matched_ticket_id=chosen.ticket.id,
        confidence=MatchConfidence.HIGH if chance >= SURE else MatchConfidence.MEDIUM,
        evidence=MatchEvidence.MEANING,
        why=f"the model takes it for this matter ({chance:.2f})",
        reopens=chosen.ticket.state is TicketState.SOLVED,
    )
