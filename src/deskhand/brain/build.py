"""A desk's brain as its desk.yaml asks for it."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from deskhand.brain.chat_script import ChatScript
from deskhand.brain.chat_script_file import load_chat_script
from deskhand.brain.desk_intents import learned_intents
from deskhand.brain.informed import ApprovedReplies, InformedBrain
from deskhand.brain.llm import LlmBrain
from deskhand.brain.scripted import load_scripted
from deskhand.config.desk import DeskSpec
from deskhand.config.sections.slots import money_slots, naming_slots
from deskhand.errors import ConfigError, ModelRefused
from deskhand.language.intent_examples import IntentExamples, load_intents
from deskhand.language.question_examples import (
    QUESTIONS_FOLDER,
    QuestionExamples,
    load_questions,
)
from deskhand.model.tasks import TaskKind
from deskhand.ports import Brain, ChatModel, Clock, Embeds, SearchesKnowledge
from deskhand.tools.terms import always_asked

if TYPE_CHECKING:
    from deskhand.brain.embedded import EmbeddedBrain
    from deskhand.brain.embedded_desk import IntentPredictor

log = logging.getLogger("deskhand.brain")


def build_brain(
    spec: DeskSpec,
    chat: ChatModel,
    clock: Clock,
    knowledge: SearchesKnowledge,
    embedder: Callable[[], Embeds],
    *,
    rest: float | None = None,
    approved: ApprovedReplies | None = None,
    watched: Callable[[ChatModel], ChatModel] = lambda chat: chat,
) -> Brain | None:
    """Everything that is wrong with the desk's intents or rules is a ConfigError here; nothing is
    learned yet.

    `rest` is how long a cascade leaves an LLM alone that could not be reached, `approved` finds
    replies of colleagues to messages like one at hand. `watched` puts something around the models
    that sees personal data restored.
    """
    asked = spec.brain
    if asked.kind == "scripted" and asked.file is not None:
        return load_scripted(asked.file, partial(_embedded_brain, spec, knowledge, embedder))
    intents = load_intents(spec.folder)
    if asked.kind == "embedded":
        return _embedded(spec, intents, knowledge, embedder)
    if spec.default_model is None:
        return None
    asking = LlmBrain(
        watched(_redacting(spec, chat)),
        spec.models,
        spec.default_model,
        meanings=intents.descriptions,
        examples=intents.examples,
        time_zone=spec.time_zone,
    )
    llm = InformedBrain(asking, knowledge, approved)
    from deskhand.brain.cascade import REST, CascadeBrain, embedded_instead

    if asked.kind == "llm":
        embedded = _embedded(spec, intents, knowledge, embedder)
        return embedded_instead(llm, embedded, clock, while_away=spec.model_away.then != "person")
    thresholds = {TaskKind(task): value for task, value in asked.thresholds.items()}
    resting = REST if rest is None else rest
    return CascadeBrain(
        _embedded(spec, intents, knowledge, embedder), llm, thresholds, clock=clock, rest=resting
    )


class ArticleAsides:
    """Answers from the desk's articles what customers ask beside a question of the desk's, without
    a model; what it needs is loaded with the first one."""

    def __init__(
        self, spec: DeskSpec, knowledge: SearchesKnowledge, embedder: Callable[[], Embeds]
    ) -> None:
        self._spec = spec
        self._knowledge = knowledge
        self._embedder = embedder

    async def answer(self, text: str, run_id: str) -> str | None:
        """What the articles say, word for word; None where they do not answer it for certain."""
        return await self._brain.aside(text, run_id)

    @cached_property
    def _brain(self) -> "EmbeddedBrain":
        return _embedded_brain(self._spec, self._knowledge, self._embedder)


def agent_chat(
    spec: DeskSpec, chat: ChatModel, recorded: Callable[[ChatModel], ChatModel]
) -> ChatModel:
    """Who answers the desk's agents: their models, or the rules under `chat:` of a scripted
    brain."""
    script = chat_script(spec)
    return recorded(script) if script is not None else _redacting(spec, recorded(chat))


def chat_script(spec: DeskSpec) -> ChatScript | None:
    if spec.brain.kind != "scripted" or spec.brain.file is None or not spec.profiles:
        return None
    return load_chat_script(spec.brain.file)


def unusable_profiles(spec: DeskSpec, reach: Callable[[str], None]) -> dict[str, str]:
    """Profiles without a model to ask, each with the reason; `reach` raises what is wrong with a
    model's name."""
    if not spec.profiles:
        return {}
    if spec.brain.kind == "scripted":
        if chat_script(spec) is not None:
            return {}
        return dict.fromkeys(spec.profiles, f"{spec.brain.file} has no rules under `chat:`")
    if not spec.brain.agents:
        return dict.fromkeys(spec.profiles, "the desk's brain is `embedded`, which asks no model")
    reasons: dict[str, str] = {}
    for name, profile in spec.profiles.items():
        for model in profile.models(spec.default_model):
            problem = _unreachable(spec, model, reach)
            if problem is not None:
                reasons.setdefault(name, problem)
    return reasons


def _unreachable(spec: DeskSpec, model: str, reach: Callable[[str], None]) -> str | None:
    """Why neither a model nor one of its fall-backs can be asked; None where one can."""
    problems: list[str] = []
    for name in (model, *spec.fall_backs.get(model, ())):
        try:
            reach(name)
        except (ConfigError, ModelRefused) as error:
            problems.append(str(error).partition("\n")[0])
        else:
            return None
    return "; ".join(problems)


async def prepare(brain: Brain | None) -> None:
    """Have a brain learn what it will need, before a customer waits for it."""
    learn = getattr(brain, "learn", None)
    if learn is not None:
        await asyncio.to_thread(learn)


def _redacting(spec: DeskSpec, chat: ChatModel) -> ChatModel:
    if not spec.brain.redact:
        return chat
    from deskhand.brain.redacting_chat import RedactingChatModel, redaction_rules

    own = (spec.brain.signature, *spec.own_addresses)
    return RedactingChatModel(chat, redaction_rules(spec.brain.patterns, own))


def learned_questions(spec: DeskSpec, questions: QuestionExamples) -> "IntentPredictor | None":
    """Which article answers what, from the cache where it was learned before; None for a desk
    that has written no questions."""
    from deskhand.language.intents import IntentModel
    from deskhand.private_files import cache_folder

    if len(questions.articles) < 2:
        return None
    log.info("%s: reading %d questions", spec.name, len(questions.labelled))
    return IntentModel.fit_cached(questions.labelled, cache_folder(), spec.brain.error_budget)


def _states(spec: DeskSpec) -> Callable[[str, Sequence[str], datetime], dict[str, Any]] | None:
    """Reads customers' own words for the desk's slots; None where no slot takes words."""
    from deskhand.language.first_message import stated_in
    from deskhand.language.turns import TurnReader

    if not any(slot.type == "text" for slot in spec.slots.values()):
        return None
    return partial(stated_in, TurnReader(spec.slots, time_zone=spec.calendar.zone))


def _reads_answers(ask: str, passages: Sequence[str], before: str) -> Sequence[float]:
    from deskhand.language.answerability import shared_answer_reader

    return shared_answer_reader().read(ask, passages, before=before)


def _embedded_brain(
    spec: DeskSpec, knowledge: SearchesKnowledge, embedder: Callable[[], Embeds]
) -> "EmbeddedBrain":
    return _embedded(spec, load_intents(spec.folder), knowledge, embedder)


def _embedded(
    spec: DeskSpec,
    intents: IntentExamples,
    knowledge: SearchesKnowledge,
    embedder: Callable[[], Embeds],
) -> "EmbeddedBrain":
    from deskhand.brain.embedded import EmbeddedBrain
    from deskhand.brain.embedded_desk import EmbeddedDesk
    from deskhand.knowledge.article_ids import article_ids
    from deskhand.language.slots import SlotExtractor

    questions = QuestionExamples()
    if (spec.folder / QUESTIONS_FOLDER).is_dir():
        questions = load_questions(spec.folder, article_ids(spec.folder))
    return EmbeddedBrain(
        EmbeddedDesk(
            embedder,
            languages=spec.languages,
            intents=partial(learned_intents, spec, intents),
            questions=partial(learned_questions, spec, questions),
            slots=SlotExtractor(spec.slots) if spec.slots else None,
            naming_slots=naming_slots(spec.slots),
            money_slots=money_slots(spec.slots),
            states=_states(spec),
            plans=spec.plans,
            knowledge=knowledge,
            reads=_reads_answers,
            descriptions=intents.descriptions,
            answer_at=spec.brain.answer_at,
            asks_about_foreign=spec.brain.foreign_articles == "ask",
            signature=spec.brain.signature,
            always_asked=always_asked(spec),
            time_zone=spec.calendar.zone,
        )
    )
