"""Running somebody else's function without letting it hang, block or take the process down."""

import asyncio
import contextvars
import inspect
import logging
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from deskhand.time_limits import ring_in

log = logging.getLogger("deskhand.tools")

_abandoned: set["asyncio.Task[Any]"] = set()


class ToolStopped(RuntimeError):
    """The tool tried to end its task or the process (CancelledError, SystemExit) instead of
    returning."""


async def run_within(
    seconds: float, function: Callable[..., Any], arguments: dict[str, Any], *, what: str
) -> Any:
    """Await the function, in a thread if it is not async; TimeoutError when it is not back in time.

    A function that ignores its cancellation, or a thread that cannot be cancelled, is left behind
    and reported.
    """
    loop = asyncio.get_running_loop()
    rung: asyncio.Future[None] = loop.create_future()
    work = (
        function(**arguments)
        if inspect.iscoroutinefunction(function)
        else _threaded(function, arguments)
    )
    task = loop.create_task(_contained(work, rung))
    bell = ring_in(seconds, partial(_ring, rung))
    try:
        await rung
    except asyncio.CancelledError:
        _abandon(task)
        raise
    finally:
        bell.cancel()
    if not task.done():
        _abandon(task)
        raise TimeoutError(f"{what} did not answer within {seconds:g} s")
    return task.result()


async def _contained(work: Coroutine[Any, Any, Any], rung: "asyncio.Future[None]") -> Any:
    """Rings when it is over: whoever waits for that wakes one round of the event loop earlier
    than a task would."""
    task = asyncio.current_task()
    try:
        return await work
    except SystemExit as error:
        raise ToolStopped(f"the tool called for an exit ({error})") from error
    except asyncio.CancelledError as error:
        if task is not None and task.cancelling():
            raise
        raise ToolStopped("the tool cancelled itself") from error
    finally:
        _ring(rung)


def _ring(rung: "asyncio.Future[None]") -> None:
    if not rung.done():
        rung.set_result(None)


async def _threaded(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """One daemon thread a call: a pool would be used up by functions that hang, and would keep
    the process alive."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Callable[[], Any]] = loop.create_future()

    def give(outcome: Callable[[], Any]) -> None:
        if not answer.done():
            answer.set_result(outcome)

    def run() -> None:
        outcome = _outcome(function, arguments)
        try:
            loop.call_soon_threadsafe(give, outcome)
        except RuntimeError:
            log.warning("a tool's thread came back after its event loop had closed")

    context = contextvars.copy_context()
    name = f"deskhand-tool-{getattr(function, '__name__', 'call')}"
    threading.Thread(target=context.run, args=(run,), name=name, daemon=True).start()
    result = (await answer)()
    return await result if inspect.isawaitable(result) else result


def _outcome(function: Callable[..., Any], arguments: dict[str, Any]) -> Callable[[], Any]:
    try:
        value = function(**arguments)
    except BaseException as error:
        caught = error

        def fail() -> Any:
            raise caught

        return fail
    return lambda: value


def _abandon(task: "asyncio.Task[Any]") -> None:
    _abandoned.add(task)
    task.add_done_callback(_forget)
    task.cancel()


def _forget(task: "asyncio.Task[Any]") -> None:
    _abandoned.discard(task)
    if not task.cancelled() and task.exception() is not None:
        log.info("an abandoned tool call failed later: %r", task.exception())
