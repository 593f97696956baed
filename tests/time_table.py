"""Where the time of a run of the tests goes: a table by folder and by file.

`make test` prints it after the slowest tests, so that a folder which grows slow is seen although
none of its tests is among them.
"""

import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

import pytest

from tests.forked import seconds_of_forked

CPU = "cpu_seconds"
"""An attribute of the last report of a test, which travels from worker to controller with it."""
_FILES = 15
_began: pytest.StashKey[float] = pytest.StashKey()


@dataclass
class Spent:
    """What some tests took. CPU counts processes that they started and waited for as well."""

    tests: int = 0
    seconds: float = 0.0
    cpu: float = 0.0


def begin(item: pytest.Item) -> None:
    item.stash[_began] = _cpu_so_far()


def note_cpu(item: pytest.Item, report: pytest.TestReport) -> None:
    """Say in the last report of a test how much CPU it took."""
    if report.when == "teardown":
        setattr(report, CPU, _cpu_so_far() - item.stash[_began])


def time_table(reports: Iterable[pytest.TestReport]) -> list[str]:
    """The lines of the table: all folders, then the files that took longest."""
    folders: dict[str, Spent] = defaultdict(Spent)
    files: dict[str, Spent] = defaultdict(Spent)
    for report in reports:
        file = report.nodeid.partition("::")[0]
        folder = "/".join(PurePosixPath(file).parts[:2])
        for spent in (folders[folder], files[file]):
            spent.seconds += report.duration
            spent.cpu += getattr(report, CPU, 0.0)
            spent.tests += report.when == "teardown"
    head = f"{'seconds':>9}{'CPU':>9}{'tests':>7}"
    longest = _lines(files)[:_FILES]
    return [head, *_lines(folders), "", "the files that took longest", *longest]


def _lines(places: dict[str, Spent]) -> list[str]:
    ordered = sorted(places.items(), key=lambda place: -place[1].seconds)
    return [
        f"{spent.seconds:9.1f}{spent.cpu:9.1f}{spent.tests:7d}  {name}" for name, spent in ordered
    ]


def _cpu_so_far() -> float:
    times = os.times()
    ours = times.user + times.system + times.children_user + times.children_system
    return ours + seconds_of_forked()
