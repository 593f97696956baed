"""The order of the tests: those marked `slow` first, so that no process works on one alone while
the others have nothing left to do."""

import pytest


def slow_tests_first(items: list[pytest.Item], processes: int) -> list[pytest.Item]:
    """The same tests; each process gets an equal part of the list, which begins with slow ones."""
    slow = [item for item in items if item.get_closest_marker("slow")]
    quick = [item for item in items if not item.get_closest_marker("slow")]
    ordered: list[pytest.Item] = []
    size = len(items) / processes
    for process in range(processes):
        share = slow[process::processes]
        end = round((process + 1) * size)
        rest = max(0, end - len(ordered) - len(share))
        ordered += [*share, *quick[:rest]]
        quick = quick[rest:]
    return ordered + quick
