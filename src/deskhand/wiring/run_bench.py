"""Trying a recorded run again, in a process of its own: a sandbox seals its process off the
network, and nothing that a replay does may touch the desks that are served here."""

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from deskhand.adapters.stores.eval_reports import SqlEvalReports
from deskhand.errors import Conflict
from deskhand.ports.run_bench import EvalReports, KeptEval, ReplayedRun
from deskhand.wiring.databases import Database
from deskhand.wiring.serving import Desk

PATIENCE = 120.0
"""Seconds after which a replay is ended."""
EVAL_PATIENCE = 1800.0
"""Seconds after which an eval is ended."""
MOST_AT_ONCE = 2
_GONE_WITHIN = 10.0
"""Seconds in which a command that was stopped is gone, with all that it started."""
_LONGEST = 2_000


def run_bench(database: Database, desks: Iterable[Desk]) -> "CommandBench":
    """The bench for the runs of these desks."""
    folders = {desk.spec.name: desk.spec.folder for desk in desks}
    return CommandBench(database.address, folders, SqlEvalReports(database))


class CommandBench:
    """Works with the commands `deskhand replay`, `deskhand eval` and `deskhand eval add`."""

    def __init__(self, database: str, folders: Mapping[str, Path], reports: EvalReports) -> None:
        self._database = database
        self._folders = folders
        self._reports = reports
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)
        self._evaluating: dict[str, asyncio.Task[None]] = {}
        self._problems: dict[str, str] = {}

    async def replay(self, desk: str, run_id: str) -> ReplayedRun:
        folder = str(self._folders[desk])
        given = ("replay", run_id, "--desk", desk, "--config", folder, "--json")
        _, out, problem = await self._run(*given)
        try:
            report = json.loads(out)
        except ValueError:
            return ReplayedRun("failed", [], problem)
        if report.get("total") == 0:
            return ReplayedRun("failed", [], "nothing of this run was recorded that can be tried")
        runs = [run for run in report["runs"] if run["run"] == run_id]
        if not runs:
            return ReplayedRun("identical", [])
        changes = [
            (str(change["what"]), _written(change["before"]), _written(change["now"]))
            for change in runs[0]["changes"]
        ]
        missing = runs[0]["not_recorded"]
        words = f"{missing} answers of models were not recorded" if missing else ""
        return ReplayedRun(str(runs[0]["verdict"]), changes, words)

    async def keep_case(self, desk: str, run_id: str) -> str:
        code, out, problem = await self._run(
            "eval", "add", run_id, "--desk", str(self._folders[desk]), "--json"
        )
        if code != 0:
            raise Conflict(problem or "the run could not be made a case")
        return str(json.loads(out)["file"])

    async def start_eval(self, desk: str, by: str) -> None:
        if self.evaluates(desk):
            raise Conflict("the desk is held against its cases already; wait for it")
        self._problems.pop(desk, None)
        self._evaluating[desk] = asyncio.create_task(self._evaluate(desk, by))

    def evaluates(self, desk: str) -> bool:
        task = self._evaluating.get(desk)
        return task is not None and not task.done()

    def eval_problem(self, desk: str) -> str:
        return self._problems.get(desk, "")

    async def evals(self, desk: str, limit: int = 2) -> list[KeptEval]:
        return await self._reports.newest(desk, limit)

    async def _evaluate(self, desk: str, by: str) -> None:
        given = ("eval", "run", str(self._folders[desk]), "--json", "--parallel", "2")
        _, out, problem = await self._run(*given, patience=EVAL_PATIENCE)
        try:
            report = json.loads(out)
        except ValueError:
            self._problems[desk] = problem or "the eval came to nothing"
            return
        from deskhand.evals.report import kept_report

        kept = kept_report(report)
        kept["intents"] = await self._intents(desk)
        await self._reports.add(desk, time.time(), by, kept)

    async def _intents(self, desk: str) -> dict[str, Any]:
        """What the desk takes for what among its own examples; nothing where it learns none."""
        _, out, _ = await self._run("intents", "train", str(self._folders[desk]), "--json")
        try:
            learned = json.loads(out)
        except ValueError:
            return {}
        return {name: learned.get(name) for name in ("accuracy", "confusions", "suspects")}

    async def _run(self, *arguments: str, patience: float = PATIENCE) -> tuple[int, str, str]:
        """The exit code, what was printed, and what went wrong in words."""
        environment = {**os.environ, "DESKHAND_DATABASE": self._database, "NO_COLOR": "1"}
        async with self._turns:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "deskhand.cli",
                *arguments,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                async with asyncio.timeout(patience):
                    out, err = await process.communicate()
            except TimeoutError:
                return 1, "", f"it took more than {patience:.0f} seconds"
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_GONE_WITHIN):
                        await process.wait()
        problem = " ".join(err.decode(errors="replace").split())[:_LONGEST]
        return process.returncode or 0, out.decode(errors="replace"), problem


def _written(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return text[:_LONGEST]
