"""The desk in `examples/`: it loads, and its golden cases pass."""

from pathlib import Path

from deskhand.evals.case_runner import Settings, run_cases
from deskhand.wiring import desk_cases, open_sandbox, read_desk

ACME = Path(__file__).parents[2] / "examples" / "acme"


async def test_the_example_desk_passes_its_evals() -> None:
    loaded = read_desk(str(ACME))
    cases, scorers = desk_cases(loaded)
    assert {case.id for case in cases} == {"late-parcel", "asks-for-the-order-number"}
    clauses = loaded.spec.commitments
    async with open_sandbox(loaded) as sandbox:
        results = await run_cases(cases, sandbox, Settings(scorers, clauses=clauses))
    for result in results:
        failed = {name: score for name, score in result.shown.scores.items() if not score.passed}
        assert result.passed, (result.case.id, failed)
