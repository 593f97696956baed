"""What a plan says beside its own questions: what it asks where a call fails, as another amount
or a proof, and what it found before it asks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from deskhand.brain.declared_plans import Unresolved, in_words, words_in
from deskhand.brain.matter_results import TOLD
from deskhand.config.sections.plans import FailureQuestion
from deskhand.model.envelope import Envelope
from deskhand.model.plan import AskUser

FailureQuestions = Mapping[str, Mapping[str, FailureQuestion]]
"""The questions after failed calls, by intent and error code."""
TellResults = Callable[[Sequence[dict[str, Any]], str | None], str]
"""Says in a language what calls found; empty where there are no words for it."""


class AskedAfterFailure(NamedTuple):
    """A question that a failed call leads to."""

    code: str
    param: str
    text: str


def asked_after(
    result: Mapping[str, Any], questions: Mapping[str, FailureQuestion], language: str | None
) -> AskedAfterFailure | None:
    """The question after a failed call; None where it succeeded, or where nothing is asked."""
    error = result.get("error")
    if not isinstance(error, Mapping) or result.get("optional"):
        return None
    code = str(error.get("error_type"))
    question = questions.get(code)
    words = None if question is None else words_in(question.words, language)
    if question is None or words is None:
        return None
    try:
        text = in_words(words, {"arguments": result.get("arguments") or {}})
    except Unresolved:
        return None
    return AskedAfterFailure(code, question.asks, text)


def open_question(question: FailureQuestion, prompt: str, language: str | None) -> AskUser:
    """The question as a step of a plan, with what is said to those who do not answer it."""
    return AskUser(
        param=question.asks,
        prompt=prompt,
        expects=words_in(question.expects, language) or "",
        why=words_in(question.why, language) or "",
    )


def answering_slot(question: FailureQuestion) -> str:
    """The slot whose value answers the question; `confirm` where a yes or no does."""
    return question.slot or question.asks


def author_of(envelope: Envelope) -> str:
    """Who writes, as far as proven."""
    return "" if envelope.message is None else envelope.message.author


def with_news(
    results: Sequence[dict[str, Any]], text: str, tell: TellResults | None, language: str | None
) -> tuple[str, list[dict[str, Any]]]:
    """The question after what was found and not told yet, and the results with that marked."""
    successes = [result for result in results if result.get("status") == "success"]
    news = [result for result in successes if not result.get(TOLD)]
    said = tell(news, language) if tell is not None and news else ""
    if not said:
        return text, list(results)
    marked: list[dict[str, Any]] = []
    for result in results:
        mark = {TOLD: True} if result in news else {}
        marked.append(result | mark)
    return f"{said}\n{text}", marked
