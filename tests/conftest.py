"""For every test: properties are judged by behaviour, not speed, and reports travel between
processes."""

import gc
import os
import shlex
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.at_end import remove_everything
from tests.marking import is_real
from tests.migrated import begin_migrated
from tests.ordering import slow_tests_first
from tests.quick_passwords import hash_quickly
from tests.remembered_graphs import remember_graphs
from tests.servers import drop_databases
from tests.shared_statements import share_statements
from tests.time_table import begin, note_cpu, time_table

settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    black_box = parser.getgroup("black box", "the black box of `make chaos`")
    black_box.addoption("--seeds", type=int, default=20, help="how many seeds it plays a setting")
    black_box.addoption("--again", action="store_true", help="play what its tally holds once more")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: the garbage collector need never look at it, and at the
    rest less often than every 700 objects."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
    return collected


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is real before `-m` selects, and put slow tests first."""
    for item in items:
        if is_real(item):
            item.add_marker(pytest.mark.real)
    items[:] = slow_tests_first(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


@pytest.fixture(scope="session", autouse=True)
def _new_sqlite_files_begin_migrated(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    with begin_migrated(tmp_path_factory.mktemp("template") / "template.db"):
        yield


@pytest.fixture(scope="session", autouse=True)
def _servers_are_not_asked_for_tls() -> Iterator[None]:
    """Those of tests have none, and asking reads every certificate of the machine, each time that
    a connection is opened."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGSSLMODE", "disable")
        yield


@pytest.fixture(scope="session", autouse=True)
def _statements_are_shared() -> Iterator[None]:
    with share_statements():
        yield


@pytest.fixture(scope="session", autouse=True)
def _graphs_are_remembered() -> Iterator[None]:
    with remember_graphs():
        yield


@pytest.fixture(scope="session", autouse=True)
def _passwords_are_hashed_quickly() -> Iterator[None]:
    with hash_quickly():
        yield


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    begin(item)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Half characters, which some tests let into logs, cannot be sent from one process to
    another."""
    report = yield
    report.sections = [
        (name, text.encode(errors="replace").decode()) for name, text in report.sections
    ]
    note_cpu(item, report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """After a file's last test, and after what its fixtures took down, its databases go."""
    torn_down = yield
    if nextitem is None or nextitem.path != item.path:
        drop_databases()
    return torn_down


def pytest_sessionfinish() -> None:
    remove_everything()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """After everything else: where the time went, and how to run each test that failed alone."""
    stats = terminalreporter.stats
    if terminalreporter.config.getoption("durations") is not None:
        every = [report for reports in stats.values() for report in reports]
        terminalreporter.section("where the time went")
        for line in time_table(each for each in every if isinstance(each, pytest.TestReport)):
            terminalreporter.write_line(line)
    reports = [*stats.get("failed", []), *stats.get("error", [])]
    failed = dict.fromkeys(report.nodeid for report in reports)
    if failed:
        terminalreporter.section("run each failed test alone")
        for nodeid in failed:
            terminalreporter.write_line(f".venv/bin/python -m pytest {shlex.quote(nodeid)}")
