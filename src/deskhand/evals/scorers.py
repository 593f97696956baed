"""How a run is held against what a case expects: one scorer an expectation, the desk's own
beside ours."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import re2

from deskhand.conditions import compile_condition
from deskhand.engine.story import Document
from deskhand.errors import ConfigError
from deskhand.evals.run_facts import (
    category_of,
    intent_of,
    language_of_reply,
    plan_of,
    question_of,
    slots_of,
    stages_of,
    verdicts_of,
)
from deskhand.tools.declared import Declared, SourcePlace, declare, place_of

PASS = 0.5
"""A scorer that gives a number passes from here on."""
UNBACKED = "unbacked_promises"
"""The field of an eval's run document with the sentences that nothing stands behind."""
STRICTNESS = ("allow", "hold", "deny")


@dataclass(frozen=True, slots=True)
class Score:
    """How well one expectation was met, with what was found in its place."""

    name: str
    passed: bool
    expected: Any
    found: Any = None
    score: float = 0.0
    why: str | None = None
    skipped: bool = False
    """Nobody could say: it counts neither way."""

    def document(self) -> Document:
        return {
            "score": self.score,
            "passed": self.passed,
            "expected": self.expected,
            "found": self.found,
            "why": self.why,
            "skipped": self.skipped,
        }


ScorerFunction = Callable[[Document, Any], bool | float | Score | Awaitable[bool | float | Score]]


@dataclass(frozen=True, slots=True)
class Scorer:
    """A desk's own measure of a run, named under `expect: {score: {...}}`."""

    name: str
    function: ScorerFunction
    place: SourcePlace


def scorer(name: str) -> Callable[[ScorerFunction], Scorer]:
    """Make a scorer of `(run, expected)`: it gets the run document and what the case expects,
    and gives true or false, a number from 0 to 1, or a Score. It may be async."""

    def decorate(function: ScorerFunction) -> Scorer:
        place = place_of(function)
        try:
            inspect.signature(function).bind("run", "expected")
        except TypeError:
            raise place.error(
                f"scorer {name!r} takes 2 arguments", fix="write `(run, expected)`"
            ) from None
        return declare(Scorer(name, function, place))

    return decorate


def scorers_in(declared: Iterable[Declared]) -> dict[str, Scorer]:
    found: dict[str, Scorer] = {}
    for thing in declared:
        if (
            isinstance(thing, Scorer)
            and (known := found.setdefault(thing.name, thing)) is not thing
        ):
            raise thing.place.error(
                f"there is a scorer {thing.name!r} already, at {known.place}", fix="rename one"
            )
    return found


async def score_run(
    run: Document, expect: Mapping[str, Any], scorers: Mapping[str, Scorer]
) -> list[Score]:
    """Every expectation but `judge`, which needs a model."""
    scores: list[Score] = []
    for name, expected in expect.items():
        if name == "score":
            scores += [await _own(scorers[key], run, value) for key, value in expected.items()]
        elif name != "judge":
            passed, found = _BUILT_IN[name](run, expected)
            scores.append(Score(name, passed, expected, found, float(passed)))
    return scores


async def _own(scorer: Scorer, run: Document, expected: Any) -> Score:
    try:
        made = scorer.function(run, expected)
        given = await made if inspect.isawaitable(made) else made
    except Exception as error:
        raise ConfigError(
            f"scorer {scorer.name!r} failed: {type(error).__name__}: {error}",
            file=scorer.place.file,
            line=scorer.place.line,
            fix="mend it; a scorer gives a verdict on every run",
        ) from error
    if isinstance(given, Score):
        return given
    value = float(given)
    return Score(scorer.name, value >= PASS, expected, given, value)


# --- the built-in ones: what was expected, held against the run document


Found = tuple[bool, Any]


def _field(name: str) -> Callable[[Document, Any], Found]:
    return lambda run, expected: (run.get(name) in _several(expected), run.get(name))


def _category(run: Document, expected: Any) -> Found:
    found = category_of(run)
    return found in _several(expected), found


def _intent(run: Document, expected: Any) -> Found:
    found = intent_of(run)
    return found in _several(expected), found


def _slots(run: Document, expected: Mapping[str, Any]) -> Found:
    found = slots_of(run)
    shown = {name: found.get(name) for name in expected}
    return all(_agrees(shown[name], value) for name, value in expected.items()), shown


def _calls(found: Sequence[Mapping[str, Any]], expected: Sequence[Any]) -> bool:
    """The same calls in the same order; of arguments, those that were named."""
    return len(found) == len(expected) and all(map(_is_call, found, expected))


def _is_call(found: Mapping[str, Any], expected: Any) -> bool:
    [(name, arguments)] = [(expected, {})] if isinstance(expected, str) else expected.items()
    made = found.get("arguments") or {}
    return found.get("tool") == name and all(
        _agrees(made.get(key), value) for key, value in arguments.items()
    )


def _tools(run: Document, expected: Sequence[Any]) -> Found:
    made = run["tool_calls"]
    return _calls(made, expected), _shown(made)


def _called(run: Document, expected: Sequence[Any]) -> Found:
    rest = iter(run["tool_calls"])
    return all(any(_is_call(call, one) for call in rest) for one in expected), _shown(
        run["tool_calls"]
    )


def _not_called(run: Document, expected: Sequence[Any]) -> Found:
    made = run["tool_calls"]
    return not any(_is_call(call, one) for call in made for one in expected), _shown(made)


def _shown(made: Sequence[Mapping[str, Any]]) -> list[Document]:
    return [{call["tool"]: call["arguments"]} for call in made]


def _plan(run: Document, expected: Sequence[Any]) -> Found:
    steps = plan_of(run)
    return _calls(steps, expected), _shown(steps)


def _verdict(run: Document, expected: Any) -> Found:
    found = verdicts_of(run)
    if isinstance(expected, str):
        strictest = max((verdict for _, verdict in found), key=STRICTNESS.index, default=None)
        return strictest == expected, strictest
    by_tool = {tool: [verdict for name, verdict in found if name == tool] for tool in expected}
    return all(
        by_tool[tool] and set(by_tool[tool]) == {verdict} for tool, verdict in expected.items()
    ), by_tool


def _review(run: Document, expected: Any) -> Found:
    found = run["review"]
    waits = found is not None and found["state"] == "open"
    shown = {key: found[key] for key in ("kind", "reason")} if waits else None
    if isinstance(expected, bool):
        return waits is expected, shown
    if not waits:
        return False, None
    wanted = {"contains": expected} if isinstance(expected, str) else expected
    words = all(
        word.casefold() in found["reason"].casefold()
        for word in _several(wanted.get("contains", []))
    )
    return words and wanted.get("kind") in (None, found["kind"]), shown


def _reply(run: Document, expected: Any) -> Found:
    reply = run["reply"]
    if isinstance(expected, bool):
        return (reply is not None) is expected, reply and reply["text"]
    if reply is None:
        return False, None
    text = str(reply["text"])
    folded = " ".join(text.split()).casefold()
    checks = (
        all(_folded(word) in folded for word in _several(expected.get("contains", []))),
        not any(_folded(word) in folded for word in _several(expected.get("not_contains", []))),
        "matches" not in expected or bool(re2.search(expected["matches"], text)),
        "equals" not in expected or _lines(text) == _lines(expected["equals"]),
        expected.get("subject") in (None, reply.get("subject")),
        _folded(expected.get("to") or reply.get("to") or "") == _folded(reply.get("to") or ""),
        expected.get("language") in (None, language_of_reply(reply)),
        expected.get("promises_backed") in (None, not run.get(UNBACKED)),
    )
    shown = {"language": language_of_reply(reply)} if "language" in expected else {}
    also = {key: reply.get(key) for key in ("subject", "to") if key in expected}
    also |= {UNBACKED: run.get(UNBACKED)} if "promises_backed" in expected else {}
    return all(checks), {"text": text, **shown, **also}


def _language(run: Document, expected: str) -> Found:
    found = None if run["reply"] is None else language_of_reply(run["reply"])
    return found == expected, found


def _stages(run: Document, expected: Sequence[str]) -> Found:
    found = stages_of(run)
    rest = iter(found)
    return all(stage in rest for stage in expected), found


def _asks_for(run: Document, expected: str) -> Found:
    asked = question_of(run)
    if asked is None:
        return False, None
    if asked["param"] is not None:
        return asked["param"] == expected, asked["param"]
    return expected in asked["missing"] or _folded(expected) in _folded(asked["text"]), asked[
        "text"
    ]


def _holds(run: Document, expected: Mapping[str, Any]) -> Found:
    condition = compile_condition(expected)
    return condition.matches(run), None


def _several(expected: Any) -> list[Any]:
    return list(expected) if isinstance(expected, list | tuple) else [expected]


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def _agrees(found: Any, expected: Any) -> bool:
    """Equal; of a mapping, the fields that were named; a number written as text is that number."""
    if isinstance(expected, Mapping):
        return isinstance(found, Mapping) and all(
            _agrees(found.get(key), value) for key, value in expected.items()
        )
    if isinstance(expected, list):
        both = isinstance(found, list) and len(found) == len(expected)
        return both and all(map(_agrees, found, expected))
    return bool(found == expected) or (found is not None and str(found) == str(expected))


_BUILT_IN: Mapping[str, Callable[[Document, Any], Found]] = {
    "route": _field("route"),
    "profile": _field("profile"),
    "rule": _field("rule"),
    "flow": _field("flow"),
    "status": _field("status"),
    "error": _field("error_code"),
    "category": _category,
    "classification": _category,
    "intent": _intent,
    "slots": _slots,
    "plan": _plan,
    "tools": _tools,
    "called": _called,
    "not_called": _not_called,
    "verdict": _verdict,
    "review": _review,
    "reply": _reply,
    "language": _language,
    "stages": _stages,
    "asks_for": _asks_for,
    "holds": _holds,
}
