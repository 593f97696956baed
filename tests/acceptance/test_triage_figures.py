"""The shipped triage desk on its golden tickets and on labelled ones: a handful with every run of
the tests, all of them with `make chaos`.

What the author of the desk wrote must all come out right. Of blind ones a share must.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from deskhand import wiring
from deskhand.config.yaml import read_yaml
from deskhand.evals.case_runner import CaseResult, Settings, run_cases
from deskhand.evals.cases import AUTHOR, Case
from deskhand.evals.expectations import TRIAGE
from deskhand.evals.lane import LaneClock
from deskhand.evals.scorers import Score
from deskhand.evals.triage_expectations import triage_of
from tests.scoring_scripts import HOME, script_named

LABELLED = HOME.parent / "shared" / "data" / "fresh_mail" / "triage-dev.jsonl"
SHORT_LINES = sorted((HOME / "tests" / "data").glob("critical_lines*.yaml"))
"""Sixty critical messages of a few words and sixty look-alikes, by each writer."""
HANDFUL = 8
FLOORS = {
    "urgency": 0.80,
    "ticket_type": 0.85,
    "action": 0.78,
    "language": 0.97,
    "sentiment": 0.70,
    "together": 0.65,
}
"""What is asked of labelled and of blind tickets, lenient."""
REACHED = FLOORS | {"action": 0.73}
"""What the blind golden tickets reach: less than is asked (docs/decisions/0088-triage.md). Raise
them, never lower them."""
TOGETHER = ("urgency", "ticket_type", "action", "language")


def handful(cases: Sequence[Case]) -> list[Case]:
    """One case of each language, and those with tickets."""
    chosen: dict[str, Case] = {}
    for case in cases:
        languages = [tag for tag in case.tags if len(tag) == 2]
        if "tickets" in case.tags:
            chosen[case.id] = case
        elif languages:
            chosen.setdefault(languages[0], case)
    return list(chosen.values())


def golden() -> tuple[list[Case], list[Case]]:
    """The author's cases and the blind ones."""
    cases, _ = wiring.desk_cases(wiring.read_desk("triage"))
    own = [case for case in cases if AUTHOR in case.tags]
    return own, [case for case in cases if "blind" in case.tags]


async def run_golden(cases: Sequence[Case]) -> list[CaseResult]:
    loaded = wiring.read_desk("triage")
    _, scorers = wiring.desk_cases(loaded)
    async with wiring.open_sandbox(loaded) as sandbox:
        return await run_cases(cases, sandbox, Settings(scorers, parallel=2))


def failed(results: Sequence[CaseResult]) -> list[str]:
    return [result.case.id for result in results if not result.passed]


def by_field(result: CaseResult) -> dict[str, Score]:
    """What was expected of a ticket's triage, by field."""
    scores = result.shown.scores
    return {name.rpartition(TRIAGE)[2]: score for name, score in scores.items() if TRIAGE in name}


def shares_of(results: Sequence[CaseResult]) -> dict[str, float]:
    """How often each field was right, of the tickets whose case names it."""
    right: Counter[str] = Counter()
    named: Counter[str] = Counter()
    for result in results:
        scores = by_field(result)
        for field, score in scores.items():
            named[field] += 1
            right[field] += score.passed
        if scores.keys() >= set(TOGETHER):
            named["together"] += 1
            right["together"] += all(scores[field].passed for field in TOGETHER)
    return {field: right[field] / count for field, count in named.items()}


def missed_critical(results: Sequence[CaseResult]) -> list[str]:
    """The tickets that must be critical and were not called so."""
    return [
        result.case.id
        for result in results
        for field, score in by_field(result).items()
        if field == "urgency" and score.expected in ("critical", ["critical"]) and not score.passed
    ]


def labelled() -> list[dict[str, Any]]:
    if not LABELLED.is_file():
        pytest.skip("needs ../shared/data/fresh_mail")
    return [json.loads(line) for line in LABELLED.read_text("utf-8").splitlines() if line]


async def judged(cases: Sequence[dict[str, Any]]) -> Counter[str]:
    """How many tickets were right, by field; with those that missed something critical."""
    script = script_named("score_triage")
    loaded = wiring.read_desk("triage")
    spec = loaded.spec.model_copy(update={"mode": "auto"})
    right: Counter[str] = Counter()
    async with wiring.open_sandbox(replace(loaded, spec=spec)) as sandbox:
        for case in cases:
            lane = sandbox.lane(LaneClock(script.NOW), lambda *call: None)
            found = triage_of(await script.triaged(lane, case["ticket"]))
            truth = case["truth"]
            correct = {
                field for field in script.FIELDS if script.is_right(truth, field, found[field])
            }
            right.update(correct)
            right["together"] += correct.issuperset(script.TOGETHER)
            is_critical = truth["urgency"] == "critical"
            right["critical missed"] += is_critical and found["urgency"] != "critical"
    return right


async def test_a_handful_of_golden_tickets_comes_out_right() -> None:
    own, _ = golden()
    results = await run_golden(handful(own))
    assert len(results) >= 12
    assert failed(results) == []


@pytest.mark.chaos
async def test_all_golden_tickets_come_out_right() -> None:
    own, _ = golden()
    results = await run_golden(own)
    assert len(results) >= 108
    assert failed(results) == []


@pytest.mark.chaos
async def test_blind_golden_tickets_come_out_as_well_as_they_did() -> None:
    _, blind = golden()
    if not blind:
        pytest.skip("the desk has no cases with the tag `blind`")
    results = await run_golden(blind)
    shares = shares_of(results)
    assert all(shares[name] >= floor for name, floor in REACHED.items()), shares
    assert failed(results) == []
    expected = [result for result in results if result.case.known_failure is None]
    assert missed_critical(expected) == []


@pytest.mark.parametrize("file", SHORT_LINES, ids=lambda file: str(file.stem))
def test_short_messages_are_called_critical_and_look_alikes_are_not(file: Path) -> None:
    script = script_named("score_urgency")
    spec = wiring.read_desk("triage").spec.triage
    called: dict[bool, list[bool]] = {True: [], False: []}
    for line in read_yaml(file).data["lines"]:
        called[line["critical"]].append(script.is_called_critical(spec, line))
    assert min(map(len, called.values())) >= 60
    assert fmean(called[True]) >= 0.95
    assert fmean(called[False]) <= 0.10


async def test_no_critical_ticket_of_a_labelled_handful_is_missed() -> None:
    cases = labelled()
    critical = [case for case in cases if case["truth"]["urgency"] == "critical"][: HANDFUL // 2]
    continuing = [case for case in cases if case["truth"]["continues"]][: HANDFUL // 2]
    right = await judged([*critical, *continuing])
    assert right["critical missed"] == 0
    assert right["language"] == HANDFUL
    assert right["urgency"] >= HANDFUL - 1
    assert right["ticket_type"] >= HANDFUL - 1


@pytest.mark.chaos
async def test_all_labelled_tickets_reach_what_is_asked() -> None:
    cases = labelled()
    right = await judged(cases)
    shares = {name: right[name] / len(cases) for name in FLOORS}
    assert all(shares[name] >= floor for name, floor in FLOORS.items()), shares
    assert right["critical missed"] == 0
