"""The brain that comes with the package: no key, no network, milliseconds. It knows when it does
not know."""

import asyncio
import logging
import re
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from deskhand.brain import comparing, declared_plans, doubted_categories, drafting, named_wishes
from deskhand.brain.answer_chance import Likeness
from deskhand.brain.appointments import about_a_time
from deskhand.brain.ask_answers import (
    AskAnswer,
    answers_to,
    are_alike,
    asks_beside,
    asks_of,
    likenesses,
    looked_up,
    whole,
)
from deskhand.brain.ask_wordings import wordings
from deskhand.brain.embedded_desk import EmbeddedDesk, IntentPrediction, IntentPredictor
from deskhand.brain.json_answer import AnswerProblem
from deskhand.brain.message_matters import Matter, decide_several, several_matters
from deskhand.brain.question_in_mail import asked_in
from deskhand.brain.questions_for_articles import (
    ANSWERED,
    category_for_articles,
    is_left_open,
    only_writes,
)
from deskhand.brain.replies import reply_language, shortened_quote
from deskhand.brain.results import result_of
from deskhand.brain.task_inputs import (
    Fields,
    conversation_language,
    language_of,
    newest,
    own_subject,
    question_of,
    received_at,
    said_in,
    understanding_of,
    with_subject,
    wording_of,
)
from deskhand.errors import DeskhandError, ModelAnswerInvalid
from deskhand.knowledge.search import in_category
from deskhand.language.answer_language import wished_language
from deskhand.language.asks import Part, PartKind, read_parts
from deskhand.language.clean_text import TOO_LONG, has_words, is_too_long
from deskhand.language.instructions import without_machine_words
from deskhand.model.plan import TURN
from deskhand.model.tasks import OTHER, Answer, Task, TaskKind
from deskhand.ports import Embeds

log = logging.getLogger("deskhand.brain")

_ALIKE = 0.7
"""How sure it must be which article is meant before a message counts as one for the articles."""
_DOUBTED = 0.49
_SURE = 0.95
"""How sure it is of what is no matter of words: an offered time that is taken, an invitation."""
_SHORT = 3
_LIKELY_WORD = 0.7
"""Words of a message that is answered with a word, and how likely it must be one."""
ANY_WORD = "hello"


class EmbeddedBrain:
    """It routes, looks up, fills slots and quotes. It does not chat, and says so."""

    def __init__(self, desk: EmbeddedDesk, *, name: str = "embedded") -> None:
        self.name = name
        self._desk = desk
        self._learning = threading.Lock()
        self._by_names: dict[tuple[str, ...], IntentPredictor] = {}
        self._ways: Mapping[TaskKind, Callable[[Task], Awaitable[Fields]]] = {
            TaskKind.CLASSIFY: self._category,
            TaskKind.EXTRACT: _in_thread(lambda task: declared_plans.extract(self._desk, task)),
            TaskKind.TRANSLATE: _in_thread(self._translate),
            TaskKind.DECIDE: _in_thread(self._decide),
            TaskKind.DRAFT: self._draft,
            TaskKind.MATCH: _in_thread(lambda task: comparing.match(self._embedder, task)),
            TaskKind.SUMMARISE: _in_thread(lambda task: comparing.summarise(self._embedder, task)),
            TaskKind.JUDGE: _in_thread(lambda task: comparing.judge(self._embedder, task)),
        }

    async def answer(self, task: Task) -> Answer:
        way = self._ways.get(task.kind)
        if way is None:
            raise ModelAnswerInvalid(
                f"stage {task.stage!r} asks with a prompt of its own, which needs an LLM: name one"
                " under `models`, or give the stage a `task`"
            )
        fields = await way(task)
        try:
            return Answer(result=result_of(task, fields), brain=self.name)
        except AnswerProblem as problem:
            words = str(problem)
        what = f"the {task.kind.value} task of stage {task.stage!r} asks for more than the"
        raise ModelAnswerInvalid(f"{what} embedded brain can answer: {words}")

    def learn(self) -> None:
        """Learn the desk's intents, or read what was learned before, and load the models that read:
        else the first message waits, and others with it."""
        with self._learning:
            learned = (self._learned, self._questions)
        if any(model is not None for model in learned):
            self._embedder.embed([ANY_WORD])
            named_wishes.without_denied(ANY_WORD)
            language_of(ANY_WORD, self._desk.languages)
            if self._desk.reads is not None and self._desk.knowledge is not None:
                self._desk.reads(ANY_WORD, [ANY_WORD], "")

    # --- reading

    async def _category(self, task: Task) -> Fields:
        """What the message's words say; where these leave it open, what the articles say."""
        fields = await asyncio.to_thread(self._classify, task)
        asking = category_for_articles(self._desk, task.choices)
        if asking is None or self._desk.knowledge is None or not is_left_open(self._desk, fields):
            return fields
        language = await asyncio.to_thread(
            conversation_language, task, wording_of(task), self._desk.languages
        )
        asks = await asyncio.to_thread(asks_of, task, language)
        answers = await self._answers_to(task, asks, language) if asks else []
        if not answers or not all(answer.is_sure for answer in answers):
            return fields
        return {"category": asking, "confidence": _SURE, "reason": ANSWERED}

    def _classify(self, task: Task) -> Fields:
        model = self._model(task.choices)
        if model is None or named_wishes.only_corrects(self._desk, task):
            return _abstained(task, None, 0.0)
        if is_too_long(said_in(task)):
            return _abstained(task, None, 0.0) | {"reason": TOO_LONG}
        return self._read_category(model, task)

    def _read_category(self, model: IntentPredictor, task: Task) -> Fields:
        text = _wishes_in(question_of(task))
        said = _wishes_in(said_in(task))
        if not has_words(text):
            return _abstained(task, None, 0.0) | {"reason": "it says what shall not be done"}
        whole = with_subject(task, said)
        matters = several_matters(self._desk, model, said, received_at(task))
        if matters and all(matter.intent in task.choices for matter in matters):
            sure = min(matter.confidence for matter in matters)
            about = "it is about several things"
            return {"category": matters[0].intent, "confidence": _share(sure), "reason": about}
        prediction = named_wishes.predicted(model, text, whole, _wishes_in(asked_in(task)))
        category = doubted_categories.category_for_appointments(self._desk, task.choices)
        if category is not None and prediction.label not in self._desk.always_asked:
            why = about_a_time(self._desk, task)
            if why is not None:
                return {"category": category, "confidence": _SURE, "reason": why}
        if prediction.label is not None and prediction.label in (
            task.choices or [prediction.label]
        ):
            return {"category": prediction.label, "confidence": _share(prediction.confidence)}
        return self._doubted(task, prediction)

    def _doubted(self, task: Task, prediction: IntentPrediction) -> Fields:
        """A message whose category is not clear by its words. What articles surely answer is a
        question for them; else the likeliest one is drafted from, for a person to look at, if
        nothing is done for it but writing."""
        asking = category_for_articles(self._desk, task.choices)
        if asking is not None and self._all_asks_are_known(task):
            return {"category": asking, "confidence": _SURE, "reason": ANSWERED}
        if _is_short_word(task, prediction, self._desk):
            return {"category": prediction.best, "confidence": _share(prediction.confidence)}
        timed = doubted_categories.as_appointment(self._desk, task, prediction)
        if timed is not None:
            return timed
        named = named_wishes.by_named_thing(self._desk, self._model(task.choices), task, prediction)
        if named is not None:
            return named
        fields = _abstained(task, prediction.best, prediction.confidence)
        said = with_subject(task, said_in(task))
        concern = doubted_categories.as_concern(self._desk, task.choices, said)
        if concern is not None:
            return fields | concern
        plan = (self._desk.plans or {}).get(prediction.best)
        is_choice = not task.choices or prediction.best in task.choices
        if is_choice and plan is not None and only_writes(plan):
            confidence = round(min(_share(prediction.confidence), _DOUBTED), 4)
            fields |= {"category": prediction.best, "confidence": confidence}
        return fields

    def _all_asks_are_known(self, task: Task) -> bool:
        questions = self._questions
        asks = asks_of(task, language_of(wording_of(task), self._desk.languages).code)
        if questions is None or not asks or looked_up(asks) < len(asks):
            return False
        return all(_is_known(likenesses(questions, wordings(ask))) for ask in asks)

    def _translate(self, task: Task) -> Fields:
        """It cannot translate: it says which language this is."""
        language = language_of(task.text, self._desk.languages)
        wanted = str(newest(task, "target_language") or self._desk.languages[0]).partition("-")[0]
        same = language.code == wanted
        reason = f"it is in {wanted} already" if same else "the embedded brain does not translate"
        fields: Fields = {"text": task.text, "translated": False, "reason": reason}
        fields["language"] = language.code or "und"
        return fields | {"confidence": _share(language.confidence) if same else 0.0}

    # --- deciding and answering

    def _decide(self, task: Task) -> Fields:
        understanding = understanding_of(task)
        intent, confidence = understanding.topic, understanding.confidence
        if intent is None:
            classified, confidence = self._classify(task), 0.0
            if not classified.get("abstained"):
                intent = classified["category"]
                confidence = classified["confidence"]
        sure = float(confidence) if isinstance(confidence, int | float) else 0.5
        matters = self._several_matters(task)
        several = decide_several(self._desk, task, matters) if matters else None
        if several is not None:
            return several
        if named_wishes.must_ask_first(self._desk, self._model(task.choices), task, intent):
            task = declared_plans.unsure(task)
        return declared_plans.decide(self._desk, task, intent, _share(sure))

    def _several_matters(self, task: Task) -> list[Matter]:
        """The matters of a message of several things; none for an answer to a question."""
        model = self._model(task.choices)
        said = said_in(task)
        if model is None or newest(task, TURN) is not None or is_too_long(said):
            return []
        return several_matters(self._desk, model, said, received_at(task))

    async def _draft(self, task: Task) -> Fields:
        knowledge = self._desk.knowledge
        said = await asyncio.to_thread(wording_of, task)
        wished = wished_language(said)
        language = wished
        if wished is None or wished != reply_language(wished, self._desk.languages):
            language = await asyncio.to_thread(
                conversation_language, task, said, self._desk.languages
            )
        answers: list[AskAnswer] = []
        too_long = is_too_long(said)
        knowledge = None if too_long else knowledge
        if knowledge is not None and drafting.needs_articles(self._desk, task):
            answers = await self._answers(task, language)
        elif knowledge is not None:
            answers = await self._answers_beside(task, language)
        fields = await asyncio.to_thread(
            drafting.draft, self._desk, task, language, answers, wished=wished
        )
        if too_long:
            fields |= {"hand_over": True, "reason": TOO_LONG, "confidence": 0.0}
        hits = [answer.hit for answer in answers if answer.hit is not None]
        used = drafting.used_hits(fields, hits)
        if knowledge is not None and used and task.run_id is not None:
            try:
                await knowledge.record_sources(task.run_id, used)
            except DeskhandError as error:  # the reply is none the worse for it
                what = "the sources of a reply could not be recorded: %s"
                log.warning(what, error, extra={"run_id": task.run_id})
        return fields

    async def _answers(self, task: Task, language: str | None) -> list[AskAnswer]:
        """What the articles say to each ask; to the whole message where it asks nothing."""
        asks = await asyncio.to_thread(asks_of, task, language)
        if asks:
            return await self._answers_to(task, asks, language)
        answers = await self._answers_to(task, [whole(asked_in(task))], language)
        return [replace(answer, is_whole=True) for answer in answers]

    async def _answers_beside(self, task: Task, language: str | None) -> list[AskAnswer]:
        """What the articles say to asks which are not of the matter that a plan deals with: who
        wants to come on Wednesday may also ask where to park. A desk that has no questions of its
        own cannot tell such asks from the matter's own."""
        if await asyncio.to_thread(self._question_model) is None:
            return []
        asks = await asyncio.to_thread(self._asks_beside, task, language)
        return await self._answers_to(task, asks, language)

    def _asks_beside(self, task: Task, language: str | None) -> list[Part]:
        topic, model = understanding_of(task).topic, self._model(task.choices)
        asks = [ask for ask in asks_of(task, language) if ask.kind is PartKind.ASK]
        questions = self._question_model()
        if model is None or questions is None or topic is None:
            return []
        return asks_beside(topic, asks, model, questions)

    async def _answers_to(
        self, task: Task, asks: Sequence[Part], language: str | None
    ) -> list[AskAnswer]:
        spoken = reply_language(language, self._desk.languages)
        desk = self._desk
        if desk.knowledge is not None:
            looked_at = in_category(desk.knowledge, task.knowledge_category, task.also_categories)
            desk = replace(desk, knowledge=looked_at)
        questions = await asyncio.to_thread(self._question_model)
        subject = own_subject(task)
        return await answers_to(desk, self._embedder, questions, asks, spoken, subject)

    async def aside(self, text: str, run_id: str) -> str | None:
        """What the articles say to a question, in their own words; None where it is not sure that
        they answer all of it."""
        knowledge = self._desk.knowledge
        if knowledge is None:
            return None
        language = (await asyncio.to_thread(language_of, text, self._desk.languages)).code
        parts = [part for part in read_parts(text, "", language) if part.kind is PartKind.ASK]
        spoken = reply_language(language, self._desk.languages)
        questions = await asyncio.to_thread(self._question_model)
        asks = parts or [whole(text)]
        answers = await answers_to(self._desk, self._embedder, questions, asks, spoken)
        hits = [answer.hit for answer in answers if answer.hit is not None and answer.is_sure]
        if len(hits) < len(asks):
            return None
        await knowledge.record_sources(run_id, hits)
        return "\n".join(dict.fromkeys(shortened_quote(hit.text) for hit in hits))

    def _question_model(self) -> IntentPredictor | None:
        with self._learning:
            return self._questions

    # --- made when first needed

    @cached_property
    def _embedder(self) -> Embeds:
        return self._desk.embedder()

    @cached_property
    def _questions(self) -> IntentPredictor | None:
        return self._desk.questions()

    @cached_property
    def _learned(self) -> IntentPredictor | None:
        return self._desk.intents()

    def _model(self, choices: tuple[str, ...]) -> IntentPredictor | None:
        """What was learned from the desk's examples, else a weak start from the categories'
        names."""
        with self._learning:
            if self._learned is not None:
                return self._learned
            names = tuple(choice for choice in choices if choice != OTHER)
            if len(names) < 2:
                return None
            if names not in self._by_names:
                self._by_names[names] = self._desk.by_names(
                    {name: self._described(name) for name in names}
                )
            return self._by_names[names]

    def _described(self, name: str) -> str:
        return (self._desk.descriptions or {}).get(name) or name.replace("_", " ").replace("-", " ")


def _in_thread(work: Callable[[Task], Fields]) -> Callable[[Task], Awaitable[Fields]]:
    """Reading takes 10 to 250 ms of a core: the event loop goes on meanwhile."""
    return lambda task: asyncio.to_thread(work, task)


def _is_known(alike: Sequence[Likeness]) -> bool:
    """Whether it is clear which article answers what is asked, in all its wordings."""
    return are_alike(alike) and max(likeness.confidence for likeness in alike) >= _ALIKE


def _is_short_word(task: Task, prediction: IntentPrediction, desk: EmbeddedDesk) -> bool:
    """Whether it is a word or two, such as thanks, for which nothing is done but answering."""
    plan = (desk.plans or {}).get(prediction.best)
    if plan is None or plan.steps or not plan.reply or prediction.confidence < _LIKELY_WORD:
        return False
    return len(said_in(task).split()) <= _SHORT and not re.search(r"[?\d]", said_in(task))


def _wishes_in(text: str) -> str:
    """What a text may wish for: neither what it says shall not be done nor what it says to a
    machine."""
    return named_wishes.without_denied(without_machine_words(text))


def _abstained(task: Task, best: str | None, confidence: float) -> Fields:
    """It had better not say: `other` if there is such a category, else the likeliest, with no
    confidence at all."""
    category = OTHER if OTHER in task.choices or not task.choices else task.choices[0]
    if OTHER not in task.choices and best in task.choices:
        category = str(best)
    more = {"abstained": True, "best": best, "best_confidence": round(_share(confidence), 4)}
    return {"category": category, "confidence": 0.0, **more}


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
