"""What a ticket is about, whose matter it is, and what in it is alarming."""

import asyncio
from dataclasses import dataclass

from deskhand.agents.triage.parts import TriageParts
from deskhand.config.sections.triage import TriageSection
from deskhand.language.concerns import Concern, concern_of_all
from deskhand.language.ticket_facts import department_of, facts_in
from deskhand.model.tasks import OTHER, Answer, Task, TaskKind
from deskhand.model.triage import TicketType

CONCERN_OF_FACT = {
    "outage": "outage",
    "outage_part": "disruption",
    "data_loss": "data_loss",
    "security": "security",
    "billing_error": "billing_error",
    "legal": "legal",
    "regulator": "regulator",
    "press": "press",
}
"""The concern of a desk's issues that a fact of a ticket stands for."""
LEGAL = CONCERN_OF_FACT["legal"]
_SURE = 0.9
"""From which probability the reader of all messages is believed about a legal matter: it has seen
more of them than the reader of tickets."""
_READ = frozenset(CONCERN_OF_FACT.values())
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class IssueReading:
    """The issue of a ticket, its department, and the concerns with the words that show each."""

    issue: str
    confidence: float
    department: TicketType
    concerns: dict[str, str]
    answered: dict[str, object]


async def read_issue(
    parts: TriageParts, text: str, run_id: str, *, without_model: bool
) -> IssueReading:
    """The issue as the desk's brain sees it; concerns and department from the words themselves.

    What an LLM says counts too: its issue may add a concern, and names the department. It takes no
    concern away. A concern that only this desk has is known by the examples of its issue.
    """
    answer = await parts.asked_brain().answer(
        Task(
            kind=TaskKind.CLASSIFY,
            stage="supervisor",
            run_id=run_id,
            text=text,
            choices=tuple(parts.spec.issues),
            without_model=without_model,
        )
    )
    issue, confidence = _chosen(answer)
    concerns = await asyncio.to_thread(concerns_in_ticket, parts.spec, text)
    department = TicketType(await asyncio.to_thread(department_of, text))
    named = parts.spec.issues.get(issue)
    if named is not None and answer.model is not None:
        department = named.type or department
    own = None if named is None or confidence < parts.spec.concern_at else named.concern
    if own is not None and (answer.model is not None or own not in _READ):
        concerns.setdefault(own, text[:_SHOWN])
    return IssueReading(issue, confidence, department, concerns, answer.answered)


def _chosen(answer: Answer) -> tuple[str, float]:
    """The category; the likeliest one where the embedded brain had better not say."""
    fields = answer.data
    best = fields.get("best")
    if fields.get("abstained") and isinstance(best, str):
        return best, float(fields.get("best_confidence") or 0.0)
    return str(fields.get("category") or OTHER), float(fields.get("confidence") or 0.0)


def concerns_in_ticket(spec: TriageSection, text: str) -> dict[str, str]:
    """The concerns that the desk's issues name and the text shows, with the words of each."""
    named = {issue.concern for issue in spec.issues.values() if issue.concern}
    concerns: dict[str, str] = {}
    for fact, words in facts_in(text).items():
        concern = CONCERN_OF_FACT.get(fact)
        if concern is not None and concern in named:
            concerns.setdefault(concern, words)
    if LEGAL in named - concerns.keys():
        legal = concern_of_all(text, Concern.LEGAL, _SURE)
        concerns |= {} if legal is None else {LEGAL: legal}
    return concerns
