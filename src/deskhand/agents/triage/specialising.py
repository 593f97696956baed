"""The specialists: what the articles of their category say, and what to do about a ticket."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from deskhand.agents.routing import facts_for_texts
from deskhand.agents.triage.asking import ASKS, RoutedAsk, keep_asks, route_asks, with_answers
from deskhand.agents.triage.parts import (
    CUSTOMER_INFO,
    KB_RESULTS,
    READING,
    SUPERVISOR_DECISION,
    TriageParts,
    message_in,
    ticket_id_in,
)
from deskhand.errors import PermanentError
from deskhand.knowledge.search import in_category
from deskhand.language.sentiment import LANGUAGES, Sentiment
from deskhand.model.envelope import Envelope
from deskhand.model.knowledge import Hit
from deskhand.model.placeholders import unfilled_placeholders
from deskhand.model.tasks import Task, TaskKind
from deskhand.model.ticket import DESK, Ticket
from deskhand.model.ticket_state import URGENCIES, UrgencyLevel
from deskhand.model.triage import (
    ExtractedInfo,
    RecommendedAction,
    SupervisorDecision,
    TicketReading,
    TicketType,
    TriageResult,
    as_document,
)
from deskhand.ports import StageContext
from deskhand.tickets.handling import judge, person_has
from deskhand.tickets.message_hints import own_words
from deskhand.tools.services import ServiceFunction, ServiceResult

_MOST_ARTICLES = 5
_LONGEST_SHOWN = 200
_CALM = (UrgencyLevel.MEDIUM, UrgencyLevel.LOW)


def decision_in(envelope: Envelope) -> tuple[SupervisorDecision, TicketReading]:
    """What the supervisor put down; PermanentError where no such stage ran."""
    decision, reading = envelope.output(SUPERVISOR_DECISION), envelope.output(READING)
    if not isinstance(decision, dict) or not isinstance(reading, dict):
        raise PermanentError("no `service: supervise` stage has looked at the ticket before")
    return SupervisorDecision.model_validate(decision), TicketReading.model_validate(reading)


def specialise_through(parts: TriageParts) -> ServiceFunction:
    """The service `specialise`: a draft from the articles of one category, and the result."""

    async def specialise(
        envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> ServiceResult:
        decision, reading = decision_in(envelope)
        category = settings.get("category")
        await _to_group(parts, envelope, ctx.run_id, decision, reading)
        message = message_in(envelope)
        whose, feeling = decision.ticket_type, reading.sentiment
        asks = await route_asks(message, reading.language, whose, feeling)
        answer = await parts.asked_brain().answer(_drafting(envelope, ctx, category))
        draft = answer.data
        asks = await with_answers(asks, draft)
        await _keep(parts, envelope, ctx.run_id, asks)
        hits = await in_category(parts.knowledge, category).search(
            own_words(message), limit=_MOST_ARTICLES
        )
        against = reasons_against_answering(decision, reading, draft)
        against += _open_asks(asks, draft)
        action = _action(reading, against)
        waits = against + _in_another_language(reading, draft)
        result = TriageResult(
            urgency=decision.urgency,
            extracted_info=extracted(decision, reading),
            recommended_action=action,
            suggested_response=_suggested(draft),
            relevant_articles=_articles(draft, hits),
            reasoning="; ".join([decision.reasoning, *reading.for_people, *waits]),
        )
        if waits or action is not RecommendedAction.AUTO_RESPOND:
            why = "; ".join([*reading.for_people, *waits])
            draft = {**draft, "hand_over": True, "reason": why}
        return ServiceResult(
            output=as_document(result),
            also={
                KB_RESULTS: [_shown(hit) for hit in hits],
                ASKS: _routed(parts, asks),
                "draft": draft,
            },
            draft=draft,
            answered=answer.answered,
        )

    return specialise


def escalate_through(parts: TriageParts) -> ServiceFunction:
    """The service `escalate`: a person has the ticket at once, and nothing is drafted."""

    async def escalate(
        envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> ServiceResult:
        decision, reading = decision_in(envelope)
        await _to_group(parts, envelope, ctx.run_id, decision, reading)
        message = message_in(envelope)
        whose, feeling = decision.ticket_type, reading.sentiment
        asks = await route_asks(message, reading.language, whose, feeling)
        await _keep(parts, envelope, ctx.run_id, asks)
        info = extracted(decision, reading).changed(issue_type="escalation")
        result = TriageResult(
            urgency=decision.urgency,
            extracted_info=info,
            recommended_action=RecommendedAction.ESCALATE_HUMAN,
            reasoning=f"Direct escalation required - {decision.reasoning}",
        )
        return ServiceResult(output=as_document(result), also={ASKS: _routed(parts, asks)})

    return escalate


async def _keep(
    parts: TriageParts, envelope: Envelope, run_id: str, asks: Sequence[RoutedAsk]
) -> None:
    ticket_id = await ticket_id_in(parts, envelope, run_id)
    if ticket_id is not None and asks:
        await keep_asks(parts, ticket_id, run_id, asks)


def _routed(parts: TriageParts, asks: Sequence[RoutedAsk]) -> list[dict[str, Any]]:
    return [ask.document(parts.spec.group_of(ask.department)) for ask in asks]


def _open_asks(asks: Sequence[RoutedAsk], draft: Mapping[str, Any]) -> list[str]:
    """Why a draft that says nothing against itself cannot leave: it passes over an ask."""
    left = [ask for ask in asks if not ask.is_answered]
    is_held = draft.get("hand_over") and not draft.get("needs_translation")
    if not left or is_held or not draft.get("sources"):
        return []
    shown = " ".join(left[0].text.split())[:_LONGEST_SHOWN]
    return [f"{len(left)} of {len(asks)} asks have no answer in it: “{shown}”"]


async def _to_group(
    parts: TriageParts,
    envelope: Envelope,
    run_id: str,
    decision: SupervisorDecision,
    reading: TicketReading,
) -> None:
    """Put the ticket into its department's queue, with its urgency and what it is about.

    A calmer message does none of that to a ticket that a person has.
    """
    info = envelope.output(CUSTOMER_INFO)
    ticket_id = await ticket_id_in(parts, envelope, run_id)
    if ticket_id is None:
        return
    why = decision.reasoning[:500]
    plan = info.get("plan") if isinstance(info, dict) else None
    judgement = {"language": reading.language, "plan": plan if isinstance(plan, str) else None}
    ticket = await parts.tickets.find(ticket_id)
    if _is_calmer(decision, ticket) and await person_has(parts.tickets, ticket):
        await judge(parts.tickets, ticket_id, DESK, judgement, why)
        return
    judgement |= {"urgency": decision.urgency, "category": reading.category}
    await judge(parts.tickets, ticket_id, DESK, judgement, why)
    group = parts.spec.group_of(decision.ticket_type)
    await parts.tickets.assign(ticket_id, DESK, to=None, group=group, why=why)


def _is_calmer(decision: SupervisorDecision, ticket: Ticket) -> bool:
    """Whether a message is less urgent than its ticket."""
    if ticket.urgency is None:
        return False
    return URGENCIES.index(decision.urgency) > URGENCIES.index(ticket.urgency)


def _drafting(envelope: Envelope, ctx: StageContext, category: str | None) -> Task:
    """Articles of other departments may answer too: whose matter a ticket is, is not always told
    right from a line or two, while an article that surely answers it does."""
    message = message_in(envelope)
    others = tuple(kind.value for kind in TicketType if kind.value != category)
    return Task(
        kind=TaskKind.DRAFT,
        stage=str(category or "specialist"),
        run_id=ctx.run_id,
        text=envelope.raw_input,
        sender_name=message.named,
        inputs=facts_for_texts(envelope, {}),
        knowledge_category=category,
        also_categories=others,
        without_model=ctx.goes_on_without_model,
    )


def extracted(decision: SupervisorDecision, reading: TicketReading) -> ExtractedInfo:
    return ExtractedInfo(
        product_area=decision.ticket_type.value,
        issue_type=reading.category,
        sentiment=reading.sentiment,
        language=reading.language,
    )


def reasons_against_answering(
    decision: SupervisorDecision, reading: TicketReading, draft: Mapping[str, Any]
) -> list[str]:
    """Why articles alone cannot answer this ticket; empty where they can."""
    reasons: list[str] = []
    if decision.urgency not in _CALM:
        reasons.append(f"the urgency is {decision.urgency}")
    if reading.sentiment == Sentiment.ANGRY:
        reasons.append(f"the customer is {reading.sentiment}")
    if not reading.sentiment_is_sure:
        reasons.append("how the customer feels is not sure")
    if reading.concerns:
        reasons.append(f"something is wrong: {', '.join(reading.concerns)}")
    if reading.language not in LANGUAGES:
        reasons.append(f"nobody but a person can read `{reading.language}`")
    return reasons + _unanswered(draft)


def _in_another_language(reading: TicketReading, draft: Mapping[str, Any]) -> list[str]:
    """Why a sure answer still waits: somebody has to translate it."""
    if draft.get("needs_translation"):
        return [str(draft["reason"])]
    if draft.get("language") in (None, reading.language):
        return []
    return [f"the answer is in `{draft['language']}`, not in `{reading.language}`"]


def _unanswered(draft: Mapping[str, Any]) -> list[str]:
    if draft.get("hand_over") and not draft.get("needs_translation"):
        return [str(draft.get("reason") or "no article answers everything that is asked")]
    if draft.get("held"):
        return [f"it was answered without a model: {draft['held']}"]
    return [] if draft.get("sources") else ["the answer rests on no article"]


def _action(reading: TicketReading, against: Sequence[str]) -> RecommendedAction:
    if reading.for_people or reading.triggers:
        return RecommendedAction.ESCALATE_HUMAN
    return RecommendedAction.ROUTE_SPECIALIST if against else RecommendedAction.AUTO_RESPOND


def _suggested(draft: Mapping[str, Any]) -> str | None:
    """The draft; None for a frame in which a person has yet to write the whole answer."""
    text = str(draft["text"])
    if unfilled_placeholders(text) and not draft.get("sources"):
        return None
    return text


def _articles(draft: Mapping[str, Any], hits: Sequence[Hit]) -> tuple[str, ...]:
    """The articles that the draft quotes, else those that were found."""
    sources = draft.get("sources")
    quoted: list[str] = []
    for source in sources if isinstance(sources, list) else ():
        fields = cast(dict[str, Any], source) if isinstance(source, dict) else {}
        named = fields.get("article") or fields.get("id")
        if named:
            quoted.append(str(named))
    return tuple(dict.fromkeys(quoted or [hit.article for hit in hits[:3]]))


def _shown(hit: Hit) -> dict[str, Any]:
    return {"id": hit.article, "title": hit.title, "score": round(hit.score, 4)}
