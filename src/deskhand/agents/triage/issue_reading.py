"""What a ticket is about and what in it is alarming, sentence by sentence."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from deskhand.agents.triage.parts import TriageParts
from deskhand.brain.embedded_desk import Prediction
from deskhand.config.sections.triage import TriageSection
from deskhand.language.alarms import alarms_in
from deskhand.model.tasks import OTHER, Answer, Task, TaskKind

MOST_SENTENCES = 40
_END = re.compile(r"(?<=[.!?…])(?<!\d\.)[\"'”»)]*\s+|\n+")
_SHORTEST = 4


@dataclass(frozen=True, slots=True)
class IssueReading:
    """The issue of a ticket, and the concerns in it with the sentence that shows each."""

    issue: str
    confidence: float
    concerns: dict[str, str]
    others: tuple[str, ...]
    """The issues of its sentences, each once, in the text's order."""
    answered: dict[str, object]


async def read_issue(
    parts: TriageParts, text: str, language: str, run_id: str, *, without_model: bool
) -> IssueReading:
    """What the desk's brain says about the whole, and what its sentences say one by one.

    A sentence may add a concern, whatever the brain made of the whole: it takes none away.
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
    concerns, others = await asyncio.to_thread(_sentence_by_sentence, parts, text, language)
    named = parts.spec.issues.get(issue)
    if named is not None and named.concern and confidence >= parts.spec.concern_at:
        concerns.setdefault(named.concern, text[:200])
    return IssueReading(issue, confidence, concerns, others, answer.answered)


def _chosen(answer: Answer) -> tuple[str, float]:
    """The category; the likeliest one where the embedded brain had better not say."""
    fields = answer.data
    best = fields.get("best")
    if fields.get("abstained") and isinstance(best, str):
        return best, float(fields.get("best_confidence") or 0.0)
    return str(fields.get("category") or OTHER), float(fields.get("confidence") or 0.0)


def _sentence_by_sentence(
    parts: TriageParts, text: str, language: str
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Concerns with the sentence of each, and the issues of the sentences."""
    model = parts.issues()
    found = sentences(text)
    predictions: Sequence[Prediction] = ()
    if model is not None and found:
        predictions = model.predict(found)
    concerns: dict[str, str] = {}
    for sentence, prediction in zip(found, predictions, strict=False):
        concern = _concern_of(parts.spec, prediction)
        if concern is not None:
            concerns.setdefault(concern, sentence)
    known = {issue.concern for issue in parts.spec.issues.values() if issue.concern}
    for alarm, words in alarms_in(text, language).items():
        if alarm in known:
            concerns.setdefault(alarm, words)
    return concerns, tuple(dict.fromkeys(prediction.best for prediction in predictions))


def _concern_of(spec: TriageSection, prediction: Prediction) -> str | None:
    issue = spec.issues.get(prediction.best)
    if issue is None or prediction.confidence < spec.concern_at:
        return None
    return issue.concern


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text that have letters enough to say something."""
    pieces = (piece.strip() for piece in _END.split(text))
    telling = [piece for piece in pieces if sum(map(str.isalpha, piece)) >= _SHORTEST]
    return telling[:MOST_SENTENCES]
