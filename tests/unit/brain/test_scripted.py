"""Scripted brains and chat models."""

from pathlib import Path
from typing import Any

import pytest

from deskhand.brain.scripted import (
    ScriptedBrain,
    ScriptedChatModel,
    ScriptedRule,
    ScriptedWhen,
    load_scripted,
)
from deskhand.errors import ConfigError, ModelAnswerInvalid, ModelUnavailable
from deskhand.model.chat import ChatRequest, Completion
from deskhand.model.tasks import Classified, Task, TaskKind

SCRIPT = """\
rules:
  - when: {stage: triage, task: classify, contains: [REFUND, money back]}
    answer: {category: refund, confidence: 0.9}
  - when: {stage: triage}
    answer: {category: other, confidence: 0.2}
  - when: {task: draft, inputs: {language: cs}}
    answer:
      text: "Dobrý den, {{ inputs.name }}, píšete: {{ text }}"
      sources: ["{{ inputs.name | upper }}", 3]
else: {text: "I do not know."}
"""


def task(kind: TaskKind = TaskKind.CLASSIFY, stage: str = "triage", **more: Any) -> Task:
    return Task(kind=kind, stage=stage, **more)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "answers.yaml"
    path.write_text(SCRIPT)
    return path


async def test_the_first_rule_that_fits_answers(script: Path) -> None:
    brain = load_scripted(script)
    answer = await brain.answer(task(text="A Refund, please", choices=("refund", "other")))
    assert answer.result == Classified(category="refund", confidence=0.9)
    assert (answer.brain, answer.model) == ("scripted", None)
    assert (await brain.answer(task(text="hello"))).data["category"] == "other"
    assert brain.calls == 2


async def test_texts_are_templates_over_text_and_inputs(script: Path) -> None:
    drafting = task(
        TaskKind.DRAFT, "answer", text="{{ kde }}", inputs={"language": "cs", "name": "Anna"}
    )
    assert (await load_scripted(script).answer(drafting)).data == {
        "text": "Dobrý den, Anna, píšete: {{ kde }}",
        "language": None,
        "sources": ["ANNA", 3],
    }


async def test_else_answers_the_rest(script: Path) -> None:
    assert (await load_scripted(script).answer(task(TaskKind.SUMMARISE, "x"))).data == {
        "text": "I do not know."
    }


async def test_without_a_rule_stage_and_task_are_named() -> None:
    brain = ScriptedBrain([ScriptedRule({"text": "x"}, ScriptedWhen(stage="other"))])
    with pytest.raises(ModelAnswerInvalid, match="the classify task of stage 'triage': no rule"):
        await brain.answer(task())


async def test_answers_are_validated_like_a_models(script: Path) -> None:
    with pytest.raises(
        ModelAnswerInvalid,
        match=r"answers\.yaml:4: the field 'category' is 'other', which is not one of",
    ):
        await load_scripted(script).answer(task(text="hello", choices=("refund",)))


async def test_a_template_that_lacks_a_name_says_so() -> None:
    brain = ScriptedBrain(
        [ScriptedRule({"category": "{{ inputs.nothing.more }}", "confidence": 1}, name="one")]
    )
    with pytest.raises(
        ModelAnswerInvalid, match=r"by rule one: its template cannot be filled in: .*nothing"
    ):
        await brain.answer(task())


async def test_templates_run_in_a_sandbox() -> None:
    brain = ScriptedBrain(
        [ScriptedRule({"category": "{{ text.__class__.__mro__ }}", "confidence": 1})]
    )
    with pytest.raises(ModelAnswerInvalid, match="cannot be filled in"):
        await brain.answer(task())


async def test_a_function_may_answer_or_raise() -> None:
    def script(task: Task) -> dict[str, Any] | None:
        if task.stage == "down":
            raise ModelUnavailable("down")
        return {"category": task.text, "confidence": 1} if task.text else None

    brain = ScriptedBrain(script, name="mine")
    assert (await brain.answer(task(text="refund"))).brain == "mine"
    with pytest.raises(ModelAnswerInvalid):
        await brain.answer(task())
    with pytest.raises(ModelUnavailable):
        await brain.answer(task(stage="down"))


async def test_a_rule_may_fail() -> None:
    with pytest.raises(ModelUnavailable):
        await ScriptedBrain([ScriptedRule(ModelUnavailable("down"))]).answer(task())


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("rules: {a: 1}\n", 1, "`rules` is not a list"),
        ("rules:\n  - when: {}\n", 2, "a rule needs an `answer`"),
        ("rules:\n  - answer: {}\n    whem: {}\n", 3, "`whem` means nothing here"),
        ("rules:\n  - answer: {}\n    when:\n      stages: x\n", 4, "`stages` means nothing here"),
        ("rules:\n  - answer: {}\n    when:\n      task: guess\n", 4, "there is no task 'guess'"),
        (
            "rules:\n  - answer: {}\n    when:\n      contains: [1]\n",
            4,
            "`contains` is not a list of words",
        ),
        ("rules:\n  - answer: {}\n    when:\n      inputs: [1]\n", 4, "`inputs` is not a mapping"),
        ("rules:\n  - answer: {}\n    when:\n      stage: 1\n", 4, "`stage` is not a name"),
        ("rules:\n  - answer: {}\n    when: 1\n", 3, "`when` is not a mapping"),
        ("rules:\n  - answer: hello\n", 2, "an answer is a mapping"),
        ("rules:\n  - answer:\n      text: '{{ a'\n", 3, "line 1 of this template"),
        ("else:\n  text: '{% if %}'\n", 2, "line 1 of this template"),
        ("rules: []\n", 1, "there is no rule"),
        ("rules: [\n", None, "not YAML"),
    ],
)
def test_a_wrong_script_names_file_and_line(
    tmp_path: Path, text: str, line: int | None, words: str
) -> None:
    path = tmp_path / "answers.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_scripted(path)
    assert words in str(caught.value)
    assert caught.value.file == path
    assert line in (None, caught.value.line)
    assert caught.value.fix


def test_a_missing_script_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_scripted(tmp_path / "nowhere.yaml")


REQUEST = ChatRequest(messages=({"role": "user", "content": "hi"},), model="house/small")


async def test_a_chat_model_plays_its_script_in_order() -> None:
    chat = ScriptedChatModel(["one", Completion("two", "x/y"), ModelUnavailable("down")])
    assert await chat.complete(REQUEST) == Completion("one", "house/small")
    assert (await chat.complete(REQUEST)).model == "x/y"
    with pytest.raises(ModelUnavailable):
        await chat.complete(REQUEST)
    with pytest.raises(ModelAnswerInvalid, match="used up: call 4"):
        await chat.complete(REQUEST)
    assert chat.calls == 4


async def test_a_chat_model_may_ask_a_function() -> None:
    chat = ScriptedChatModel(lambda request: str(request.messages[-1]["content"]).upper())
    assert (await chat.complete(REQUEST)).text == "HI"


async def test_a_script_streams_too() -> None:
    chunks = [chunk async for chunk in ScriptedChatModel(["a\nb"]).stream(REQUEST)]
    assert [chunk.text for chunk in chunks] == ["a\n", "b", ""]
    assert chunks[-1].completion == Completion("a\nb", "house/small")


async def test_a_rule_may_reach_into_what_earlier_stages_said() -> None:
    rule = ScriptedRule(
        {"category": "refund", "confidence": 1},
        ScriptedWhen(inputs={"outputs.classify.category": "refund"}),
    )
    brain = ScriptedBrain([rule, ScriptedRule({"category": "other", "confidence": 1})])
    for said, expected in (("refund", "refund"), ("order", "other")):
        task = Task(
            kind=TaskKind.CLASSIFY,
            stage="again",
            inputs={"outputs": {"classify": {"category": said}}},
        )
        assert (await brain.answer(task)).data["category"] == expected
    assert (await brain.answer(Task(kind=TaskKind.CLASSIFY, stage="again"))).data[
        "category"
    ] == "other"


async def test_what_no_rule_fits_may_go_to_the_embedded_brain(tmp_path: Path) -> None:
    path = tmp_path / "brain.yaml"
    rules = "rules: [{when: {contains: [x]}, answer: {category: a, confidence: 0.9}}]\n"
    path.write_text(f"others: embedded\n{rules}")
    other = ScriptedBrain(lambda task: {"category": "b", "confidence": 0.9}, name="embedded")
    brain = load_scripted(path, lambda: other)
    asked = [task(text=text, choices=("a", "b")) for text in ("x", "y")]
    answers = [await brain.answer(one) for one in asked]
    assert [(answer.data["category"], answer.brain) for answer in answers] == [
        ("a", "scripted"),
        ("b", "embedded"),
    ]


def test_rules_without_a_desk_have_nobody_else_to_ask(tmp_path: Path) -> None:
    path = tmp_path / "brain.yaml"
    path.write_text("others: embedded\n")
    with pytest.raises(ConfigError, match="others"):
        load_scripted(path)
