"""Which article answers what a message asks, ask by ask, and how surely."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from deskhand.brain.answer_chance import (
    AskLikeness,
    Likeness,
    by_questions,
    by_reading,
    likeliest,
)
from deskhand.brain.ask_wordings import AskInMessage, all_wordings, wordings
from deskhand.brain.embedded_desk import EmbeddedDesk, IntentPredictor, ReadsAnswers
from deskhand.brain.named_in_passage import speaks_of_it
from deskhand.brain.relevance import Ranked
from deskhand.brain.task_inputs import message_of, said_in, written_language
from deskhand.language.answer_language import wished_language
from deskhand.language.asked_prices import asks_for_a_price
from deskhand.language.asks import Part, PartKind, read_parts, speaks
from deskhand.language.question_examples import UNANSWERED
from deskhand.model.knowledge import Hit
from deskhand.model.tasks import Task
from deskhand.ports import Embeds, SearchesKnowledge

MOST_ASKS = 5
_MOST_LOOKED_UP = 800
"""Asks that are looked up, and characters of them together: a message with more is a form, and a
person's. Each takes as long as reading a page."""
_HITS = 5
_WIDE = 40
"""Hits among which a translation of an article is looked for."""
_READ = 3
"""Passages that are read for an ask where the desk has no questions of its own."""
_LATER = 0.05
"""How much surer the answer to an ask after the first must be, where nobody reads it."""
_LATER_LEAST = 0.75
"""The chance that the answer to an ask after the first needs at least."""
_LIKELIEST = 3
"""Articles that the desk's own questions speak for most, which are read with an ask."""
_DOUBTED = 0.49
"""The most that is said of an answer that is not agreed on."""
_LIKELY = 0.65
"""How surely an ask is likely of another topic."""
_OF_AN_ARTICLE = 0.5
"""How like the desk's own questions an ask sounds that may be of an article."""


@dataclass(frozen=True, slots=True)
class AskAnswer:
    """One ask with the passage that is likeliest to answer it."""

    ask: str
    hit: Hit | None
    confidence: float
    is_sure: bool
    """Whether it may be told to a customer without a person."""
    is_foreign: bool = False
    """Whether it would be sure if the passage were in the reply's language."""
    is_whole: bool = False
    """Whether the ask is the whole message, which asks nothing in so many words."""


def asks_of(task: Task, language: str | None) -> list[Part]:
    """What the message asks; where it asks nothing in so many words, what it wishes.

    `language` is the reply's. Who writes in English and wishes a German reply asks in English.
    """
    subject = str(message_of(task).get("subject") or "")
    said = said_in(task)
    written = written_language(said)
    parts = read_parts(said, subject, written if speaks(written) else language)
    asks = [part for part in parts if part.kind is PartKind.ASK]
    asks = [ask for ask in asks if not _names_language(ask)] or asks
    return asks or [part for part in parts if part.kind is PartKind.WISH]


def _names_language(ask: Part) -> bool:
    """Whether it only says in which language to answer: that is no question for an article."""
    return not ask.text.endswith("?") and wished_language(ask.text) is not None


def asks_beside(
    topic: str, asks: Sequence[Part], topics: IntentPredictor, articles: IntentPredictor
) -> list[Part]:
    """The asks that are not of the topic: they are of another one, likely of another, sound like
    what an article is about, or ask what something costs."""
    texts = [ask.text for ask in asks]
    predictions = zip(asks, topics.predict(texts), articles.predict(texts), strict=True)
    beside: list[Part] = []
    for ask, by_topic, by_article in predictions:
        is_of_another = by_topic.label not in (None, topic)
        is_likely_of_another = by_topic.best != topic and by_topic.confidence >= _LIKELY
        is_of_an_article = by_topic.label is None and by_article.confidence >= _OF_AN_ARTICLE
        if is_of_another or is_likely_of_another or is_of_an_article or asks_for_a_price(ask.text):
            beside.append(ask)
    return beside


def looked_up(asks: Sequence[Part]) -> int:
    """How many of these asks are looked up; the first always is."""
    left = _MOST_LOOKED_UP
    for place, ask in enumerate(asks[:MOST_ASKS]):
        left -= len(ask.text)
        if place and left < 0:
            return place
    return min(len(asks), MOST_ASKS)


def whole(text: str) -> Part:
    """A message that asks nothing in so many words, as one ask."""
    return Part(PartKind.ASK, text, 0, len(text))


async def answers_to(
    desk: EmbeddedDesk,
    embedder: Embeds,
    questions: IntentPredictor | None,
    asks: Sequence[Part],
    language: str,
    subject: str = "",
) -> list[AskAnswer]:
    """One answer an ask, in the message's order. `questions` knows which articles answer what;
    `language` is the reply's, `subject` what the message itself is headed with. What is beyond
    what is looked up has none; of many such asks one is listed more than are ever looked up."""
    knowledge = desk.knowledge
    most = looked_up(asks) if knowledge is not None else 0
    answers: list[AskAnswer] = []
    for place, ask in enumerate(asks[: MOST_ASKS + 1]):
        if knowledge is None or place >= most:
            answers.append(AskAnswer(ask.text, None, 0.0, False))
            continue
        previous = asks[place - 1] if place else None
        asked = AskInMessage(ask, language, previous, asks[0].context, subject)
        answers.append(await _answer(desk, knowledge, embedder, questions, asked))
    return answers


async def _answer(
    desk: EmbeddedDesk,
    knowledge: SearchesKnowledge,
    embedder: Embeds,
    questions: IntentPredictor | None,
    asked: AskInMessage,
) -> AskAnswer:
    ask, language = asked.ask, asked.language
    ways = wordings(ask)
    ranked: list[Ranked] = []
    for wording in ways:
        hits = await _search(knowledge, wording, language)
        if hits:
            ranked += await asyncio.to_thread(desk.rank, embedder, wording, hits)
    if not ranked:
        return AskAnswer(ask.text, None, 0.0, False)
    if questions is None:
        return await asyncio.to_thread(_nearest_answer, desk, ask, ranked, language)
    if desk.reads is None:
        alike = await asyncio.to_thread(likenesses, questions, ways)
        ranked += await _translations(desk, embedder, ask, _articles(alike), ranked, language)
        return await asyncio.to_thread(_unread_answer, desk, asked, alike, ranked)
    every = AskLikeness(*await asyncio.to_thread(likenesses, questions, all_wordings(asked)))
    candidates = likeliest(every, _LIKELIEST)
    ranked += await _translations(desk, embedder, ask, candidates, ranked, language)
    return await asyncio.to_thread(_read_answer, desk, desk.reads, asked, every, ranked)


def _nearest_answer(
    desk: EmbeddedDesk, ask: Part, ranked: Sequence[Ranked], language: str
) -> AskAnswer:
    """The nearest passage that reads most like an answer, for a desk without questions."""
    by_nearness = sorted(ranked, key=lambda passage: -passage.confidence)
    best, confidence = by_nearness[0].hit, by_nearness[0].confidence
    if desk.reads is not None:
        nearest = list(dict.fromkeys(passage.hit for passage in by_nearness))[:_READ]
        scores = [_reading(desk.reads, ask, hit) for hit in nearest]
        best = nearest[scores.index(max(scores))]
        confidence = by_reading(max(scores))
    speaks_it = best.language in (None, language) or not desk.asks_about_foreign
    is_known = confidence >= desk.answer_at
    return _answered(ask, best, confidence, is_known=is_known, speaks_it=speaks_it)


def _unread_answer(
    desk: EmbeddedDesk, asked: AskInMessage, alike: Sequence[Likeness], ranked: Sequence[Ranked]
) -> AskAnswer:
    """The article that the desk's own questions speak for, where no model reads it."""
    ask, language = asked.ask, asked.language
    surest = max(alike, key=lambda likeness: likeness.confidence)
    passages = [passage for passage in ranked if passage.hit.original == surest.article]
    if not passages:
        return _only_nearest(ask, ranked)
    hit = _to_quote(passages, language)
    agreed = are_alike(alike)
    chance = surest.confidence if agreed else min(surest.confidence, _DOUBTED)
    needed = desk.answer_at if asked.comes_first else desk.answer_at + _LATER
    is_known = agreed and chance >= needed and _speaks_of_it(ask, hit)
    speaks_it = hit.language in (None, language)
    return _answered(ask, hit, chance, is_known=is_known, speaks_it=speaks_it)


def _read_answer(
    desk: EmbeddedDesk,
    reads: ReadsAnswers,
    asked: AskInMessage,
    alike: AskLikeness,
    ranked: Sequence[Ranked],
) -> AskAnswer:
    """The article that most likely answers, by the desk's own questions and by reading."""
    ask, language = asked.ask, asked.language
    chances: dict[Hit, float] = {}
    for article in likeliest(alike, _LIKELIEST):
        passages = [passage for passage in ranked if passage.hit.original == article]
        if passages:
            hit = _to_quote(passages, language)
            reading, alone = _readings(reads, ask, hit)
            chances[hit] = by_questions(article, alike, reading, alone)
    if not chances:
        return _only_nearest(ask, ranked)
    best = max(chances, key=lambda hit: chances[hit])
    speaks_it = best.language in (None, language)
    needed = desk.answer_at if asked.comes_first else max(desk.answer_at, _LATER_LEAST)
    is_known = chances[best] >= needed and _speaks_of_it(ask, best)
    return _answered(ask, best, chances[best], is_known=is_known, speaks_it=speaks_it)


def _speaks_of_it(ask: Part, hit: Hit) -> bool:
    return speaks_of_it(ask.text, hit.title, hit.text, hit.language)


def _only_nearest(ask: Part, ranked: Sequence[Ranked]) -> AskAnswer:
    nearest = max(ranked, key=lambda passage: passage.confidence)
    return AskAnswer(ask.text, nearest.hit, min(nearest.confidence, _DOUBTED), False)


def _answered(
    ask: Part, hit: Hit, confidence: float, *, is_known: bool, speaks_it: bool
) -> AskAnswer:
    is_sure, is_foreign = is_known and speaks_it, is_known and not speaks_it
    return AskAnswer(ask.text, hit, confidence, is_sure, is_foreign)


def _articles(alike: Sequence[Likeness]) -> list[str]:
    return list(dict.fromkeys(likeness.article for likeness in alike))


def _to_quote(passages: Sequence[Ranked], language: str) -> Hit:
    """The nearest of an article's passages, in the reply's language where there is one."""
    own = [passage for passage in passages if passage.hit.language in (None, language)]
    return max(own or passages, key=lambda passage: passage.nearness).hit


def _reading(reads: ReadsAnswers, ask: Part, hit: Hit) -> float:
    """The score of an ask, after what was said before it, with a passage."""
    return reads(ask.text, [f"{hit.title}. {hit.text}"], ask.context)[0]


def _readings(reads: ReadsAnswers, ask: Part, hit: Hit) -> tuple[float, float]:
    """The scores of an ask with a passage: after what was said before it, and by itself."""
    reading = _reading(reads, ask, hit)
    if not ask.context:
        return reading, reading
    return reading, reads(ask.text, [f"{hit.title}. {hit.text}"], "")[0]


def likenesses(questions: IntentPredictor, wordings: Sequence[str]) -> list[Likeness]:
    """What the desk's own questions say of each wording."""
    different = list(dict.fromkeys(wordings))
    predictions = dict(zip(different, questions.predict(different), strict=True))
    made: list[Likeness] = []
    for prediction in (predictions[wording] for wording in wordings):
        is_answered = not prediction.best.startswith(UNANSWERED)
        article = prediction.best.removeprefix(UNANSWERED)
        made.append(Likeness(article, prediction.confidence, is_answered, prediction.shares))
    return made


def are_alike(alike: Sequence[Likeness]) -> bool:
    """Whether all wordings are like questions that one article answers."""
    articles = {likeness.article for likeness in alike}
    return len(articles) == 1 and all(likeness.is_answered for likeness in alike)


async def _translations(
    desk: EmbeddedDesk,
    embedder: Embeds,
    ask: Part,
    articles: Sequence[str],
    ranked: Sequence[Ranked],
    language: str,
) -> list[Ranked]:
    """Passages in the reply's language of articles that were found in others alone."""
    own = {passage.hit.original for passage in ranked if passage.hit.language == language}
    missing = {*articles} - own
    if not missing or desk.knowledge is None:
        return []
    hits = await desk.knowledge.search(ask.text, language=language, limit=_WIDE)
    wanted = [hit for hit in hits if hit.original in missing]
    return await asyncio.to_thread(desk.rank, embedder, ask.text, wanted) if wanted else []


async def _search(knowledge: SearchesKnowledge, question: str, language: str) -> list[Hit]:
    """Passages in the reply's language, and those of articles that are not found in it."""
    own = await knowledge.search(question, language=language, limit=_HITS)
    originals = {hit.original for hit in own}
    others = await knowledge.search(question, limit=_HITS)
    return own + [hit for hit in others if hit.original not in originals]
