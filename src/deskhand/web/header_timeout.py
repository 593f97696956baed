"""Connections that send half a request and then nothing: they are closed after a while.

uvicorn waits for the rest of the headers for ever, so a few thousand such connections would keep
everybody else out.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from deskhand.web.joined_writes import JoinedWrites

HEADER_SECONDS = 10.0
"""How long a client may take to send the headers of a request."""

_Protocol: Any = AutoHTTPProtocol


class HeaderTimeoutProtocol(_Protocol):  # type: ignore[misc]
    """uvicorn's HTTP protocol, which closes connections whose headers do not come in time."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        joined = JoinedWrites(transport)
        super().connection_made(joined)
        self._wait(joined)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_in_request():
            self._stop_waiting()
        elif self._waiting is None:
            self._wait(self.transport)

    def eof_received(self) -> None:
        """The client sends nothing more. The event loop closes the connection next, which would
        lose an answer that was made in this round."""
        self.transport.flush()
        super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _is_in_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self, transport: Any) -> None:
        loop = asyncio.get_running_loop()
        self._waiting = loop.call_later(HEADER_SECONDS, self._close_if_incomplete, transport)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _close_if_incomplete(self, transport: Any) -> None:
        self._waiting = None
        if not self._is_in_request():
            transport.close()
