"""The shipped triage desk on its golden tickets and on labelled ones: a handful with every run of
the tests, all of them with `make chaos`."""

import importlib.util
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deskhand import wiring
from deskhand.evals.case_runner import Settings, run_cases
from deskhand.evals.cases import Case
from deskhand.evals.lane import LaneClock

HOME = Path(__file__).parents[2]
LABELLED = HOME.parent / "shared" / "data" / "fresh_mail" / "triage-dev.jsonl"
HANDFUL = 8
FLOORS = {
    "urgency": 0.80,
    "ticket_type": 0.85,
    "action": 0.78,
    "language": 0.97,
    "sentiment": 0.70,
    "together": 0.65,
}
"""What is asked of labelled tickets, lenient."""


def score_script() -> Any:
    """`scripts/score_triage.py`, which says what is right."""
    place = HOME / "scripts" / "score_triage.py"
    spec = importlib.util.spec_from_file_location("score_triage", place)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


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


async def failed(choose: Any) -> tuple[int, list[str]]:
    """How many golden cases were run, and which of them failed."""
    loaded = wiring.read_desk("triage")
    cases, scorers = wiring.desk_cases(loaded)
    chosen = choose(cases)
    async with wiring.open_sandbox(loaded) as sandbox:
        results = await run_cases(chosen, sandbox, Settings(scorers, parallel=2))
    return len(results), [result.case.id for result in results if not result.passed]


def labelled() -> list[dict[str, Any]]:
    if not LABELLED.is_file():
        pytest.skip("needs ../shared/data/fresh_mail")
    return [json.loads(line) for line in LABELLED.read_text("utf-8").splitlines() if line]


async def judged(cases: Sequence[dict[str, Any]]) -> Counter[str]:
    """How many tickets were right, by field; with those that missed something critical."""
    script = score_script()
    loaded = wiring.read_desk("triage")
    spec = loaded.spec.model_copy(update={"mode": "auto"})
    right: Counter[str] = Counter()
    async with wiring.open_sandbox(replace(loaded, spec=spec)) as sandbox:
        for case in cases:
            lane = sandbox.lane(LaneClock(script.NOW), lambda *call: None)
            found = script.found_in(await script.triaged(lane, case["ticket"]))
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
    count, wrong = await failed(handful)
    assert count >= 12
    assert wrong == []


@pytest.mark.chaos
async def test_all_golden_tickets_come_out_right() -> None:
    count, wrong = await failed(lambda cases: cases)
    assert count >= 108
    assert wrong == []


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
