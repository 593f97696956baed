"""What a response writes in one go leaves in one packet."""

import asyncio
from typing import Any

MOST_HELD = 64 * 1024
"""Bytes that are held back at most: with more, the transport decides whether the writer must
wait."""


class JoinedWrites:
    """A transport that sends what was written since the event loop last came round together.

    uvicorn writes the headers and the body of a response one after the other. Each by itself is a
    call of the kernel, which wakes the reader twice.
    """

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._held: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not data:
            return
        if not self._held:
            asyncio.get_running_loop().call_soon(self.flush)
        self._held.append(data)
        self._size += len(data)
        if self._size > MOST_HELD:
            self.flush()

    def close(self) -> None:
        """Send what is held back, then close."""
        self.flush()
        self._transport.close()

    def flush(self) -> None:
        """Send what is held back now."""
        if not self._held:
            return
        data = b"".join(self._held)
        self._held.clear()
        self._size = 0
        if not self._transport.is_closing():
            self._transport.write(data)
