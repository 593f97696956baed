"""A task that is cancelled while it closes a connection ends."""

import asyncio

import pytest

from deskhand.adapters.channels.mail_connection import Wire


class StubbornWriter:
    """A connection whose other side does not let it end."""

    def close(self) -> None:
        pass

    async def wait_closed(self) -> None:
        await asyncio.Event().wait()


def wire() -> Wire:
    made = Wire.__new__(Wire)
    made._writer = StubbornWriter()  # type: ignore[assignment]
    return made


async def test_a_cancellation_while_closing_passes() -> None:
    closing = asyncio.create_task(wire().close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing


async def test_a_close_that_takes_too_long_is_left_alone() -> None:
    await wire().close()
