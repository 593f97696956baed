from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from deskhand.evals.case_runner import CaseResult, Settings, run_cases
from deskhand.wiring import desk_cases, open_sandbox, read_desk
from tests.eval_kit import a_desk

RunCases = Callable[..., Awaitable[list[CaseResult]]]


@pytest.fixture
def run_desk(tmp_path: Path) -> RunCases:
    """Runs cases, given as data or as YAML, on a small desk that has a bit of everything."""

    async def run(cases: list[dict[str, Any]] | str, **settings: Any) -> list[CaseResult]:
        loaded = read_desk(str(a_desk(tmp_path / "desk", cases)))
        found, scorers = desk_cases(loaded)
        async with open_sandbox(loaded) as sandbox:
            return await run_cases(found, sandbox, Settings(scorers, **settings))

    return run
