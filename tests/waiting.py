"""How tests wait: for a state that is certain to come, never for time to pass."""

import asyncio
import faulthandler
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from types import FrameType
from typing import Any

PATIENCE = 300.0
"""Seconds after which a wait has failed. A ceiling alone: it costs nothing where all is well, and
is high enough for a machine that does much else."""
_DEEPEST = 60


async def until(
    holds: Callable[[], bool] | Callable[[], Awaitable[bool]],
    within: float = PATIENCE,
    *,
    every: float = 0.02,
) -> None:
    """Wait for something to become true, and look so often; TimeoutError when it does not.

    The error says where every task and thread stood: a wait that fails once in a thousand runs
    has to explain itself then.
    """
    try:
        async with asyncio.timeout(within):
            while True:
                answer = holds()
                if answer if isinstance(answer, bool) else await answer:
                    return
                await asyncio.sleep(every)
    except TimeoutError as error:
        raise TimeoutError(f"not so within {within:g} s\n{_whereabouts()}") from error


def _whereabouts() -> str:
    """The line at which each task waits, from the outside in, and each thread's stack."""
    lines: list[str] = []
    for task in sorted(asyncio.all_tasks(), key=lambda task: task.get_name()):
        lines.append(f"{task.get_name()}:")
        lines += [f"    {_place(frame)}" for frame in _frames(task.get_coro())]
    with tempfile.TemporaryFile("w+") as threads:
        faulthandler.dump_traceback(threads, all_threads=True)
        threads.seek(0)
        return "\n".join([*lines, threads.read()])


def _frames(waiting: Any) -> Iterator[FrameType]:
    """The frames of a coroutine and of those it awaits."""
    for _ in range(_DEEPEST):
        frame = getattr(waiting, "cr_frame", None) or getattr(waiting, "ag_frame", None)
        if frame is not None:
            yield frame
        waiting = getattr(waiting, "cr_await", None) or getattr(waiting, "ag_await", None)


def _place(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
