"""What people try with a desk: work a recorded run again, keep it as a golden case, and hold the
desk against all its cases."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from deskhand.model.workers import Member


class ReplayedRun(NamedTuple):
    """How a run came out when it was worked again through the desk as it is now."""

    verdict: str
    """`identical`, `changed` or `unknown`; `failed` where it could not be tried."""
    differences: list[tuple[str, str, str]]
    """What is different, what it was, and what it is now."""
    words: str = ""
    """Why it could not be tried, or what was left out."""


class KeptEval(NamedTuple):
    """A report of an eval, without the runs themselves."""

    at: float
    by: str
    report: Mapping[str, Any]


class EvalReports(Protocol):
    async def add(self, desk: str, at: float, by: str, report: Mapping[str, Any]) -> None: ...

    async def newest(self, desk: str, limit: int) -> list[KeptEval]:
        """Lists reports of evals, the newest first."""
        ...


class WorkerList(Protocol):
    async def members(self) -> list[Member]:
        """The workers that are alive."""
        ...


class RunBench(Protocol):
    async def replay(self, desk: str, run_id: str) -> ReplayedRun: ...

    async def keep_case(self, desk: str, run_id: str) -> str:
        """Make the run a golden case of its desk; returns the file. Conflict says why not."""
        ...

    async def start_eval(self, desk: str, by: str) -> None:
        """Hold the desk against its golden cases, beside all else. Conflict where that is already
        done."""
        ...

    def evaluates(self, desk: str) -> bool:
        """Whether that goes on now."""
        ...

    def eval_problem(self, desk: str) -> str:
        """Why the last one came to nothing; empty where it did not."""
        ...

    async def evals(self, desk: str, limit: int = 2) -> list[KeptEval]:
        """The newest reports, the newest first."""
        ...
