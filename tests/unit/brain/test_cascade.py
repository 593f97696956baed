"""The embedded brain first, the LLM where it is unsure; the desk goes on when the LLM is away."""

from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.chat_models.recording import RecordingChatModel
from deskhand.agents.parts import Parts
from deskhand.brain.cascade import (
    CascadeBrain,
    confidence_of,
    embedded_instead,
)
from deskhand.brain.llm import LlmBrain
from deskhand.brain.savings import read_savings, savings
from deskhand.brain.scripted import ScriptedBrain, ScriptedChatModel
from deskhand.config.sections.brain import EMBEDDED_ALWAYS, LLM_ALWAYS
from deskhand.engine.loop import Flow
from deskhand.errors import (
    ModelAnswerInvalid,
    ModelAway,
    ModelNotUsable,
    ModelRefused,
    ModelUnavailable,
)
from deskhand.model.chat import Completion, Usage
from deskhand.model.run import LlmCall
from deskhand.model.spec import AgentSpec
from deskhand.model.tasks import Answer, Drafted, Task, TaskKind
from deskhand.tools.gate import Gate
from tests.kit import TestClock, a_flow, a_message, engine

SURE, UNSURE = {"category": "a", "confidence": 0.9}, {"category": "a", "confidence": 0.4}


class Cascade:
    def __init__(self, embedded: Any, llm: Any, **options: Any) -> None:
        def by(answer: Any) -> Any:
            def script(task: Task) -> Any:
                if isinstance(answer, Exception):
                    raise answer
                return answer

            return script

        self.clock = TestClock()
        self.embedded = ScriptedBrain(by(embedded), name="embedded")
        self.llm = ScriptedBrain(by(llm), name="llm")
        self.brain = CascadeBrain(self.embedded, self.llm, clock=self.clock, **options)

    async def answer(self, kind: TaskKind = TaskKind.CLASSIFY, **fields: Any) -> Answer:
        return await self.brain.answer(Task(kind=kind, stage="s", **fields))


async def test_a_sure_answer_asks_no_llm_and_says_so() -> None:
    cascade = Cascade(SURE, {"category": "b", "confidence": 1})
    answer = await cascade.answer()
    assert (answer.data, cascade.llm.calls) == (SURE, 0)
    assert answer.answered == {"brain": "embedded", "spared": "classify"}


async def test_an_unsure_answer_is_the_llms() -> None:
    cascade = Cascade(UNSURE, {"category": "b", "confidence": 1})
    answer = await cascade.answer()
    assert answer.data["category"] == "b"
    assert answer.answered == {"brain": "llm", "embedded_confidence": 0.4}


async def test_the_cost_of_an_llm_answer_is_on_it_repairs_included() -> None:
    wrong = Completion("no json", "house/m", usage=Usage(10, 5, 0.002))
    right = Completion('{"category": "b", "confidence": 1}', "house/m", usage=Usage(10, 5, 0.003))
    llm = LlmBrain(ScriptedChatModel([wrong, right]), {}, "house/m")
    brain = CascadeBrain(Cascade(UNSURE, None).embedded, llm, clock=TestClock())
    answer = await brain.answer(Task(kind=TaskKind.CLASSIFY, stage="s"))
    assert answer.answered == {
        "brain": "llm",
        "model": "house/m",
        "cost": pytest.approx(0.005),
        "embedded_confidence": 0.4,
    }


@pytest.mark.parametrize(
    ("threshold", "by"), [(EMBEDDED_ALWAYS, "embedded"), (0.4, "embedded"), (LLM_ALWAYS, "llm")]
)
async def test_the_threshold_is_the_desks(threshold: float, by: str) -> None:
    cascade = Cascade(UNSURE, SURE, thresholds={TaskKind.CLASSIFY: threshold})
    assert (await cascade.answer()).brain == by


async def test_a_stage_with_its_own_prompt_is_the_llms_at_once() -> None:
    cascade = Cascade(ModelAnswerInvalid("needs an LLM"), {"mood": "good"})
    assert (await cascade.answer(TaskKind.PROMPT)).brain == "llm"
    assert cascade.embedded.calls == 0


async def test_what_the_embedded_brain_cannot_answer_the_llm_does() -> None:
    cascade = Cascade({"category": 7}, SURE)
    answer = await cascade.answer()
    assert answer.answered == {"brain": "llm"}


@pytest.mark.parametrize(
    ("error", "held"),
    [
        (ModelUnavailable("down"), "llm_unavailable"),
        (ModelRefused("no key"), "llm_refused"),
        (ModelAnswerInvalid("nonsense"), "llm_answer_invalid"),
    ],
)
async def test_without_the_llm_the_desk_goes_on_and_marks_what_a_person_must_see(
    error: Exception, held: str
) -> None:
    cascade = Cascade(UNSURE, error)
    answer = await cascade.answer()
    assert answer.data == {**UNSURE, "held": held}
    assert answer.answered == {"brain": "embedded", "held": held}


async def test_with_neither_brain_the_stage_fails_as_the_llm_did() -> None:
    with pytest.raises(ModelUnavailable):
        await Cascade(ModelAnswerInvalid("cannot"), ModelUnavailable("down")).answer()


async def test_an_llm_that_is_away_is_left_alone_for_a_while() -> None:
    cascade = Cascade(UNSURE, ModelUnavailable("down"))
    assert [(await cascade.answer()).data["held"] for _ in range(3)] == ["llm_unavailable"] * 3
    assert cascade.llm.calls == 1
    cascade.clock.at += 31
    await cascade.answer()
    assert cascade.llm.calls == 2


@pytest.mark.parametrize(
    ("result", "confidence"),
    [
        ({}, 1.0),
        ({"confidence": 0.8}, 0.8),
        ({"confidence": 0.8, "hand_over": True}, 0.0),
        ({"confidence": "high"}, 0.0),
        ({"confidence": float("nan")}, 0.0),
    ],
)
def test_what_hands_over_is_not_sure(result: dict[str, Any], confidence: float) -> None:
    drafted = Drafted.model_validate({"text": "x", **result})
    assert confidence_of(Answer(result=drafted, brain="b")) == confidence


def call(kind: str, cost: float, **fields: Any) -> LlmCall:
    return LlmCall("run", "s", kind, "house/m", "digest", cost=cost, **fields)


def test_the_money_not_spent_is_what_such_a_question_costs_on_average() -> None:
    notes: list[dict[str, Any]] = [{"brain": "embedded", "spared": "classify"}] * 3 + [
        {"brain": "embedded", "spared": "match"}
    ]
    notes += [{"brain": "llm", "cost": 0.01}, {"brain": "embedded", "held": "llm_unavailable"}]
    calls = [
        call("classify", 0.01),
        call("classify", 0.03),
        call("draft", 0.1),
        call("repair", 0.06),
    ]
    found = savings(notes, [*calls, call("draft", 0.0, error="down")])
    assert (found.spared, found.asked, found.held) == (4, 1, 1)
    assert found.spent == pytest.approx(0.2)
    assert found.saved == pytest.approx(3 * (0.02 + 0.02) + 0.2 / 3)
    assert found.by_task == {"classify": 3, "match": 1}


def test_without_any_call_nothing_is_known_to_be_saved() -> None:
    assert savings([{"brain": "embedded", "spared": "classify"}], []).saved == 0.0


async def test_savings_are_read_from_what_a_desk_recorded(tmp_path: Path) -> None:
    cheap = ScriptedBrain(lambda task: SURE if task.stage == "easy" else UNSURE, name="embedded")
    right = Completion('{"category": "b", "confidence": 1}', "house/m", usage=Usage(10, 5, 0.25))
    stages = {
        "easy": AgentSpec(
            name="easy", has_llm=True, task="classify", output_key="easy", default_next="hard"
        ),
        "hard": AgentSpec(name="hard", has_llm=True, task="classify", output_key="hard"),
    }
    records: list[Any] = []

    async def record(call: LlmCall) -> None:
        await records[0](call)

    def build(gate: Gate) -> Flow:
        chat = RecordingChatModel(ScriptedChatModel(lambda request: right), record, TestClock())
        brain = CascadeBrain(cheap, LlmBrain(chat, {}, "house/m"), clock=TestClock())
        return a_flow(stages, Parts(brain=brain, tools=gate))

    async with engine(tmp_path / "d.db", build) as desk:
        records.append(desk.store.record_call)
        for number in range(2):
            await desk.work(a_message(number))
        found = await read_savings(desk.store)
    assert (found.spared, found.asked, found.by_task) == (2, 2, {"classify": 2})
    assert (found.spent, found.saved) == (0.5, 0.5)


async def test_an_llm_that_may_come_back_is_waited_for_and_then_done_without() -> None:
    away = ModelAway("house/m answered 503", model="house/m", until=1.0, asked=True)
    cascade = Cascade(UNSURE, away)
    for _ in range(2):
        with pytest.raises(ModelAway):
            await cascade.answer()
    assert cascade.llm.calls == 2  # whoever says that it is away knows when to ask again
    answer = await cascade.answer(without_model=True)
    assert (answer.brain, answer.data["held"]) == ("embedded", "llm_unavailable")


async def test_an_llm_with_a_stand_in_keeps_its_other_faults() -> None:
    away = ModelAway("house/m answered 503", model="house/m", until=1.0, asked=True)
    by = Cascade(SURE, away)
    brain = embedded_instead(by.llm, by.embedded, by.clock)
    task = Task(kind=TaskKind.CLASSIFY, stage="s")
    with pytest.raises(ModelAway):
        await brain.answer(task)
    answer = await brain.answer(task.changed(without_model=True))
    assert (answer.brain, answer.data["held"]) == ("embedded", "llm_unavailable")
    refusing = Cascade(SURE, ModelRefused("no"))
    with pytest.raises(ModelRefused):
        await embedded_instead(refusing.llm, refusing.embedded, refusing.clock).answer(task)


async def test_without_a_key_the_embedded_brain_answers_at_once_and_the_run_says_so() -> None:
    fault = ModelNotUsable("gemini/x needs a key and none was found: put one into KEY")
    parts = Cascade(SURE, fault)
    brain = embedded_instead(parts.llm, parts.embedded, parts.clock, while_away=False)
    answer = await brain.answer(Task(kind=TaskKind.CLASSIFY, stage="classify", text="Hi"))
    assert answer.data["category"] == "a"
    assert answer.data["held"].startswith("llm_not_usable: gemini/x needs a key")
    assert answer.answered["held"] == answer.data["held"]


async def test_a_desk_that_leaves_outages_to_people_still_does() -> None:
    gone = ModelAway("away", model="house/m", until=2.0, asked=True)
    for fault in (gone, ModelRefused("content"), ModelAnswerInvalid("nonsense")):
        parts = Cascade(SURE, fault)
        brain = embedded_instead(parts.llm, parts.embedded, parts.clock, while_away=False)
        with pytest.raises(type(fault)):
            await brain.answer(Task(kind=TaskKind.CLASSIFY, stage="s", without_model=True))
