"""Work in limited processes: what takes too much is ended, and the next work goes on."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from deskhand.limited_process import LimitedProcesses, WorkStopped


@pytest.fixture
def processes() -> Iterator[LimitedProcesses]:
    made = LimitedProcesses(most=1)
    yield made
    made.close()


def test_a_function_over_bytes_is_answered(processes: LimitedProcesses) -> None:
    assert processes.call("base64:b64encode", b"teapot") == b"dGVhcG90"
    assert processes.call("base64:b64decode", b"dGVhcG90") == b"teapot"


def test_large_questions_and_answers_pass(processes: LimitedProcesses) -> None:
    assert processes.call("builtins:bytes", b"x" * 5_000_000) == b"x" * 5_000_000


def test_work_without_end_is_ended_and_the_next_is_done(processes: LimitedProcesses) -> None:
    for _ in range(2):
        with pytest.raises(WorkStopped, match="more computing"):
            processes.call(
                "builtins:eval", b"b'' if all(iter(int, 1)) else sum(iter(lambda: 1, 2))", 0.05
            )
        assert processes.call("builtins:bytes", b"teapot") == b"teapot"  # fmt: skip


def test_work_that_takes_too_much_memory_is_ended(processes: LimitedProcesses) -> None:
    with pytest.raises(WorkStopped, match="more memory"):
        processes.call("builtins:eval", b"bytes(10**10)")
    assert processes.call("builtins:bytes", b"teapot") == b"teapot"


def test_work_that_fails_is_named(processes: LimitedProcesses) -> None:
    with pytest.raises(WorkStopped, match="ZeroDivisionError"):
        processes.call("builtins:eval", b"1 // 0")


def test_nothing_of_our_environment_is_known_there(
    processes: LimitedProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESKHAND_PASSWORD", "secret")
    written = b"str(sorted(__import__('os').environ)).encode()"
    assert b"DESKHAND" not in processes.call("builtins:eval", written)


async def test_the_event_loop_goes_on_meanwhile(processes: LimitedProcesses) -> None:
    asked = asyncio.ensure_future(processes.ask("builtins:eval", b"sum(iter(lambda: 1, 2))", 0.2))
    turns = 0
    while not asked.done():
        turns += 1
        await asyncio.sleep(0.001)
    assert turns > 1
    with pytest.raises(WorkStopped):
        await asked


def test_processes_are_kept_warm(processes: LimitedProcesses) -> None:
    pid = b"str(__import__('os').getpid()).encode()"
    first = processes.call("builtins:eval", pid)
    assert processes.call("builtins:eval", pid) == first != str(os.getpid()).encode()
