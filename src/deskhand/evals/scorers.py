"""How well a run meets what a case expects, one score an expectation.

Built-in expectations, scorers of the desk's own, and a model as judge all give a `Score`.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.engine.story import Document
from deskhand.errors import ConfigError, DeskhandError
from deskhand.evals.expectations import check, triage_scores
from deskhand.model.tasks import JudgedReply, Task, TaskKind
from deskhand.ports import Brain
from deskhand.tools.declared import Declared, SourcePlace, declare, place_of

PASS = 0.5
"""A scorer that gives a number passes from here on."""


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
    """Makes a scorer of a function `(run, expected)`, which may be async.

    It gets the run document and what the case expects, and returns true or false, a number from
    0 to 1, or a Score. A function with other parameters is a ConfigError.
    """

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
    """Returns scorers by name; ConfigError where two have the same."""
    scorers: dict[str, Scorer] = {}
    for declaration in declared:
        if not isinstance(declaration, Scorer):
            continue
        first = scorers.setdefault(declaration.name, declaration)
        if first is not declaration:
            raise declaration.place.error(
                f"there is a scorer {declaration.name!r} already, at {first.place}",
                fix="rename one",
            )
    return scorers


async def score_run(
    run: Document,
    expect: Mapping[str, Any],
    scorers: Mapping[str, Scorer],
    judge: Brain | None = None,
) -> list[Score]:
    """Scores every expectation. Criteria for a judge come last."""
    scores: list[Score] = []
    builtin = {name: value for name, value in expect.items() if name != "triage"}
    builtin |= triage_scores(expect.get("triage", {}))
    for name, expected in builtin.items():
        if name == "score":
            scores += [
                await _own_score(scorers[key], run, value) for key, value in expected.items()
            ]
        elif name != "judge":
            passed, actual = check(name, run, expected)
            scores.append(Score(name, passed, expected, actual, float(passed)))
    criteria = expect.get("judge", [])
    return scores + await _judged(run, [criteria] if isinstance(criteria, str) else criteria, judge)


async def _own_score(scorer: Scorer, run: Document, expected: Any) -> Score:
    try:
        result = scorer.function(run, expected)
        given = await result if inspect.isawaitable(result) else result
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


# --- a model as judge: whether the reply meets a criterion that was written in words


async def _judged(run: Document, criteria: Sequence[str], judge: Brain | None) -> list[Score]:
    scores: list[Score] = []
    for number, criterion in enumerate(criteria, 1):
        name = "judge" if len(criteria) == 1 else f"judge {number}"
        scores.append(await _judge(run, name, criterion, judge))
    return scores


async def _judge(run: Document, name: str, criterion: str, judge: Brain | None) -> Score:
    """Without a judge, or where it cannot answer, the score is skipped and says so."""
    reply = run["reply"]
    if judge is None:
        why = "nobody judged; name a model with --judge"
        return Score(name, True, criterion, why=why, skipped=True)
    if reply is None:
        return Score(name, False, criterion, why="there is no reply to judge")
    inputs = {"criterion": criterion, "message": run["message"], "tool_calls": run["tool_calls"]}
    task = Task(kind=TaskKind.JUDGE, stage="judge", text=str(reply["text"]), inputs=inputs)
    try:
        answer = await judge.answer(task)
    except DeskhandError as error:
        why = f"the judge could not answer: {error}"
        return Score(name, True, criterion, why=why, skipped=True)
    verdict = answer.result
    assert isinstance(verdict, JudgedReply)
    return Score(
        name, verdict.passed, criterion, verdict.passed, float(verdict.passed), verdict.reason
    )
