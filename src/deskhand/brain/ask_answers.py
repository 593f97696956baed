"""Which article answers what a message asks, ask by ask, and how surely."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from deskhand.brain.embedded_desk import EmbeddedDesk, Intents
from deskhand.brain.relevance import Ranked
from deskhand.brain.task_inputs import message_of, said_in
from deskhand.language.asks import Part, PartKind, read_parts
from deskhand.language.question_examples import UNANSWERED
from deskhand.language.slots.folded_text import WORD, fold
from deskhand.model.knowledge import Hit
from deskhand.model.tasks import Task
from deskhand.ports import Embeds, SearchesKnowledge

MOST_ASKS = 8
"""Asks that are looked up: a message with more is a form, and a person's."""
_HITS = 5
_CONTEXT = 160
"""Characters said before an ask that are searched with it."""
_DOUBTED = 0.49
"""The most that is said of an answer that is not agreed on."""
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÁ-Ž][\w-]+(?: [A-ZÁ-Ž][\w-]+)*")
"""Words with a capital inside a sentence."""
_STEM = 5


@dataclass(frozen=True, slots=True)
class AskAnswer:
    """One ask with the passage that is likeliest to answer it."""

    ask: str
    hit: Hit | None
    confidence: float
    is_sure: bool
    """Whether it may be told to a customer without a person."""


def asks_of(task: Task, language: str | None) -> list[Part]:
    """What the message asks; where it asks nothing in so many words, what it wishes."""
    subject = str(message_of(task).get("subject") or "")
    parts = read_parts(said_in(task), subject, language)
    asks = [part for part in parts if part.kind is PartKind.ASK]
    return asks or [part for part in parts if part.kind is PartKind.WISH]


def whole(text: str) -> Part:
    """A message that asks nothing in so many words, as one ask."""
    return Part(PartKind.ASK, text, 0, len(text))


async def answers_to(
    desk: EmbeddedDesk,
    embedder: Embeds,
    questions: Intents | None,
    asks: Sequence[Part],
    language: str,
) -> list[AskAnswer]:
    """One answer an ask, in the message's order. `questions` knows which articles answer what;
    `language` is the reply's."""
    knowledge = desk.knowledge
    if knowledge is None:
        return [AskAnswer(ask.text, None, 0.0, False) for ask in asks]
    return [await _answer(desk, knowledge, embedder, questions, ask, language) for ask in asks]


async def _answer(
    desk: EmbeddedDesk,
    knowledge: SearchesKnowledge,
    embedder: Embeds,
    questions: Intents | None,
    ask: Part,
    language: str,
) -> AskAnswer:
    ways = wordings(ask)
    ranked: list[Ranked] = []
    for wording in ways:
        hits = await _search(knowledge, wording, language)
        if hits:
            ranked += await asyncio.to_thread(desk.rank, embedder, wording, hits)
    if not ranked:
        return AskAnswer(ask.text, None, 0.0, False)
    nearest = max(ranked, key=lambda passage: passage.confidence)
    if questions is None:
        speaks_it = nearest.hit.language in (None, language) or not desk.asks_about_foreign
        is_sure = nearest.confidence >= desk.answer_at and speaks_it
        return AskAnswer(ask.text, nearest.hit, nearest.confidence, is_sure)
    article, confidence = await asyncio.to_thread(known_answer, questions, ways)
    passages = [passage for passage in ranked if passage.hit.original == article]
    if not passages:
        return AskAnswer(ask.text, nearest.hit, min(nearest.confidence, _DOUBTED), False)
    best = max(passages, key=lambda passage: passage.nearness)
    speaks_it = best.hit.language in (None, language)
    of_another = says_it_of_another(ask.text, best.hit.text)
    is_sure = confidence >= desk.answer_at and speaks_it and not of_another
    return AskAnswer(ask.text, best.hit, confidence, is_sure)


def wordings(ask: Part) -> list[str]:
    """The ask by itself and in its context, by both of which answers are looked for."""
    return list(dict.fromkeys((ask.text, in_context(ask))))


def in_context(ask: Part) -> str:
    """The ask after the last words before it, which say what "it" is."""
    before = ask.context[-_CONTEXT:]
    if len(ask.context) > _CONTEXT:
        before = before.partition(" ")[2]
    return f"{before} {ask.text}".strip()


def known_answer(questions: Intents, wordings: Sequence[str]) -> tuple[str, float]:
    """The article that answers questions like this, and how surely.

    Where the ask by itself and the ask in its context are not like the same questions, or like one
    that nothing answers, that is doubted.
    """
    predictions = questions.predict(wordings)
    surest = max(predictions, key=lambda prediction: prediction.confidence)
    article = surest.best.removeprefix(UNANSWERED)
    agreed = all(prediction.best == article for prediction in predictions)
    return article, surest.confidence if agreed else min(surest.confidence, _DOUBTED)


def says_it_of_another(ask: str, passage: str) -> bool:
    """Whether the passage says what is asked for of another thing than the one that is named.

    "Is the Mira Plus available in green?" is not answered by "The Mira comes in green. The Mira
    Plus has a sensor": the only sentence that speaks of green names another thing.
    """
    names = _names(ask, passage)
    if not names:
        return False
    everything_named = " ".join(names)
    others = [stem for stem in _stems(ask) if stem not in everything_named]
    speaking: list[str] = []
    for sentence in _SENTENCE.split(passage):
        if any(stem in fold(sentence) for stem in others):
            speaking.append(sentence)
    return bool(speaking) and all(_names_only_others(names, sentence) for sentence in speaking)


def _names_only_others(names: Sequence[str], sentence: str) -> bool:
    named = [fold(match[0]) for match in _NAME.finditer(sentence)]
    return bool(named) and not any(name in fold(sentence) for name in names)


def _names(ask: str, passage: str) -> list[str]:
    """The names of things in the ask that the passage has too, the longest only: `mira plus`."""
    named = {fold(match[0]) for match in _NAME.finditer(passage)}
    asked = " ".join(WORD.findall(fold(ask)))
    found = [name for name in named if re.search(rf"\b{re.escape(name)}\b", asked)]
    longest: list[str] = []
    for name in sorted(found, key=len, reverse=True):
        if not any(name in other for other in longest):
            longest.append(name)
    return longest


def _stems(text: str) -> list[str]:
    return [word[:_STEM] for word in WORD.findall(fold(text)) if len(word) >= _STEM - 1]


async def _search(knowledge: SearchesKnowledge, question: str, language: str) -> list[Hit]:
    """Passages in the reply's language, and those of articles that are not found in it."""
    own = await knowledge.search(question, language=language, limit=_HITS)
    known = {hit.original for hit in own}
    others = await knowledge.search(question, limit=_HITS)
    return own + [hit for hit in others if hit.original not in known]
