"""Connections that send half a request and then nothing, or headers without end: they are closed.

uvicorn waits for the rest of the headers for ever, so a few thousand such connections would keep
everybody else out. It reads requests with httptools, which knows no limits.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from deskhand.web.joined_writes import JoinedWrites

HEADER_SECONDS = 10.0
"""How long a client may take to send the headers of a request."""

MOST_UNREAD = 64 * 1024
"""Bytes of a request that may come before its headers, or the next piece of its body, are whole."""
_VERSIONS = ("1.1", "1.0")

_Protocol: Any = HttpToolsProtocol


class HeaderTimeoutProtocol(_Protocol):  # type: ignore[misc]
    """uvicorn's HTTP protocol, which closes connections whose headers do not come in time, or are
    too long."""

    _waiting: asyncio.TimerHandle | None = None
    _unread = 0
    """Bytes received since the last headers or piece of a body."""

    def connection_made(self, transport: Any) -> None:
        joined = JoinedWrites(transport)
        super().connection_made(joined)
        self._wait(joined)

    def data_received(self, data: bytes) -> None:
        self._unread += len(data)
        super().data_received(data)
        if self._unread > MOST_UNREAD:
            self._refuse()
        if self._is_in_request():
            self._stop_waiting()
        elif self._waiting is None:
            self._wait(self.transport)

    def on_headers_complete(self) -> None:
        """What raises here is answered with 400."""
        self._unread = 0
        version = self.parser.get_http_version()
        hosts = sum(name == b"host" for name, _ in self.headers)
        if version not in _VERSIONS or hosts > 1 or (hosts == 0 and version == "1.1"):
            raise ValueError("not a request of HTTP/1, or without the one host that it is for")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread = 0
        super().on_message_complete()

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

    def _refuse(self) -> None:
        """An answer that has begun is cut off."""
        if self._is_in_request():
            self.transport.close()
        else:
            self.send_400_response("The headers of the request are too long.")

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
