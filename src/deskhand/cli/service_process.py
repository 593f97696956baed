"""What `serve` and `worker` share: processes that work several desks and live for weeks."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    suppress,
)
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from deskhand.wiring import Database, Desk, LoadedDesk

T = TypeVar("T")

_M_MMAP_THRESHOLD = -3
_MAPPED_FROM_BYTES = 128 * 1024
_SWITCH_SECONDS = 0.0005
_OBJECTS_BETWEEN_COLLECTIONS = 50_000


@asynccontextmanager
async def opened_together(
    openings: Iterable[AbstractAsyncContextManager[T]],
) -> AsyncIterator[list[T]]:
    """Enter one context after the other, and leave all of them at the same time.

    Yields what each gives. Each may take a while to come to rest; leaving side by side keeps
    these times from adding up. Raises the first error that leaving met, after all were left.
    """
    opened: list[T] = []
    exit_stacks: list[AsyncExitStack] = []
    try:
        for opening in openings:
            exit_stack = AsyncExitStack()
            opened.append(await exit_stack.enter_async_context(opening))
            exit_stacks.append(exit_stack)
        yield opened
    finally:
        results = await asyncio.gather(
            *(exit_stack.aclose() for exit_stack in exit_stacks), return_exceptions=True
        )
        for result in results:
            if isinstance(result, BaseException):
                raise result


def outbox_folders(outbox: Path, desks: "Sequence[LoadedDesk]") -> list[Path]:
    """Where each desk's replies leave into: one desk has the folder to itself."""
    if len(desks) == 1:
        return [outbox]
    return [outbox / desk.spec.name for desk in desks]


async def log_what_leaves(
    log: logging.Logger, desks: "Sequence[Desk]", database: "Database"
) -> None:
    """Log a line for each desk: which of its replies may leave without a person."""
    from deskhand.engine.trust_report import unattended_replies
    from deskhand.wiring import open_trust

    for desk in desks:
        what = await unattended_replies(open_trust(desk.spec, database))
        log.info("%s: %s", desk.spec.name, what)


def answer_while_reading() -> None:
    """Let requests be answered while the embedded brain reads mail in other threads.

    A thread that computes keeps the interpreter for this long before another may go on. An answer
    needs it several times, and queues behind every reading thread each time: at Python's own 5 ms
    and six such threads, on two busy cores, half of them took 824 ms instead of 69.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)


def keep_what_was_started() -> None:
    """Take all objects there are out of the search for garbage, and look more often than a command
    that soon ends.

    What a start makes stays to the end. Looking through it takes a tenth of a second each time.
    """
    import gc

    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, 20, 50)


def keep_memory_compact() -> None:
    """Make malloc give large blocks back to the system when they are freed (glibc only).

    Every read from a socket asks for 256 KB and keeps a few bytes of it. glibc maps blocks of
    that size only until the first of them is freed, and takes them from the heap ever after. What
    stays between them fragments the heap, by some 3.5 KB a message. Setting the threshold also
    stops glibc from moving it.
    """
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _MAPPED_FROM_BYTES)
