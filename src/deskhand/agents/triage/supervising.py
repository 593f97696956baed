"""The supervisor: how urgent a ticket is, whose it is, and whether a person must have it now."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from deskhand.agents.triage.customers import customer_lookup, customer_marks
from deskhand.agents.triage.issue_reading import CONCERN_OF_FACT, IssueReading, read_issue
from deskhand.agents.triage.parts import (
    CUSTOMER_INFO,
    READING,
    TICKET,
    TriageParts,
    message_in,
    ticket_id_in,
)
from deskhand.agents.triage.translating import ticket_language
from deskhand.conditions import compile_condition
from deskhand.config.sections.triage import TriageRuleSection, TriageSection
from deskhand.language.concerns import sensitive_words
from deskhand.language.person_wish import wish_for_person
from deskhand.language.sentiment import Sentiment, SentimentReading, read_sentiment
from deskhand.model.envelope import Envelope
from deskhand.model.ticket_match import MatchEvidence
from deskhand.model.ticket_state import URGENCIES, UrgencyLevel
from deskhand.model.triage import SupervisorDecision, TicketReading, TicketType, as_document
from deskhand.ports import StageContext
from deskhand.tickets.message_hints import only_comes_back, told_meaning
from deskhand.tools.services import ServiceFunction, ServiceResult

EARLIER = "in an earlier message of the ticket"
"""What shows a concern that this message does not show itself: words of a message stay with its own
run, so that they go with it."""
_DOUBTED = 0.5
"""Below this confidence a message that continues a ticket is about what the ticket is about."""
_IMITATED = frozenset({CONCERN_OF_FACT["outage"], CONCERN_OF_FACT["outage_part"]})
"""Concerns that words such as "still nothing" are taken for."""


def supervise_through(parts: TriageParts) -> ServiceFunction:
    """The service `supervise`: the desk's conditions decide over what was read and looked up."""

    async def supervise(
        envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> ServiceResult:
        message = message_in(envelope)
        info = await customer_lookup(parts.contacts, message)
        language = ticket_language(envelope)
        text = told_meaning(message)
        mood = read_sentiment(text, language)
        alone = not ctx.goes_on_without_model
        read = await read_issue(parts, text, ctx.run_id, without_model=not alone)
        if mood.sentiment is not Sentiment.POSITIVE:
            read = await _with_history(parts, envelope, read, ctx)
        facts = facts_of(parts.spec, read, mood, language, info)
        facts |= await customer_marks(parts.contacts, message)
        facts["wishes_person"] = wish_for_person(text, language) is not None
        facts["is_sensitive"] = sensitive_words(text, language) is not None
        reading = _reading(parts.spec, read, mood, language, facts)
        decision = decide(parts.spec, facts, reading)
        return ServiceResult(
            output=as_document(decision),
            also={CUSTOMER_INFO: info, READING: as_document(reading)},
            answered=dict(read.answered),
        )

    return supervise


async def _with_history(
    parts: TriageParts,
    envelope: Envelope,
    read: IssueReading,
    ctx: StageContext,
) -> IssueReading:
    """A message that continues a ticket is about the same matter, however little it says itself:
    "still nothing..." is as urgent as what nothing was done about, and no more."""
    placed = envelope.output(TICKET)
    matching = (placed or {}).get("matching") if isinstance(placed, dict) else None
    if not isinstance(matching, dict) or matching.get("evidence") == MatchEvidence.NONE:
        return read
    ticket_id = await ticket_id_in(parts, envelope, ctx.run_id)
    ticket = await parts.tickets.find(str(ticket_id))
    checkpoint = await parts.tickets.checkpoint(ticket)
    earlier = await read_issue(
        parts,
        f"{checkpoint.subject}\n{checkpoint.summary}",
        ctx.run_id,
        without_model=ctx.goes_on_without_model,
    )
    own = read.concerns
    if only_comes_back(message_in(envelope)):
        own = {name: words for name, words in own.items() if name not in _IMITATED}
    concerns = dict.fromkeys(earlier.concerns, EARLIER) | own
    if read.confidence >= _DOUBTED or earlier.confidence < read.confidence:
        return replace(read, concerns=concerns)
    return replace(
        read,
        issue=earlier.issue,
        confidence=earlier.confidence,
        department=earlier.department,
        concerns=concerns,
    )


def facts_of(
    spec: TriageSection,
    read: IssueReading,
    mood: SentimentReading,
    language: str,
    info: Mapping[str, Any],
) -> dict[str, Any]:
    """What the conditions speak of."""
    plan = info.get("plan")
    return {
        **info,
        "plan": plan.lower() if isinstance(plan, str) else None,
        "issue": read.issue,
        "ticket_type": read.department.value,
        "concerns": list(read.concerns),
        "sentiment": mood.sentiment.value,
        "language": language,
    }


def _reading(
    spec: TriageSection,
    read: IssueReading,
    mood: SentimentReading,
    language: str,
    facts: Mapping[str, Any],
) -> TicketReading:
    return TicketReading(
        category=read.issue,
        confidence=round(min(1.0, max(0.0, read.confidence)), 4),
        language=language,
        sentiment=mood.sentiment.value,
        sentiment_is_sure=mood.is_sure,
        concerns=tuple(read.concerns),
        evidence={concern: words[:200] for concern, words in read.concerns.items()},
        triggers=applying(spec.escalate, facts),
        for_people=applying(spec.for_people, facts),
    )


def applying(rules: Sequence[TriageRuleSection], facts: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the rules whose condition holds."""
    return tuple(rule.name for rule in rules if compile_condition(rule.when).matches(facts))


def urgency_of(spec: TriageSection, facts: Mapping[str, Any]) -> UrgencyLevel:
    """The strictest row of the table that applies; `medium` where none does."""
    rows = [row.urgency for row in spec.urgency if compile_condition(row.when).matches(facts)]
    return min(rows, key=URGENCIES.index, default=UrgencyLevel.MEDIUM)


def decide(
    spec: TriageSection, facts: Mapping[str, Any], reading: TicketReading
) -> SupervisorDecision:
    urgency = urgency_of(spec, facts)
    who = f"{facts['plan'].capitalize()} customer" if facts.get("plan") else "Customer"
    about = reading.category.replace("_", " ")
    words = [f"{who} with {about}"]
    for concern in reading.concerns:
        evidence = " ".join(reading.evidence[concern].split())[:120]
        words.append(f"{concern.replace('_', ' ')}: “{evidence}”")
    if reading.triggers:
        words.append(f"a person must have it: {', '.join(reading.triggers)}")
    return SupervisorDecision(
        urgency=urgency,
        ticket_type=TicketType(str(facts["ticket_type"])),
        reasoning="; ".join(words),
        requires_escalation=bool(reading.triggers),
    )
