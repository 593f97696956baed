import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from deskhand.cli.service_process import answer_while_reading, opened_together
from tests.waiting import PATIENCE

_USUAL = 0.005
"""Python's own; another test of this process may have served, and so changed it."""


async def test_all_are_left_side_by_side() -> None:
    leaving = asyncio.Barrier(3)

    @asynccontextmanager
    async def desk(name: str) -> AsyncIterator[str]:
        yield name
        await leaving.wait()  # only once all three are leaving does one of them get on

    async with asyncio.timeout(PATIENCE), opened_together(desk(name) for name in "abc") as opened:
        assert opened == ["a", "b", "c"]


async def test_what_was_opened_is_left_when_a_later_one_cannot_be_opened_or_an_earlier_one_not_be_left() -> (  # noqa: E501
    None
):
    left: list[str] = []

    @asynccontextmanager
    async def desk(name: str) -> AsyncIterator[str]:
        if name == "bad":
            raise ValueError("cannot open")
        try:
            yield name
        finally:
            left.append(name)
            if name == "sticky":
                raise OSError("cannot leave")

    with pytest.raises(ValueError, match="cannot open"):
        async with opened_together([desk("a"), desk("bad"), desk("c")]):
            raise AssertionError("never gets here")
    assert left == ["a"]
    with pytest.raises(OSError, match="cannot leave"):
        async with opened_together([desk("sticky"), desk("b")]):
            pass
    assert sorted(left) == ["a", "b", "sticky"]


def test_requests_do_not_wait_long_for_threads_that_read() -> None:
    before = sys.getswitchinterval()
    try:
        sys.setswitchinterval(_USUAL)
        answer_while_reading()
        assert sys.getswitchinterval() < _USUAL
    finally:
        sys.setswitchinterval(before)
