"""What is wrong with a case as a whole: names the desk does not know, and cases that could never
fail."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import re2

from deskhand.conditions import ConditionError, compile_condition
from deskhand.config.desk import DeskSpec
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlPlace
from deskhand.evals.case_sections import (
    CaseSection,
    ExpectSection,
    GivenSection,
    ReplySection,
    ReviewerSection,
    TurnSection,
)

PLAN_STEPS = ("respond", "ask_user")


class CaseProblem(NamedTuple):
    place: YamlPlace
    problem: str
    fix: str


@dataclass(frozen=True, slots=True)
class Known:
    """The names a case may use."""

    flows: frozenset[str]
    stages: frozenset[str]
    tools: frozenset[str]
    categories: frozenset[str]
    slots: frozenset[str]
    scorers: frozenset[str]
    profiles: frozenset[str] = frozenset()

    @classmethod
    def of(cls, spec: DeskSpec, tools: Iterable[str], scorers: Iterable[str]) -> "Known":
        stages = [stage for flow in spec.flows.values() for stage in flow.stages.values()]
        categories = {
            name for stage in stages if stage.task == "classify" for name in stage.choices
        }
        return cls(
            flows=frozenset(spec.flows),
            stages=frozenset(stage.name for stage in stages),
            tools=frozenset([*tools, *(name for stage in stages for name in stage.intends)]),
            categories=frozenset(categories and {*categories, "other"}),
            slots=frozenset(spec.slots),
            scorers=frozenset(scorers),
            profiles=frozenset(spec.profiles),
        )


def case_problems(case: CaseSection, place: YamlPlace, known: Known) -> Iterator[CaseProblem]:
    if bool(case.turns) == (case.message is not None):
        problem = (
            f"case `{case.id}` has both `message` and `turns`"
            if case.turns
            else f"case `{case.id}` says nothing"
        )
        yield CaseProblem(
            place, problem, "write `message:` for one message, or `turns:` for a conversation"
        )
    expectations = [(place, case.expect), *_expectations(case.turns, place)]
    if not any(expect is not None and expect.model_fields_set for _, expect in expectations):
        problem = f"case `{case.id}` expects nothing and could never fail"
        yield CaseProblem(place, problem, "write `expect:` with at least a `status`")
    yield from _given(case.given, (*place, "given"), known)
    for number, turn in enumerate(case.turns):
        yield from _turn(turn, (*place, "turns", number), known, first=number == 0)
    for where, expect in expectations:
        if expect is not None:
            yield from _expect(expect, (*where, "expect"), known)


def _expectations(
    turns: list[TurnSection], place: YamlPlace
) -> list[tuple[YamlPlace, ExpectSection | None]]:
    return [((*place, "turns", number), turn.expect) for number, turn in enumerate(turns)]


def _turn(
    turn: TurnSection, place: YamlPlace, known: Known, *, first: bool
) -> Iterator[CaseProblem]:
    if (turn.customer is None) == (turn.reviewer is None):
        yield CaseProblem(
            place,
            "a turn is either the customer's or a reviewer's",
            "write `customer:` or `reviewer:`",
        )
    if first and turn.reviewer is not None:
        yield CaseProblem(
            place, "there is nothing yet that a reviewer could decide", "begin with `customer:`"
        )
    reviewer = turn.reviewer
    decision = reviewer.decision if isinstance(reviewer, ReviewerSection) else reviewer
    text = reviewer.text if isinstance(reviewer, ReviewerSection) else None
    if (decision in ("edit", "answer")) != (text is not None):
        fix = (
            f"write `reviewer: {{decision: {decision if decision == 'answer' else 'edit'}, text:"
            " ...}`"
        )
        yield CaseProblem(
            (*place, "reviewer"), "`text` belongs to `edit` and `answer`, and they need it", fix
        )
    yield from _given(turn.given, (*place, "given"), known)


def _given(given: GivenSection | None, place: YamlPlace, known: Known) -> Iterator[CaseProblem]:
    if given is None:
        return
    for tool in given.tools:
        yield from _name(tool, known.tools, "tool", (*place, "tools", tool))
    if given.agent and not known.profiles:
        yield CaseProblem(
            (*place, "agent"),
            "the desk has no agent that could say this",
            "remove it, or add a profile",
        )
    for number, said in enumerate(given.agent):
        if not said.model_fields_set:
            yield CaseProblem(
                (*place, "agent", number),
                "a turn of the agent says nothing",
                "write `call:` or `say:`",
            )


def _expect(expect: ExpectSection, place: YamlPlace, known: Known) -> Iterator[CaseProblem]:
    if expect.flow is not None:
        yield from _name(expect.flow, known.flows, "flow", (*place, "flow"))
    for number, stage in enumerate(expect.stages or ()):
        yield from _name(stage, known.stages, "stage", (*place, "stages", number))
    for key in ("category", "classification", "intent"):
        named = getattr(expect, key)
        for category in [named] if isinstance(named, str) else named or ():
            if known.categories:
                yield from _name(category, known.categories, "category", (*place, key))
    for slot in expect.slots if known.slots else ():
        yield from _name(slot, known.slots, "slot", (*place, "slots", slot))
    for key, extra in (("tools", ()), ("called", ()), ("not_called", ()), ("plan", PLAN_STEPS)):
        for number, call in enumerate(getattr(expect, key) or ()):
            name = call if isinstance(call, str) else next(iter(call))
            yield from _name(name, {*known.tools, *extra}, "tool", (*place, key, number))
    for tool in expect.verdict if isinstance(expect.verdict, dict) else ():
        yield from _name(tool, known.tools, "tool", (*place, "verdict", tool))
    for scorer in expect.score:
        yield from _name(scorer, known.scorers, "scorer", (*place, "score", scorer))
    yield from _written(expect, place)


def _written(expect: ExpectSection, place: YamlPlace) -> Iterator[CaseProblem]:
    if expect.holds is not None:
        try:
            compile_condition(expect.holds)
        except ConditionError as error:
            yield CaseProblem((*place, "holds", *error.path), error.problem, error.fix)
    reply = expect.reply
    if not isinstance(reply, ReplySection):
        return
    if not reply.model_fields_set:
        yield CaseProblem(
            (*place, "reply"), "`reply` says nothing", "write `contains:`, or `reply: true`"
        )
    if reply.matches is not None and not _compiles(reply.matches):
        yield CaseProblem(
            (*place, "reply", "matches"),
            f"`{reply.matches}` is not an RE2 pattern",
            "correct the pattern",
        )


def _name(name: str, known: Iterable[str], what: str, place: YamlPlace) -> Iterator[CaseProblem]:
    if name not in known:
        fix = did_you_mean(name, known, otherwise=f"add this {what} to the desk")
        yield CaseProblem(place, f"the desk has no {what} `{name}`", fix)


def _compiles(pattern: str) -> bool:
    options = re2.Options()
    options.log_errors = False
    try:
        compiled: Any = re2.compile(pattern, options)
    except re2.error:
        return False
    return compiled is not None
