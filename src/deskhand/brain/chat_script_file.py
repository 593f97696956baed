"""`chat:` of a file of rules: read into a chat model, every mistake with its line."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import re2
from jinja2 import TemplateSyntaxError

from deskhand.brain.chat_script import (
    ChatAnswer,
    ChatRule,
    ChatScript,
    ChatWhen,
    Made,
    expression,
    made,
)
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlFile, YamlPlace, read_yaml
from deskhand.errors import ConfigError

CHAT = "chat"
_RULE_KEYS = ("when", "call", "say", "turns")
_WHEN_KEYS = ("stage", "turn", "contains", "lacks", "called", "not_called", "find", "where")
_RULE = (
    "write `- when: {contains: [word]}` with `call: {TOOL: {...}}`, `say: text` or `turns: [...]`"
)


def load_chat_script(path: Path) -> ChatScript | None:
    """The chat model that a file of rules describes; None when it has no `chat:`."""
    file = read_yaml(path)
    if CHAT not in file.data:
        return None
    rules = _rules(file, (CHAT,), file.data[CHAT])
    if not rules:
        raise file.problem((CHAT,), "there is no rule", _RULE)
    return ChatScript(rules)


def _rules(file: YamlFile, place: YamlPlace, entries: Any) -> list[ChatRule]:
    if not isinstance(entries, list):
        raise file.problem(place, f"`{place[-1]}` is not a list of rules", _RULE)
    return [_rule(file, (*place, index), entry) for index, entry in enumerate(entries)]


def _rule(file: YamlFile, place: YamlPlace, entry: Any) -> ChatRule:
    if not isinstance(entry, dict) or not entry.keys() & {"call", "say", "turns"}:
        raise file.problem(place, "a rule needs `call`, `say` or `turns`", _RULE)
    rule = cast(dict[str, Any], entry)
    _only_keys(file, place, rule, _RULE_KEYS)
    when = _when(file, (*place, "when"), rule.get("when", {}))
    name = f"{file.path.name}:{file.line(place)}"
    if "turns" not in rule:
        return ChatRule(when, answer=_answer(file, place, rule), name=name)
    if rule.keys() & {"call", "say"}:
        problem = "a rule has either `turns` or one answer for whenever it fits"
        raise file.problem((*place, "turns"), problem, "move `call` and `say` into the turns")
    turns = rule["turns"]
    if not isinstance(turns, list) or not turns:
        raise file.problem(
            (*place, "turns"), "`turns` is not a list", "write an answer for each turn, in order"
        )
    every = [_turn(file, (*place, "turns", index), turn) for index, turn in enumerate(turns)]
    return ChatRule(when, turns=tuple(every), name=name)


def _turn(file: YamlFile, place: YamlPlace, turn: Any) -> "ChatAnswer | tuple[ChatRule, ...]":
    """An answer, or rules of which the first that fits answers this turn."""
    if isinstance(turn, list):
        return tuple(_rules(file, place, turn))
    if not isinstance(turn, dict) or not turn.keys() & {"call", "say"}:
        raise file.problem(
            place,
            "a turn needs `call` or `say`",
            "or a list of rules, of which the first that fits",
        )
    _only_keys(file, place, turn, ("call", "say"))
    return _answer(file, place, turn)


def _answer(file: YamlFile, place: YamlPlace, rule: Mapping[str, Any]) -> ChatAnswer:
    calls: list[tuple[str, Made]] = []
    for where, tool, arguments in _calls(file, (*place, "call"), rule.get("call", {})):
        if not isinstance(arguments, dict | str):
            raise file.problem(
                where,
                f"the arguments of `{tool}` are no mapping",
                f"write `{tool}: {{name: value}}`",
            )
        calls.append((tool, _compiled(file, where, arguments)))
    say = rule.get("say", "")
    if not isinstance(say, str):
        raise file.problem((*place, "say"), "`say` is not text", "write what the model says")
    return ChatAnswer(_compiled(file, (*place, "say"), say), tuple(calls))


def _calls(file: YamlFile, place: YamlPlace, calls: Any) -> list[tuple[YamlPlace, str, Any]]:
    """`{tool: arguments, ...}`, or a list of those where a tool is called twice."""
    if isinstance(calls, list):
        every: list[tuple[YamlPlace, str, Any]] = []
        for index, entry in enumerate(calls):
            every += _calls(file, (*place, index), entry)
        return every
    if not isinstance(calls, dict):
        raise file.problem(
            place, "`call` is not a mapping of tools to arguments", "write `call: {TOOL: {...}}`"
        )
    return [
        ((*place, str(tool)), str(tool), arguments or {})
        for tool, arguments in cast(dict[str, Any], calls).items()
    ]


def _when(file: YamlFile, place: YamlPlace, when: Any) -> ChatWhen:
    if not isinstance(when, dict):
        raise file.problem(place, "`when` is not a mapping", "write `when: {contains: [word]}`")
    given = cast(dict[str, Any], when)
    _only_keys(file, place, given, _WHEN_KEYS)
    turn, stage, where = given.get("turn"), given.get("stage"), given.get("where")
    if turn is not None and not (isinstance(turn, int) and turn >= 1):
        raise file.problem(
            (*place, "turn"), "`turn` is not a number from 1 on", "write `turn: 1` for the first"
        )
    if stage is not None and not isinstance(stage, str):
        raise file.problem((*place, "stage"), "`stage` is not a name", "write the name of a stage")
    if where is not None and not isinstance(where, str):
        raise file.problem(
            (*place, "where"), "`where` is not text", 'write an expression: `where: "results.x.ok"`'
        )
    return ChatWhen(
        stage=stage,
        turn=turn,
        contains=_words(file, place, given, "contains"),
        lacks=_words(file, place, given, "lacks"),
        called=_words(file, place, given, "called"),
        not_called=_words(file, place, given, "not_called"),
        find=_patterns(file, (*place, "find"), given.get("find", {})),
        where=None
        if where is None
        else _checked(file, (*place, "where"), lambda: expression(where)),
    )


def _words(file: YamlFile, place: YamlPlace, when: Mapping[str, Any], key: str) -> tuple[str, ...]:
    words = when.get(key, [])
    words = [words] if isinstance(words, str) else words
    if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
        raise file.problem(
            (*place, key), f"`{key}` is not a list of words", f"write `{key}: [one, two]`"
        )
    return tuple(cast(list[str], words))


def _patterns(file: YamlFile, place: YamlPlace, patterns: Any) -> dict[str, Any]:
    if not isinstance(patterns, dict):
        raise file.problem(place, "`find` is not a mapping", "write `find: {order: 'P-[0-9]+'}`")
    options = re2.Options()
    options.log_errors = False
    compiled: dict[str, Any] = {}
    for name, pattern in cast(dict[str, Any], patterns).items():
        try:
            compiled[name] = re2.compile(str(pattern), options)
        except (re2.error, UnicodeEncodeError):
            raise file.problem(
                (*place, name), "this is not an RE2 pattern", "correct it; quote it with '...'"
            ) from None
    return compiled


def _compiled(file: YamlFile, place: YamlPlace, value: Any) -> Made:
    return _checked(file, place, lambda: made(value))


def _checked(file: YamlFile, place: YamlPlace, compile_it: Any) -> Made:
    try:
        return cast(Made, compile_it())
    except TemplateSyntaxError as error:
        problem: ConfigError = file.problem(
            place, f"the template is wrong: {error.message}", "correct the Jinja2"
        )
    raise problem


def _only_keys(
    file: YamlFile, place: YamlPlace, data: Mapping[str, Any], keys: tuple[str, ...]
) -> None:
    for key in data:
        if key not in keys:
            fix = did_you_mean(str(key), keys, otherwise="remove it")
            raise file.problem((*place, key), f"`{key}` means nothing here", fix)
