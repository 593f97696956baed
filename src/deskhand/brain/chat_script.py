"""A chat model that answers by rules from a YAML file, tool calls included: agents without a key,
for evals and demos.

The first rule under `chat:` that fits answers. It sees what a model sees: the text, the turn, what
was called and what came back.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import re2
from jinja2 import TemplateError

from deskhand.brain.fencing import data_in
from deskhand.brain.templates import template_environment
from deskhand.errors import ModelAnswerInvalid
from deskhand.model.chat import ChatRequest, Chunk, Completion, ToolRequest

_TEMPLATES = template_environment()
_WHOLE = re2.compile(r"^\s*\{\{([^{}]*)\}\}\s*$")
"""A text that is one expression: its value keeps its type."""

Made = Callable[[Mapping[str, Any]], Any]
"""A value with its templates filled in."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A request as rules look at it."""

    stage: str
    text: str
    """All that was said to the model, from the message to a reviewer's wish."""
    turn: int
    """The number of the turn that is asked for, from 1."""
    calls: tuple[dict[str, Any], ...]
    """`{tool, arguments, result}` of every call so far."""
    offered: tuple[str, ...]
    """The tools that may be called."""

    @classmethod
    def of(cls, request: ChatRequest) -> "Heard":
        said: list[str] = []
        turn, calls = 1, list[dict[str, Any]]()
        for message in request.messages:
            if message["role"] == "user":
                said.append(data_in(str(message["content"])))
            elif message["role"] == "assistant":
                turn += 1
                calls += [_asked(call["function"]) for call in message.get("tool_calls") or ()]
            elif message["role"] == "tool":
                next(call for call in calls if "result" not in call)["result"] = _read(
                    data_in(str(message["content"]))
                )
        offered = tuple(str(tool["function"]["name"]) for tool in request.tools)
        return cls(request.origin.stage, "\n\n".join(said), turn, tuple(calls), offered)

    @property
    def names(self) -> dict[str, Any]:
        """What templates may speak of; `results` has the newest result of each tool."""
        results = {call["tool"]: call["result"] for call in self.calls}
        return {
            "text": self.text,
            "turn": self.turn,
            "calls": list(self.calls),
            "results": results,
            "offered": list(self.offered),
        }


@dataclass(frozen=True, slots=True)
class ChatWhen:
    """Which requests a rule answers: all that is given must hold."""

    stage: str | None = None
    turn: int | None = None
    contains: tuple[str, ...] = ()
    """Any one of these stands in the text; case does not matter."""
    lacks: tuple[str, ...] = ()
    """None of these does."""
    called: tuple[str, ...] = ()
    not_called: tuple[str, ...] = ()
    find: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """RE2 patterns by name; what each finds is `found.NAME` in templates (its first group, else
    all of it)."""
    where: Made | None = None
    """An expression over what templates may speak of; what is not there makes it false."""

    def fits(self, heard: Heard) -> dict[str, Any] | None:
        """What the patterns found; None when the rule does not fit."""
        text, tools = heard.text.casefold(), {call["tool"] for call in heard.calls}
        if self.stage not in (None, heard.stage) or self.turn not in (None, heard.turn):
            return None
        if self.contains and not any(word.casefold() in text for word in self.contains):
            return None
        if any(word.casefold() in text for word in self.lacks):
            return None
        if not tools.issuperset(self.called) or not tools.isdisjoint(self.not_called):
            return None
        matches: dict[str, Any] = {}
        for name, pattern in self.find.items():
            match = pattern.search(heard.text)
            if match is None:
                return None
            matches[name] = next(
                (group for group in match.groups() if group is not None), match.group()
            )
        names = heard.names | {"found": matches}
        return matches if self.where is None or self._holds(names) else None

    def _holds(self, names: Mapping[str, Any]) -> bool:
        assert self.where is not None
        try:
            return bool(self.where(names))
        except (TemplateError, TypeError, ValueError):
            return False


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What the model says, and the tools it asks for, in order."""

    say: Made
    calls: tuple[tuple[str, Made], ...] = ()

    def completion(
        self, request: ChatRequest, heard: Heard, matches: Mapping[str, Any]
    ) -> Completion:
        names = {**heard.names, "found": matches}
        calls = tuple(
            ToolRequest(f"call_{heard.turn}_{place}", tool, _written(arguments(names)))
            for place, (tool, arguments) in enumerate(self.calls, 1)
        )
        reason = "tool_calls" if calls else "stop"
        return Completion(str(self.say(names)), request.model, calls, finish_reason=reason)


@dataclass(frozen=True, slots=True)
class ChatRule:
    """A condition with an answer, or with one for each turn; a turn may have rules of its own."""

    when: ChatWhen
    turns: tuple["ChatAnswer | tuple[ChatRule, ...]", ...] = ()
    answer: ChatAnswer | None = None
    name: str = ""

    def choose(
        self, heard: Heard, earlier: Mapping[str, Any]
    ) -> "Iterator[tuple[ChatRule, ChatAnswer, dict[str, Any]]]":
        matches = self.when.fits(heard)
        if matches is None:
            return
        matches = {**earlier, **matches}
        if self.answer is not None:
            yield self, self.answer, matches
        elif heard.turn <= len(self.turns):
            here = self.turns[heard.turn - 1]
            if isinstance(here, ChatAnswer):
                yield self, here, matches
            else:
                for rule in here:
                    yield from rule.choose(heard, matches)


class ChatScript:
    """A ChatModel that the rules answer for."""

    def __init__(self, rules: Sequence[ChatRule]) -> None:
        self._rules = tuple(rules)

    async def complete(self, request: ChatRequest) -> Completion:
        heard = Heard.of(request)
        for rule in self._rules:
            for chosen, answer, matches in rule.choose(heard, {}):
                try:
                    return answer.completion(request, heard, matches)
                except Exception as error:  # a template can raise whatever the values in it raise
                    problem = f"{chosen.name}: its template cannot be filled in: {error}"
                    raise ModelAnswerInvalid(
                        f"the script cannot answer turn {heard.turn}: {problem}"
                    ) from None
        raise ModelAnswerInvalid(
            f"no rule of the script answers turn {heard.turn} of stage {heard.stage!r}"
        )

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        completion = await self.complete(request)
        for line in completion.text.splitlines(keepends=True):
            yield Chunk(text=line)
        yield Chunk(completion=completion)


def made(value: Any) -> Made:
    """A value compiled: texts with templates are filled in; one that is a single `{{ expression
    }}` keeps its type."""
    if isinstance(value, str):
        if not any(mark in value for mark in ("{{", "{%", "{#")):
            return lambda names: value
        whole = _WHOLE.match(value)
        if whole is not None:
            return expression(whole.group(1))
        template = _TEMPLATES.from_string(value)
        return lambda names: template.render(names)
    if isinstance(value, Mapping):
        fields = {key: made(item) for key, item in cast(Mapping[str, Any], value).items()}
        return lambda names: {key: item(names) for key, item in fields.items()}
    if isinstance(value, list):
        items = [made(item) for item in value]
        return lambda names: [item(names) for item in items]
    return lambda names: value


def expression(text: str) -> Made:
    """A Jinja2 expression; what is not there is an error."""
    compiled = _TEMPLATES.compile_expression(text.strip(), undefined_to_none=False)

    def value(names: Mapping[str, Any]) -> Any:
        result = compiled(**names)
        if hasattr(result, "_fail_with_undefined_error"):
            str(result)  # raises, with the name that is missing
        return result

    return value


def _asked(function: Mapping[str, Any]) -> dict[str, Any]:
    return {"tool": str(function["name"]), "arguments": _read(str(function["arguments"]))}


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _written(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
