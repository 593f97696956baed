"""Write each test's outcome into a file as it ends: a pytest plugin for scripts/repeat-tests.py.

`DESKHAND_TEST_RESULTS` names the file, one JSON object a line.
"""

import json
import os
from pathlib import Path

import pytest


class Results:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test passes when its setup, call and teardown do."""
        worst = self._outcomes.get(report.nodeid, "passed")
        if worst == "passed":
            self._outcomes[report.nodeid] = report.outcome
        if report.when == "teardown":
            line = {"test": report.nodeid, "outcome": self._outcomes.pop(report.nodeid)}
            with self._path.open("a") as file:
                file.write(json.dumps(line) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    """In the process that hears of all tests; not in those that xdist starts."""
    path = os.environ.get("DESKHAND_TEST_RESULTS")
    if path and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Results(Path(path)))
