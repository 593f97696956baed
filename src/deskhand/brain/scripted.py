"""Brains and chat models that answer by a script: for tests, evals, demonstrations and replay."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Template, TemplateSyntaxError

from deskhand.brain.json_answer import AnswerProblem
from deskhand.brain.results import result_of
from deskhand.brain.templates import template_environment
from deskhand.config.yaml import YamlFile, read_yaml
from deskhand.errors import ModelAnswerInvalid
from deskhand.model.chat import ChatRequest, Chunk, Completion
from deskhand.model.tasks import Answer, Task, TaskKind
from deskhand.ports import Brain

Fields = Mapping[str, Any]
Script = Callable[[Task], Fields | None]
Step = Completion | str | Exception

_TEMPLATES = template_environment()


@dataclass(frozen=True, slots=True)
class ScriptedWhen:
    """Which tasks a rule answers: all that is given must hold, of `contains` any one word (case
    does not matter).

    Names of `inputs` with dots reach into mappings: `outputs.classify.category`.
    """

    stage: str | None = None
    task: TaskKind | None = None
    contains: tuple[str, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def fits(self, task: Task) -> bool:
        if self.stage not in (None, task.stage) or self.task not in (None, task.kind):
            return False
        for key, value in self.inputs.items():
            if _reach(task.inputs, key) != value:
                return False
        if not self.contains:
            return True
        text = task.text.casefold()
        return any(word.casefold() in text for word in self.contains)


def _reach(inputs: Mapping[str, Any], name: str) -> Any:
    here: Any = inputs
    for part in [name] if name in inputs else name.split("."):
        here = here.get(part) if isinstance(here, Mapping) else None
    return here


class ScriptedRule:
    """An answer for the tasks that fit. Its texts are Jinja2 templates over `text` and `inputs`."""

    def __init__(
        self, answer: Fields | Exception, when: ScriptedWhen | None = None, name: str = ""
    ) -> None:
        self.when, self.name = when or ScriptedWhen(), name
        self._answer = answer if isinstance(answer, Exception) else _compiled(answer)

    def fields(self, task: Task) -> Fields:
        if isinstance(self._answer, Exception):
            raise self._answer
        context = {"text": task.text, "inputs": task.inputs}
        try:
            rendered: Fields = _rendered(self._answer, context)
        except Exception as error:  # a template can raise whatever the values in it raise
            problem = str(error) or type(error).__name__
        else:
            return rendered
        raise AnswerProblem(f"its template cannot be filled in: {problem}")


class ScriptedBrain:
    """Answers by the first rule that fits, or by a function that returns fields (None: it has no
    answer). What it has no answer for, it leaves to another brain if there is one."""

    def __init__(
        self,
        rules: Iterable[ScriptedRule] | Script,
        *,
        name: str = "scripted",
        others: Brain | None = None,
    ) -> None:
        self.name = name
        self.calls = 0
        self._others = others
        self._script: Script | None = rules if callable(rules) else None
        self._rules: tuple[ScriptedRule, ...] = () if callable(rules) else tuple(rules)

    async def answer(self, task: Task) -> Answer:
        self.calls += 1
        rule = next((rule for rule in self._rules if rule.when.fits(task)), None)
        try:
            if self._script is not None:
                fields = self._script(task)
            else:
                fields = None if rule is None else rule.fields(task)
            if fields is not None:
                return Answer(result=result_of(task, fields), brain=self.name)
            if self._others is not None:
                return await self._others.answer(task)
            problem = "no rule fits it"
        except AnswerProblem as error:
            problem = str(error)
        where = f"the {task.kind.value} task of stage {task.stage!r}"
        by = f" by rule {rule.name}" if rule is not None and rule.name else ""
        raise ModelAnswerInvalid(f"{self.name} cannot answer {where}{by}: {problem}")


class ScriptedChatModel:
    """Plays completions, texts or exceptions in order, or asks a function for each; keeps all
    requests."""

    def __init__(self, script: Iterable[Step] | Callable[[ChatRequest], Step]) -> None:
        self.requests: list[ChatRequest] = []
        self._choose: Callable[[ChatRequest], Step]
        if callable(script):
            self._choose = script
        else:
            steps: Iterator[Step] = iter(script)
            self._choose = lambda _: next(steps, _used_up(len(self.requests)))

    @property
    def calls(self) -> int:
        return len(self.requests)

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        step = self._choose(request)
        if isinstance(step, Exception):
            raise step
        return Completion(text=step, model=request.model) if isinstance(step, str) else step

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        completion = await self.complete(request)
        for word in completion.text.splitlines(keepends=True):
            yield Chunk(text=word)
        yield Chunk(completion=completion)


def _used_up(calls: int) -> ModelAnswerInvalid:
    return ModelAnswerInvalid(f"the script is used up: call {calls} has no answer")


def load_scripted(path: Path, embedded: Callable[[], Brain] | None = None) -> ScriptedBrain:
    """Read `rules:` (a list of `when` and `answer`) and `else:` from a YAML file; every mistake is
    a ConfigError.

    With `others: embedded`, the desk's embedded brain answers what no rule fits. What stands under
    `chat:` is for agents: see chat_script_file.py.
    """
    file = read_yaml(path)
    _only_keys(file, (), file.data, ("rules", "else", "chat", "others"))
    others = _others(file, embedded)
    entries = file.data.get("rules", [])
    if not isinstance(entries, list):
        raise file.problem(
            ("rules",),
            "`rules` is not a list",
            "write `- when: {...}` and `answer: {...}` below it",
        )
    rules = [_rule(file, index, entry) for index, entry in enumerate(entries)]
    if "else" in file.data:
        rules.append(ScriptedRule(_answer(file, ("else",), file.data["else"]), name="else"))
    if not rules and "chat" not in file.data:
        raise file.problem(
            (), "there is no rule", "write `rules:` with at least one `answer`, or `else:`"
        )
    return ScriptedBrain(rules, others=others)


def _others(file: YamlFile, embedded: Callable[[], Brain] | None) -> Brain | None:
    """Who answers what no rule fits; None where the file names nobody."""
    named = file.data.get("others")
    if named is None:
        return None
    if named != "embedded" or embedded is None:
        raise file.problem(
            ("others",),
            f"`others` cannot be {named!r}",
            "write `others: embedded` in the rules of a desk, or leave it out",
        )
    return embedded()


def _rule(file: YamlFile, index: int, entry: Any) -> ScriptedRule:
    place = ("rules", index)
    if not isinstance(entry, dict) or "answer" not in entry:
        raise file.problem(
            place, "a rule needs an `answer`", "write `when: {...}` and `answer: {...}`"
        )
    _only_keys(file, place, entry, ("when", "answer"))
    answer = _answer(file, (*place, "answer"), entry["answer"])
    return ScriptedRule(
        answer,
        _when(file, (*place, "when"), entry.get("when", {})),
        name=f"{file.path}:{file.line(place)}",
    )


def _when(file: YamlFile, place: tuple[str | int, ...], when: Any) -> ScriptedWhen:
    if not isinstance(when, dict):
        raise file.problem(
            place, "`when` is not a mapping", "write `when: {stage: NAME, contains: [word]}`"
        )
    _only_keys(file, place, when, ("stage", "task", "contains", "inputs"))
    stage, kind, inputs = when.get("stage"), when.get("task"), when.get("inputs", {})
    words = when.get("contains", [])
    words = [words] if isinstance(words, str) else words
    if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
        raise file.problem(
            (*place, "contains"),
            "`contains` is not a list of words",
            "write `contains: [refund, money]`",
        )
    if stage is not None and not isinstance(stage, str):
        raise file.problem((*place, "stage"), "`stage` is not a name", "write the name of a stage")
    if not isinstance(inputs, dict):
        raise file.problem(
            (*place, "inputs"), "`inputs` is not a mapping", "write `inputs: {language: cs}`"
        )
    kinds = [task.value for task in TaskKind]
    if kind is not None and kind not in kinds:
        raise file.problem(
            (*place, "task"), f"there is no task {kind!r}", f"write one of: {', '.join(kinds)}"
        )
    return ScriptedWhen(stage, None if kind is None else TaskKind(kind), tuple(words), inputs)


def _answer(file: YamlFile, place: tuple[str | int, ...], answer: Any) -> Fields:
    if not isinstance(answer, dict):
        raise file.problem(
            place, "an answer is a mapping of fields", "write `answer: {category: refund, ...}`"
        )
    for key, value in answer.items():
        try:
            _compiled(value)
        except TemplateSyntaxError as error:
            problem = f"line {error.lineno} of this template: {error.message}"
            raise file.problem((*place, key), problem, "correct the Jinja2 template") from None
    return answer


def _only_keys(
    file: YamlFile, place: tuple[str | int, ...], data: Mapping[str, Any], keys: tuple[str, ...]
) -> None:
    for key in data:
        if key not in keys:
            raise file.problem(
                (*place, key), f"`{key}` means nothing here", f"write one of: {', '.join(keys)}"
            )


def _compiled(value: Any) -> Any:
    """The same value with every text that holds a template compiled."""
    if isinstance(value, str):
        is_template = any(mark in value for mark in ("{{", "{%", "{#"))
        return _TEMPLATES.from_string(value) if is_template else value
    if isinstance(value, Mapping):
        return {key: _compiled(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_compiled(item) for item in value]
    return value


def _rendered(value: Any, context: Mapping[str, Any]) -> Any:
    if isinstance(value, Template):
        return value.render(context)
    if isinstance(value, dict):
        return {key: _rendered(item, context) for key, item in value.items()}
    if isinstance(value, list):
        return [_rendered(item, context) for item in value]
    return value
