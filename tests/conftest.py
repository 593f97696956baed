"""For every test: properties are judged by behaviour, not speed, and reports travel between
processes."""

import shlex
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from tests.marking import is_real

settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is real before `-m` selects."""
    for item in items:
        if is_real(item):
            item.add_marker(pytest.mark.real)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Half characters, which some tests let into logs, cannot be sent from one process to
    another."""
    report = yield
    report.sections = [
        (name, text.encode(errors="replace").decode()) for name, text in report.sections
    ]
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """After everything else: how to run each test that failed alone."""
    stats = terminalreporter.stats
    reports = [*stats.get("failed", []), *stats.get("error", [])]
    failed = dict.fromkeys(report.nodeid for report in reports)
    if failed:
        terminalreporter.section("run each failed test alone")
        for nodeid in failed:
            terminalreporter.write_line(f".venv/bin/python -m pytest {shlex.quote(nodeid)}")
