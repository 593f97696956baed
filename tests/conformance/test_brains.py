"""What every brain must do: answer each kind of task with its typed result, or say clearly that
it cannot."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from deskhand.adapters.chat_models.http_model import HttpChatModel
from deskhand.brain.cascade import CascadeBrain
from deskhand.brain.embedded import EmbeddedBrain
from deskhand.brain.llm import LlmBrain
from deskhand.brain.redacting_chat import RedactingChatModel
from deskhand.brain.scripted import ScriptedChatModel
from deskhand.errors import ModelAnswerInvalid, ModelUnavailable
from deskhand.model.chat import ChatRequest, Completion, Usage
from deskhand.model.plan import Plan
from deskhand.model.tasks import RESULT_TYPES, Answer, Task, TaskKind
from deskhand.ports import Brain
from tests.embedded_desk import a_desk, a_task, hit
from tests.fake_openai import FakeOpenAI, completion
from tests.kit import TestClock

CHOICES = {TaskKind.CLASSIFY: ("order_status", "refund", "other"), TaskKind.EXTRACT: ("order",)}
INPUTS: dict[str, Any] = {
    "candidates": [
        {"id": "T1", "subject": "The boots have not arrived"},
        {"id": "T2", "subject": "Wrong invoice"},
    ],
    "criteria": [{"min_words": 1}],
}
NEED_A_MODEL = (TaskKind.PROMPT, TaskKind.VERIFY)
MODEL_SAYS: dict[str, dict[str, Any]] = {
    "classify": {"category": "other", "confidence": 0.8},
    "extract": {"values": {"order": "P-1001"}},
    "translate": {"text": "Where is it?", "language": "en"},
    "decide": {"steps": [{"tool": "find_order", "parameters": {}}], "reasoning": "look it up"},
    "draft": {"text": "Hello", "language": "en"},
    "match": {"match": None, "confidence": 0.9},
    "summarise": {"text": "A question."},
    "judge": {"passed": True, "reason": "fine"},
    "verify": {"verdicts": [{"number": 1, "quote": "", "supported": False}]},
    "prompt": {"mood": "good"},
}


def model() -> ScriptedChatModel:
    def reply(request: ChatRequest) -> Completion:
        text = json.dumps(MODEL_SAYS[request.origin.call_type])
        return Completion(text, request.model, usage=Usage(100, 20, 0.001))

    return ScriptedChatModel(reply)


def embedded() -> Brain:
    return EmbeddedBrain(a_desk(hit()))


def llm() -> Brain:
    return LlmBrain(model(), {}, "house/model")


def redacting() -> Brain:
    return LlmBrain(RedactingChatModel(model()), {}, "house/model")


def cascade() -> Brain:
    return CascadeBrain(embedded(), llm(), clock=TestClock())


def cascade_alone() -> Brain:
    away = ScriptedChatModel(lambda request: ModelUnavailable("down"))
    return CascadeBrain(embedded(), LlmBrain(away, {}, "house/model"), clock=TestClock())


BRAINS: tuple[Callable[[], Brain], ...] = (embedded, llm, redacting, cascade, cascade_alone)
BAD_TEXTS = {
    "empty": "",
    "blank": " \n\t ",
    "a megabyte": "Where is my parcel P-1001? " * 40_000,
    "a megabyte without a space": "x" * 1_000_000,
    "emoji only": "😀🎉👍🏽" * 20,
    "control characters": "\x00\x01\x1b[31mWhere\x7f is\u202e it\ufeff?",
    "mixed scripts": "Kde je můj Paket? 我的包裹在哪里 где посылка? أين الطرد",
    "half a character": "Where is \ud800 it?",
    "markup": "</data> {{ 7*7 }} {slots.order} [EMAIL_1] <script>",
}


def task(kind: TaskKind, text: str = "Good morning, where is my parcel P-1001?") -> Task:
    return a_task(kind, text, choices=CHOICES.get(kind, ()), inputs=INPUTS, prompt=None)


async def typed(brain: Brain, asked: Task) -> Answer | None:
    """The answer, with everything checked that its kind promises; None for a clear refusal."""
    try:
        answer = await brain.answer(asked)
    except (ModelAnswerInvalid, ModelUnavailable) as error:
        words = str(error)
        if asked.stage not in words and "down" not in words and "reached" not in words:
            pytest.fail(f"that says too little: {words}")
        return None
    assert isinstance(answer.result, RESULT_TYPES[asked.kind])
    assert answer.brain in ("embedded", "llm")
    assert answer.answered["brain"] == answer.brain
    data = answer.data
    json.dumps(data)
    if "confidence" in data:
        assert 0 <= data["confidence"] <= 1
    if asked.choices and asked.kind is TaskKind.CLASSIFY:
        assert data["category"] in asked.choices
    if asked.kind is TaskKind.DECIDE:
        Plan.parse(data)
    if asked.kind is TaskKind.DRAFT:
        assert data["text"].strip()
    return answer


@pytest.mark.parametrize("make", BRAINS)
@pytest.mark.parametrize("kind", list(TaskKind))
async def test_every_task_has_a_typed_answer_or_a_clear_refusal(
    make: Callable[[], Brain], kind: TaskKind
) -> None:
    answer = await typed(make(), task(kind))
    assert (answer is None) == (kind in NEED_A_MODEL and make in (embedded, cascade_alone))


@pytest.mark.parametrize("make", BRAINS)
@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
async def test_no_text_breaks_a_brain(make: Callable[[], Brain], text: str) -> None:
    """Hiding personal data in a megabyte takes twenty seconds of CPU: here a tenth of it."""
    if make is redacting:
        text = text[:100_000]
    await every_kind_is_typed(make, text)


@pytest.mark.chaos
@pytest.mark.parametrize("named", ["a megabyte", "a megabyte without a space"])
async def test_a_whole_megabyte_does_not_break_the_redacting_brain(named: str) -> None:
    await every_kind_is_typed(redacting, BAD_TEXTS[named])


async def every_kind_is_typed(make: Callable[[], Brain], text: str) -> None:
    brain = make()
    for kind in (
        TaskKind if len(text) < 100_000 or make is embedded else (TaskKind.CLASSIFY, TaskKind.DRAFT)
    ):
        await typed(brain, task(kind, text))


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
async def test_the_embedded_brain_claims_nothing_about_what_it_cannot_read(text: str) -> None:
    if "parcel" in text:
        return
    answer = await typed(embedded(), task(TaskKind.CLASSIFY, text))
    assert answer is not None
    assert answer.data["confidence"] == 0.0


@pytest.mark.parametrize(
    "inputs", [{}, {"message": None}, {"outputs": None}, {"message": {"sender": "x"}}]
)
@pytest.mark.parametrize("make", [embedded, redacting])
async def test_a_task_that_brings_little_is_answered_as_well(
    make: Callable[[], Brain], inputs: dict[str, Any]
) -> None:
    brain = make()
    for kind in TaskKind:
        asked = Task(
            kind=kind,
            stage="stage",
            text="Where is my parcel?",
            inputs=inputs,
            choices=CHOICES.get(kind, ()),
        )
        await typed(brain, asked)


async def test_the_llm_brain_over_http_answers_every_task() -> None:
    script = [completion(json.dumps(MODEL_SAYS[kind.value])) for kind in TaskKind]
    async with FakeOpenAI(script) as server:
        chat = HttpChatModel(environ={"DESKHAND_VLLM_BASE_URL": server.base_url})
        brain = LlmBrain(RedactingChatModel(chat), {}, "vllm/llama3")
        for kind in TaskKind:
            assert await typed(brain, task(kind)) is not None
        await chat.aclose()
    assert "ann@example.com" not in json.dumps([asked.body for asked in server.received])
