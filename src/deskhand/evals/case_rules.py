"""What is wrong with a case: names the desk does not know, cases that could never fail."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import re2

from deskhand.conditions import ConditionError, compile_condition
from deskhand.config.desk import DeskSpec
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlPlace
from deskhand.evals.case_sections import (
    CaseReplySection,
    CaseSection,
    ExpectSection,
    FactPatternSection,
    GivenSection,
    ReviewerSection,
    TurnSection,
)
from deskhand.evals.facts import tokens_of
from deskhand.evals.ticket_sections import NEW, TICKET_ID, TicketExpectSection
from deskhand.model.telemetry import TelemetryStage

PLAN_STEPS = ("respond", "ask_user")


class CaseProblem(NamedTuple):
    place: YamlPlace
    problem: str
    fix: str


@dataclass(frozen=True, slots=True)
class DeskNames:
    """The names a case may use."""

    flows: frozenset[str]
    stages: frozenset[str]
    tools: frozenset[str]
    categories: frozenset[str]
    slots: frozenset[str]
    scorers: frozenset[str]
    profiles: frozenset[str] = frozenset()
    issues: frozenset[str] = frozenset()

    @classmethod
    def of(cls, spec: DeskSpec, tools: Iterable[str], scorers: Iterable[str]) -> "DeskNames":
        stages = [stage for flow in spec.flows.values() for stage in flow.stages.values()]
        categories: set[str] = set()
        intended: set[str] = set()
        for stage in stages:
            intended.update(stage.intends)
            if stage.task == "classify":
                categories.update(stage.choices)
        issues = () if spec.triage is None else spec.triage.issues
        return cls(
            flows=frozenset(spec.flows),
            stages=frozenset(stage.name for stage in stages),
            tools=frozenset([*tools, *intended]),
            categories=frozenset(categories and {*categories, "other"}),
            slots=frozenset(spec.slots),
            scorers=frozenset(scorers),
            profiles=frozenset(spec.profiles),
            issues=frozenset(issues),
        )


def case_problems(case: CaseSection, place: YamlPlace, names: DeskNames) -> Iterator[CaseProblem]:
    """Yields what is wrong with a case beyond its types, each with its place and a fix."""
    if bool(case.turns) == (case.message is not None):
        wrong = "has both `message` and `turns`" if case.turns else "says nothing"
        fix = "write `message:` for one message, or `turns:` for a conversation"
        yield CaseProblem(place, f"case `{case.id}` {wrong}", fix)
    expectations = [(place, case.expect), *_expectations(case.turns, place)]
    if not any(expect is not None and expect.model_fields_set for _, expect in expectations):
        problem = f"case `{case.id}` expects nothing and could never fail"
        yield CaseProblem(place, problem, "write `expect:` with at least a `status`")
    yield from _given(case.given, (*place, "given"), names)
    for number, turn in enumerate(case.turns):
        yield from _turn(turn, (*place, "turns", number), names, first=number == 0)
    for where, expect in expectations:
        if expect is not None:
            yield from _expect(expect, (*where, "expect"), names)


def _expectations(
    turns: list[TurnSection], place: YamlPlace
) -> list[tuple[YamlPlace, ExpectSection | None]]:
    return [((*place, "turns", number), turn.expect) for number, turn in enumerate(turns)]


def _turn(
    turn: TurnSection, place: YamlPlace, names: DeskNames, *, first: bool
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
        meant = "answer" if decision == "answer" else "edit"
        fix = f"write `reviewer: {{decision: {meant}, text: ...}}`"
        yield CaseProblem(
            (*place, "reviewer"), "`text` belongs to `edit` and `answer`, and they need it", fix
        )
    yield from _given(turn.given, (*place, "given"), names)
    if turn.given is not None and turn.given.tickets:
        fix = "write them under the case's own `given:`"
        where = (*place, "given", "tickets")
        yield CaseProblem(where, "tickets are given before the first turn", fix)


def _given(given: GivenSection | None, place: YamlPlace, names: DeskNames) -> Iterator[CaseProblem]:
    if given is None:
        return
    for tool in given.tools:
        yield from _name(tool, names.tools, "tool", (*place, "tools", tool))
    if given.agent and not names.profiles:
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


def _expect(expect: ExpectSection, place: YamlPlace, names: DeskNames) -> Iterator[CaseProblem]:
    if expect.flow is not None:
        yield from _name(expect.flow, names.flows, "flow", (*place, "flow"))
    for number, stage in enumerate(expect.stages or ()):
        yield from _name(stage, names.stages, "stage", (*place, "stages", number))
    stages = frozenset(map(str, TelemetryStage))
    for number, event in enumerate(expect.telemetry or ()):
        stage_name = event if isinstance(event, str) else next(iter(event))
        yield from _name(stage_name, stages, "stage of telemetry", (*place, "telemetry", number))
    if names.categories:
        yield from _categories(expect, place, names)
    for slot in expect.slots if names.slots else ():
        yield from _name(slot, names.slots, "slot", (*place, "slots", slot))
    yield from _calls(expect, place, names)
    yield from _triage(expect, place, names)
    yield from _ticket(expect, place)
    for scorer in expect.score:
        yield from _name(scorer, names.scorers, "scorer", (*place, "score", scorer))
    yield from _written(expect, place)


def _categories(expect: ExpectSection, place: YamlPlace, names: DeskNames) -> Iterator[CaseProblem]:
    for key in ("category", "classification", "intent"):
        written = getattr(expect, key)
        for category in _listed(written):
            yield from _name(category, names.categories, "category", (*place, key))


def _calls(expect: ExpectSection, place: YamlPlace, names: DeskNames) -> Iterator[CaseProblem]:
    for key, extra in (("tools", ()), ("called", ()), ("not_called", ()), ("plan", PLAN_STEPS)):
        for number, call in enumerate(getattr(expect, key) or ()):
            name = call if isinstance(call, str) else next(iter(call))
            yield from _name(name, {*names.tools, *extra}, "tool", (*place, key, number))
    acts = expect.must_not_act
    for number, call in enumerate(acts if isinstance(acts, list) else ()):
        name = call if isinstance(call, str) else next(iter(call))
        yield from _name(name, names.tools, "tool", (*place, "must_not_act", number))
    for tool in expect.verdict if isinstance(expect.verdict, dict) else ():
        yield from _name(tool, names.tools, "tool", (*place, "verdict", tool))


def _triage(expect: ExpectSection, place: YamlPlace, names: DeskNames) -> Iterator[CaseProblem]:
    triage = expect.triage
    if triage is None:
        return
    where = (*place, "triage")
    if not names.issues:
        fix = "remove it, or add `triage:` to desk.yaml"
        yield CaseProblem(where, "the desk does no triage", fix)
        return
    if not triage.model_fields_set:
        yield CaseProblem(where, "`triage` says nothing", "write `urgency:` or another field")
    for issue in _listed(triage.issue):
        yield from _name(issue, names.issues, "issue", (*where, "issue"))


def _ticket(expect: ExpectSection, place: YamlPlace) -> Iterator[CaseProblem]:
    where = (*place, "ticket")
    ticket = expect.ticket
    if isinstance(ticket, TicketExpectSection):
        if not ticket.model_fields_set:
            fix = "write `ticket: new` or the id of the ticket that it joins"
            yield CaseProblem(where, "`ticket` says nothing", fix)
        ticket = ticket.joins
    for joined in _listed(ticket):
        if joined != NEW and not re.fullmatch(TICKET_ID, joined):
            fix = "write `new`, or an id like TKT-7Q2M4XK9"
            yield CaseProblem(where, f"`{joined}` is no ticket", fix)


def _listed(value: str | list[str] | None) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


def _written(expect: ExpectSection, place: YamlPlace) -> Iterator[CaseProblem]:
    yield from _facts(expect, place)
    if expect.holds is not None:
        try:
            compile_condition(expect.holds)
        except ConditionError as error:
            yield CaseProblem((*place, "holds", *error.path), error.problem, error.fix)
    reply = expect.reply
    if not isinstance(reply, CaseReplySection):
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


def _facts(expect: ExpectSection, place: YamlPlace) -> Iterator[CaseProblem]:
    stated: list[tuple[YamlPlace, Any]] = []
    for key in ("must_say", "must_not_say"):
        for number, fact in enumerate(getattr(expect, key) or ()):
            stated.append(((*place, key, number), fact))
    for number, ask in enumerate(expect.asks or ()):
        where = (*place, "asks", number)
        for index, fact in enumerate(ask.says):
            stated.append(((*where, "says", index), fact))
        has_answer = bool(ask.says) or ask.article is not None
        if ask.answered and not has_answer:
            fix = "write `says:` with the facts, or `answered: false` where nothing answers it"
            yield CaseProblem(where, f"nothing says what answers `{ask.ask}`", fix)
        if has_answer and not ask.answered:
            fix = "remove `answered: false`, or the answer"
            yield CaseProblem(where, f"`{ask.ask}` has an answer, yet nothing answers it", fix)
    for where, fact in stated:
        yield from _fact(fact, where)


def _fact(fact: Any, place: YamlPlace) -> Iterator[CaseProblem]:
    if isinstance(fact, FactPatternSection):
        if not _compiles(fact.matches):
            problem = f"`{fact.matches}` is not an RE2 pattern"
            yield CaseProblem((*place, "matches"), problem, "correct the pattern")
        return
    for wording in [fact] if isinstance(fact, str) else fact:
        if not tokens_of(wording):
            problem = f"`{wording}` holds neither a word nor a number"
            yield CaseProblem(place, problem, "write what the reply states")


def _name(name: str, names: Iterable[str], what: str, place: YamlPlace) -> Iterator[CaseProblem]:
    if name not in names:
        fix = did_you_mean(name, names, otherwise=f"add this {what} to the desk")
        yield CaseProblem(place, f"the desk has no {what} `{name}`", fix)


def _compiles(pattern: str) -> bool:
    options = re2.Options()
    options.log_errors = False
    try:
        compiled: Any = re2.compile(pattern, options)
    except re2.error:
        return False
    return compiled is not None
