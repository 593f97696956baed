"""For every test: properties are judged by behaviour, not speed, and reports travel between
processes."""

from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Half characters, which some tests let into logs, cannot be sent from one process to
    another."""
    report = yield
    report.sections = [
        (name, text.encode(errors="replace").decode()) for name, text in report.sections
    ]
    return report
