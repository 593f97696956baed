"""Drafts without an LLM: what tools found, what articles say, or that a colleague will answer."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from deskhand.brain.addressee import addressee
from deskhand.brain.appointments import with_times_in_words
from deskhand.brain.ask_answers import AskAnswer
from deskhand.brain.declared_plans import Unresolved, in_words, words_in
from deskhand.brain.embedded_desk import EmbeddedDesk
from deskhand.brain.matter_results import TOLD, results_by_plan, statement
from deskhand.brain.replies import (
    AnsweredAsks,
    ArticleQuote,
    ReplyParts,
    compose,
    facts_in,
    reply_language,
    shortened_quote,
)
from deskhand.brain.task_inputs import (
    Fields,
    in_chat,
    message_of,
    newest,
    said_in,
    sender_name,
    understanding_of,
    written_language,
)
from deskhand.config.sections.plans import DeclaredPlan
from deskhand.language.asks import announced_asks
from deskhand.language.requested_acts import requested_act
from deskhand.mail.reply import without_quotes
from deskhand.model.knowledge import Hit
from deskhand.model.plan import SKIPPED
from deskhand.model.tasks import Task

_LONGEST_REASON = 200
_OFFERED_AT = 0.3
"""From this chance on a draft answers with a passage that is not sure. A person reads it before it
leaves, and sees which asks it is unsure of."""
_NEAR_AT = 0.15
"""From this chance on a passage is shown to whoever writes the answer himself."""


def draft(
    desk: EmbeddedDesk,
    task: Task,
    language: str | None,
    answers: Sequence[AskAnswer],
    *,
    wished: str | None = None,
) -> Fields:
    """Returns the draft's text with what it rests on: confidence, sources, or why to hand over.

    `language` is the customer's; `answers` are what the articles say to each ask. `wished` is the
    language that the customer asks to be answered in.
    """
    spoken = reply_language(language, desk.languages)
    plan = _plan_of(desk, task)
    topic = understanding_of(task).topic
    # without reading, a chance is only nearness; a complaint is not answered by articles
    offers = desk.reads is not None and topic not in desk.always_asked
    by_articles = partial(_from_answers, answers, spoken, offers=offers)
    by_plan = _from_plan(desk, task, plan, spoken)
    fields = by_plan or by_articles()
    if plan is not None and plan.hand_over and answers and not newest(task, "ask"):
        reason = f"{topic} is answered by a colleague"
        fields = by_articles() | {"hand_over": True, "reason": reason}
    elif by_plan is not None and answers and not needs_articles(desk, task):
        fields = _with_answers(by_plan, by_articles())
    if answers and not fields.get("hand_over"):
        fields = fields | _why_more_is_asked(task, answers, is_done=bool(by_plan))
    parts: ReplyParts = fields.pop("parts")
    text = compose(
        parts,
        language=spoken,
        tone=str(task.inputs.get("tone") or ""),
        name=addressee(sender_name(task), without_quotes(task.text)),
        signature=desk.signature,
        opening=words_in(plan.opening, spoken, desk.languages) if plan is not None else None,
        is_letter=not in_chat(task),
    )
    fields = {"text": text, "language": spoken, **fields}
    if wished is not None and wished != spoken:
        words = f"the customer asks for an answer in `{wished}`, which the desk does not speak"
        fields |= {"hand_over": True, "reason": words, "confidence": 0.0}
    instruction = (task.inputs.get("metadata") or {}).get("instruction")
    if instruction:
        words = "a reviewer's instruction needs a person or an LLM; the draft is written without it"
        fields |= {"hand_over": True, "reason": words, "confidence": 0.0}
    return fields


def used_hits(fields: Fields, hits: Sequence[Hit]) -> list[Hit]:
    """The hits a draft quotes."""
    quoted = [
        (source["article"], tuple(source["heading_path"])) for source in fields.get("sources", ())
    ]
    return [hit for hit in hits if (hit.article, hit.heading_path) in quoted]


def needs_articles(desk: EmbeddedDesk, task: Task) -> bool:
    """Whether an earlier stage has not settled already what the reply says."""
    plan = _plan_of(desk, task)
    if plan is not None and plan.hand_over:
        return not newest(task, "ask")
    untold = plan is not None and plan.tell == () and not (plan.reply or plan.replies)
    return not newest(task, "ask") and (untold or not _results(task))


# --- what the plan and its tools say


def _plan_of(desk: EmbeddedDesk, task: Task) -> DeclaredPlan | None:
    return (desk.plans or {}).get(understanding_of(task).topic or "")


def _from_plan(
    desk: EmbeddedDesk, task: Task, plan: DeclaredPlan | None, language: str
) -> Fields | None:
    asked = newest(task, "ask")
    if isinstance(asked, str) and asked.strip():
        questions = [line for line in asked.splitlines() if line.strip()]
        return {"parts": ReplyParts(questions=questions), "confidence": 0.9}
    if plan is not None and plan.hand_over:
        return _handed_over(f"{understanding_of(task).topic} is answered by a colleague")
    results = _results(task)
    if not results:
        return _plain_words(desk, task, plan, language)
    groups = results_by_plan(desk.plans or {}, plan, results)
    if len(groups) < 2:
        return _from_results(desk, task, plan, language, results)
    return _joined([_from_results(desk, task, own, language, some) for own, some in groups])


def _joined(told_matters: Sequence[Fields | None]) -> Fields:
    """What is told of several matters, one after the other."""
    every = [fields for fields in told_matters if fields is not None]
    held = next((fields for fields in every if fields.get("hand_over")), None)
    if held is not None or len(every) < len(told_matters):
        return held or _handed_over("not all that was found can be told")
    statements = [line for fields in every for line in fields["parts"].statements]
    confidence = min(fields["confidence"] for fields in every)
    return {"parts": ReplyParts(statements=statements), "confidence": confidence}


def _plain_words(
    desk: EmbeddedDesk, task: Task, plan: DeclaredPlan | None, language: str
) -> Fields | None:
    """What a plan says that does nothing; None where articles answer."""
    if plan is None or plan.steps:
        return None
    stated = _statement(desk, task, plan, language, [])
    if stated is None:
        return None
    return {"parts": ReplyParts(statements=[stated]), "confidence": 0.95}


def _from_results(
    desk: EmbeddedDesk, task: Task, plan: DeclaredPlan | None, language: str, results: list[Fields]
) -> Fields | None:
    """What the tools found, in the desk's own words or as a list; None where it is not told."""
    failed = [result for result in results if _counts_as_failed(result)]
    if failed:
        told_failures = [_told_failure(desk, plan, result, language) for result in failed]
        if len(failed) == len(results) and all(told_failures):
            failures = list(dict.fromkeys(filter(None, told_failures)))
            return {"parts": ReplyParts(statements=failures), "confidence": 0.9}
        return _handed_over("; ".join(_failure(result) for result in failed))
    stated = _statement(desk, task, plan, language, results)
    if stated is not None:
        return {"parts": ReplyParts(statements=[stated]), "confidence": 0.95}
    tell = None if plan is None else plan.tell
    if tell == () and plan is not None and not (plan.reply or plan.replies):
        return None
    facts = [fact for result in results for fact in facts_in(result.get("data"), tell)]
    if not facts:
        return _handed_over("the tools found nothing that may be told")
    fields: Fields = {"parts": ReplyParts(facts=facts), "confidence": 0.9}
    if tell is None:
        words = "the plan does not say which fields a customer may read (`tell:` or `reply:`)"
        fields |= {"hand_over": True, "reason": words, "confidence": 0.3}
    return fields


def _counts_as_failed(result: Fields) -> bool:
    return result.get("status") != "success" and not result.get("optional")


def _told_failure(
    desk: EmbeddedDesk, plan: DeclaredPlan | None, result: Fields, language: str
) -> str | None:
    """The desk's words for a failed call; None where it has none for this error."""
    error = result.get("error")
    if plan is None or not isinstance(error, dict):
        return None
    words = words_in(plan.errors.get(str(error.get("error_type")), {}), language, desk.languages)
    if words is None:
        return None
    try:
        return in_words(words, {"arguments": result.get("arguments") or {}})
    except Unresolved:
        return None


def _failure(result: Fields) -> str:
    """Says on one short line that a call did not succeed, and why."""
    error = result.get("error")
    message = " ".join(str(error.get("message") or "").split()) if isinstance(error, dict) else ""
    why = f": {message[:_LONGEST_REASON]}" if message else ""
    return f"{result.get('tool')} did not succeed{why}"


def _results(task: Task) -> list[Fields]:
    for output in understanding_of(task).outputs:
        results = output.get("results")
        if isinstance(results, list) and "executed" in output:
            return [result for result in results if _was_carried_out(result)]
    return []


def _was_carried_out(result: Any) -> bool:
    """Whether the call was carried out: neither skipped, left to the dispatch nor told before."""
    if not isinstance(result, dict) or result.get(TOLD):
        return False
    return result.get("status") != SKIPPED and not result.get("intended")


def _statement(
    desk: EmbeddedDesk, task: Task, plan: DeclaredPlan | None, language: str, results: list[Fields]
) -> str | None:
    """The desk's own sentence for the case that is given, if everything it speaks of is known."""
    if plan is None:
        return None
    facts: dict[str, Any] = {
        "slots": newest(task, "slots") or {},
        "results": with_times_in_words(results, language),
        "message": message_of(task),
        "outputs": task.inputs.get("outputs") or {},
        "metadata": task.inputs.get("metadata") or {},
    }
    return statement(plan, facts, language, desk.languages)


# --- what articles say


def _with_answers(from_plan: Fields, beside: Fields) -> Fields:
    """What a plan tells, and what articles say to the asks beside it."""
    parts = replace(from_plan["parts"], answers=beside["parts"].answers)
    confidence = min(from_plan["confidence"], beside["confidence"])
    return beside | from_plan | {"parts": parts, "confidence": confidence}


def _from_answers(answers: Sequence[AskAnswer], language: str, *, offers: bool) -> Fields:
    """The passages for all asks. It leaves by itself only if each ask has a sure one.

    With `offers`, a likely passage is an answer too, in a draft that a person reads; else he gets
    the place to write it, and what comes nearest.
    """
    if not any(answer.hit for answer in answers):
        return _handed_over("no article answers this")
    blocks: list[AnsweredAsks] = []
    sources: list[Fields] = []
    for passage, asks in _by_passage(answers, language, offers=offers):
        quote = None
        if passage is not None:
            quote = ArticleQuote(
                passage.title, shortened_quote(passage.text), passage.place, passage.language
            )
            sources.append(_source(passage, quote, asks))
        words = tuple(answer.ask for answer in asks if not answer.is_whole)
        is_open = not _is_answered(asks[0], language, offers=offers)
        blocks.append(AnsweredAsks(words, quote, is_open, asks[0].confidence))
    least = min(answer.confidence for answer in answers)
    made: Fields = {
        "parts": ReplyParts(answers=blocks),
        "confidence": round(least, 4),
        "sources": sources,
        "asks": [_ask_fields(answer) for answer in answers],
    }
    return made | _why_not_by_itself(answers, language)


def _by_passage(
    answers: Sequence[AskAnswer], language: str, *, offers: bool
) -> list[tuple[Hit | None, list[AskAnswer]]]:
    """Asks that one passage answers stand together. An open one stands alone, with what comes
    nearest unless that is quoted already or is far off."""
    groups: list[tuple[Hit | None, list[AskAnswer]]] = []
    for answer in answers:
        same = next((asks for hit, asks in groups if _same_place(hit, answer.hit)), None)
        if _is_answered(answer, language, offers=offers):
            if same is not None and _is_answered(same[0], language, offers=offers):
                same.append(answer)
            else:
                groups.append((answer.hit, [answer]))
        else:
            is_near = same is None and answer.confidence >= _NEAR_AT
            groups.append((answer.hit if is_near else None, [answer]))
    return groups


def _is_answered(answer: AskAnswer, language: str, *, offers: bool) -> bool:
    """Whether the passage stands as the answer: it is sure, or likely and may be offered."""
    if answer.is_sure or answer.hit is None or not offers:
        return answer.is_sure
    speaks_it = answer.hit.language in (None, language)
    return speaks_it and answer.confidence >= _OFFERED_AT


def _same_place(hit: Hit | None, other: Hit | None) -> bool:
    if hit is None or other is None:
        return False
    return (hit.article, hit.heading_path, hit.text) == (
        other.article,
        other.heading_path,
        other.text,
    )


def _source(hit: Hit, quote: ArticleQuote, asks: Sequence[AskAnswer]) -> Fields:
    return {
        "article": hit.article,
        "title": hit.title,
        "heading_path": list(hit.heading_path),
        "similarity": round(hit.similarity, 4),
        "confidence": round(max(answer.confidence for answer in asks), 4),
        "quote": quote.text,
    }


def _ask_fields(answer: AskAnswer) -> Fields:
    article = None if answer.hit is None else answer.hit.article
    return {
        "ask": answer.ask,
        "article": article,
        "confidence": round(answer.confidence, 4),
        "answered": answer.is_sure,
        "foreign": answer.is_foreign,
    }


def _why_not_by_itself(answers: Sequence[AskAnswer], language: str) -> Fields:
    """Why a person must look, empty where each ask is answered surely and in his language."""
    open_asks = [answer for answer in answers if not answer.is_sure]
    if not open_asks:
        return {}
    first = open_asks[0]
    asked = " ".join(first.ask.split())[:_LONGEST_REASON]
    nearest = ""
    if first.hit is not None:
        nearest = f" (the nearest is {first.hit.title!r}, {first.confidence:.2f})"
    if first.hit is not None and first.hit.language not in (None, language):
        nearest = f" (the article {first.hit.title!r} is in another language than the message)"
    counted = f"{len(open_asks)} of {len(answers)} asks have no sure answer: “{asked}”{nearest}"
    needs_translation = all(answer.is_foreign for answer in open_asks)
    return {"hand_over": True, "reason": counted, "needs_translation": needs_translation}


def _why_more_is_asked(task: Task, answers: Sequence[AskAnswer], *, is_done: bool) -> Fields:
    """Why a person must look where a message announces more asks than were found, or asks for
    something to be done beside them that no plan does."""
    said = said_in(task)
    announced = announced_asks(said)
    if announced > len(answers):
        reason = f"it announces {announced} asks, and only {len(answers)} were found"
        return {"hand_over": True, "reason": reason}
    act = None if is_done else requested_act(said, language=written_language(said))
    if act is None:
        return {}
    shown = " ".join(act.split())[:_LONGEST_REASON]
    return {"hand_over": True, "reason": f"it asks for something to be done: “{shown}”"}


def _handed_over(reason: str, confidence: float = 0.0) -> Fields:
    return {
        "parts": ReplyParts(),
        "hand_over": True,
        "reason": reason,
        "confidence": round(confidence, 4),
    }
