"""A chat model scripted in YAML: which rule answers, what it may look at, and what is told about
a mistake."""

import json
from pathlib import Path
from typing import Any

import pytest

from deskhand.brain.chat_script_file import load_chat_script
from deskhand.brain.scripted import load_scripted
from deskhand.errors import ConfigError, ModelAnswerInvalid
from deskhand.model.chat import ChatRequest, Completion, Origin

SCRIPT = """\
chat:
  - when: {find: {drug: '(?i)(ibuprofen|paralen)'}, lacks: [pregnant]}
    turns:
      - call: {search: {query: "{{ found.drug | lower }}", limit: 5}}
      - - when: {where: "results.search.drugs | selectattr('stock') | list"}
          call:
            - reserve: {drug: "{{ results.search.drugs[0].id }}"}
            - reserve: {drug: "{{ results.search.drugs[0].id }}", note: "for {{ found.drug }}"}
        - say: We have none.
      - say: "Reserved {{ calls | length - 1 }} of {{ results.search.drugs[0].name }}."
  - when: {contains: [pregnant, alcohol], not_called: [escalate]}
    call: {escalate: {reason: medical}}
  - when: {contains: [broken]}
    call: {search: "{not json"}
  - when: {turn: 1, stage: agent}
    say: Which medicine is it?
"""


def script_of(tmp_path: Path, text: str = SCRIPT) -> Any:
    (tmp_path / "brain.yaml").write_text(text)
    return load_chat_script(tmp_path / "brain.yaml")


def request(text: str, *turns: tuple[Completion, list[Any]]) -> ChatRequest:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "pregnant"},
        {"role": "user", "content": text},
    ]
    for turn, results in turns:
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in turn.tool_calls
        ]
        messages.append({"role": "assistant", "content": turn.text or None, "tool_calls": calls})
        for call, result in zip(turn.tool_calls, results, strict=True):
            messages.append(
                {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)}
            )
    return ChatRequest(tuple(messages), "test/model", origin=Origin(stage="agent"))


def calls(turn: Completion) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in turn.tool_calls]


async def test_rules_see_the_text_the_turn_and_what_came_back(tmp_path: Path) -> None:
    script, text = script_of(tmp_path), "Do you have Ibuprofen?"
    first = await script.complete(request(text))
    assert calls(first) == [("search", {"query": "ibuprofen", "limit": 5})]
    assert first.finish_reason == "tool_calls"
    found = {"drugs": [{"id": 7, "name": "Ibalgin", "stock": 2}]}
    second = await script.complete(request(text, (first, [found])))
    assert calls(second) == [
        ("reserve", {"drug": 7}),
        ("reserve", {"drug": 7, "note": "for Ibuprofen"}),
    ]
    last = await script.complete(request(text, (first, [found]), (second, [{}, {}])))
    assert (last.text, last.tool_calls, last.finish_reason) == (
        "Reserved 2 of Ibalgin.",
        (),
        "stop",
    )
    none = await script.complete(request(text, (first, [{"drugs": [{"id": 7, "stock": 0}]}])))
    assert none.text == "We have none."
    failed = await script.complete(request(text, (first, [{"error": "the search is down"}])))
    assert failed.text == "We have none.", "what is not there makes `where` false"


async def test_words_are_looked_for_in_what_was_said_to_the_model_only(tmp_path: Path) -> None:
    script = script_of(tmp_path)
    asked = await script.complete(request("Can I take Paralen with ALCOHOL? I am pregnant."))
    assert calls(asked) == [("escalate", {"reason": "medical"})]
    assert (await script.complete(request("Hello"))).text == "Which medicine is it?"
    broken = await script.complete(request("It is broken"))
    assert broken.tool_calls[0].arguments == "{not json"


async def test_a_request_that_no_rule_answers_is_an_answer_that_cannot_be_used(
    tmp_path: Path,
) -> None:
    script = script_of(tmp_path)
    hello = await script.complete(request("Hello"))
    with pytest.raises(ModelAnswerInvalid, match="no rule of the script answers turn 2"):
        await script.complete(request("Hello", (hello, [])))


async def test_a_template_without_its_value_is_told_with_its_rule(tmp_path: Path) -> None:
    script = script_of(tmp_path, 'chat:\n  - say: "{{ results.search.drugs }}"\n')
    with pytest.raises(ModelAnswerInvalid, match=r"brain.yaml:2.*search"):
        await script.complete(request("Hello"))


async def test_a_streamed_answer_comes_in_pieces_and_whole(tmp_path: Path) -> None:
    script = script_of(tmp_path, "chat:\n  - say: |\n      Hello,\n      you.\n")
    chunks = [chunk async for chunk in script.stream(request("Hi"))]
    assert [chunk.text for chunk in chunks] == ["Hello,\n", "you.\n", ""]
    assert chunks[-1].completion is not None
    assert chunks[-1].completion.text == "Hello,\nyou.\n"


def test_tasks_and_agents_may_have_their_rules_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "brain.yaml").write_text("rules: [{answer: {text: x}}]\nchat: [{say: y}]\n")
    assert load_chat_script(tmp_path / "brain.yaml") is not None
    assert load_scripted(tmp_path / "brain.yaml") is not None
    (tmp_path / "brain.yaml").write_text("rules: [{answer: {text: x}}]\n")
    assert load_chat_script(tmp_path / "brain.yaml") is None


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("{}", "needs `call`, `say` or `turns`"),
        ("{say: x, answer: y}", "`answer` means nothing here"),
        ("{say: [x]}", "`say` is not text"),
        ("{say: '{% if %}'}", "the template is wrong"),
        ("{call: search}", "not a mapping of tools"),
        ("{call: {search: 3}}", "the arguments of `search` are no mapping"),
        ("{turns: []}", "`turns` is not a list"),
        ("{turns: [{when: {}, say: x}]}", "`when` means nothing here"),
        ("{turns: [{say: x}], say: y}", "either `turns` or one answer"),
        ("{when: {contain: [x]}, say: y}", "`contain` means nothing here"),
        ("{when: {turn: 0}, say: y}", "`turn` is not a number"),
        ("{when: {find: {a: '('}}, say: y}", "not an RE2 pattern"),
        ("{when: {where: 'a b'}, say: y}", "the template is wrong"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, rule: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        script_of(tmp_path, f"# rules\nchat:\n  - {rule}\n")
    assert problem in caught.value.problem
    assert caught.value.line == 3
    assert caught.value.fix
