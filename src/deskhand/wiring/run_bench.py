"""Trying a recorded run again, in a process of its own: a sandbox seals its process off the
network, and nothing that a replay does may touch the desks that are served here."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from deskhand.errors import Conflict
from deskhand.ports.run_bench import ReplayedRun
from deskhand.wiring.databases import Database
from deskhand.wiring.serving import Desk

PATIENCE = 120.0
"""Seconds after which a replay is ended."""
MOST_AT_ONCE = 2
_LONGEST = 2_000


def run_bench(database: Database, desks: Iterable[Desk]) -> "CommandBench":
    """The bench for the runs of these desks."""
    where = str(database.path) if isinstance(database, SqliteBackend) else database.url
    return CommandBench(where, {desk.spec.name: desk.spec.folder for desk in desks})


class CommandBench:
    """Works with the commands `deskhand replay` and `deskhand eval add`."""

    def __init__(self, database: str, folders: Mapping[str, Path]) -> None:
        self._database = database
        self._folders = folders
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)

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

    async def _run(self, *arguments: str) -> tuple[int, str, str]:
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
                async with asyncio.timeout(PATIENCE):
                    out, err = await process.communicate()
            except TimeoutError:
                return 1, "", f"it took more than {PATIENCE:.0f} seconds"
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
        problem = " ".join(err.decode(errors="replace").split())[:_LONGEST]
        return process.returncode or 0, out.decode(errors="replace"), problem


def _written(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return text[:_LONGEST]
