"""Slow tests begin first in every process, and none is lost."""

from typing import Any

import pytest

from tests.ordering import slow_tests_first


class Item:
    def __init__(self, name: str, slow: bool) -> None:
        self.name, self.slow = name, slow

    def get_closest_marker(self, name: str) -> bool:
        return self.slow and name == "slow"


def ordered(slow: int, quick: int, processes: int) -> list[str]:
    items: list[Any] = [Item(f"quick {number}", False) for number in range(quick)]
    items += [Item(f"slow {number}", True) for number in range(slow)]
    return [item.name for item in slow_tests_first(items, processes)]


def test_each_process_begins_with_its_share_of_the_slow_ones() -> None:
    names = ordered(slow=4, quick=8, processes=3)
    shares = [names[:4], names[4:8], names[8:]]
    assert [share[0] for share in shares] == ["slow 0", "slow 1", "slow 2"]
    assert shares[0][1] == "slow 3"
    quick = [name for name in names if "quick" in name]
    assert quick == [f"quick {number}" for number in range(8)]


@pytest.mark.parametrize("processes", [1, 2, 3, 7])
@pytest.mark.parametrize(("slow", "quick"), [(0, 5), (5, 0), (3, 100), (40, 7)])
def test_every_test_is_there_once(slow: int, quick: int, processes: int) -> None:
    names = ordered(slow, quick, processes)
    assert len(names) == len(set(names)) == slow + quick
