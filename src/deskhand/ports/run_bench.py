"""What people try with a recorded run: work it again, and keep it as a golden case."""

from typing import NamedTuple, Protocol


class ReplayedRun(NamedTuple):
    """How a run came out when it was worked again through the desk as it is now."""

    verdict: str
    """`identical`, `changed` or `unknown`; `failed` where it could not be tried."""
    differences: list[tuple[str, str, str]]
    """What is different, what it was, and what it is now."""
    words: str = ""
    """Why it could not be tried, or what was left out."""


class RunBench(Protocol):
    async def replay(self, desk: str, run_id: str) -> ReplayedRun: ...

    async def keep_case(self, desk: str, run_id: str) -> str:
        """Make the run a golden case of its desk; returns the file. Conflict says why not."""
        ...
