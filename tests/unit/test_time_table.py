"""The table of where the time of the tests goes."""

from typing import Literal

import pytest

from tests.time_table import CPU, time_table


def report(
    nodeid: str,
    when: Literal["setup", "call", "teardown"],
    seconds: float,
    cpu: float | None = None,
) -> pytest.TestReport:
    made = pytest.TestReport(
        nodeid, (nodeid, None, nodeid), {}, "passed", None, when, duration=seconds
    )
    if cpu is not None:
        setattr(made, CPU, cpu)
    return made


def test_folders_and_files_are_added_up_the_longest_first() -> None:
    lines = time_table(
        [
            report("tests/unit/cli/test_a.py::test_one", "setup", 1.0),
            report("tests/unit/cli/test_a.py::test_one", "call", 2.0),
            report("tests/unit/cli/test_a.py::test_one", "teardown", 0.5, cpu=1.5),
            report("tests/chaos/test_b.py::test_two[x::y]", "call", 7.0),
            report("tests/chaos/test_b.py::test_two[x::y]", "teardown", 0.0, cpu=9.0),
            report("tests/unit/test_c.py::test_three", "teardown", 0.25, cpu=0.25),
        ]
    )
    assert [line.split() for line in lines] == [
        ["seconds", "CPU", "tests"],
        ["7.0", "9.0", "1", "tests/chaos"],
        ["3.8", "1.8", "2", "tests/unit"],
        [],
        ["the", "files", "that", "took", "longest"],
        ["7.0", "9.0", "1", "tests/chaos/test_b.py"],
        ["3.5", "1.5", "1", "tests/unit/cli/test_a.py"],
        ["0.2", "0.2", "1", "tests/unit/test_c.py"],
    ]
