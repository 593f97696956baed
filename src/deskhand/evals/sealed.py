"""Seals a sandbox: nothing inside connects to other machines, except through a chosen model."""

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from deskhand.errors import PermanentError
from deskhand.model.chat import ChatRequest, Chunk, Completion
from deskhand.model.codes import ErrorCode
from deskhand.ports import ChatModel

_PLACES = {"socket.connect": 1, "socket.sendto": 1, "socket.sendmsg": 1, "socket.getaddrinfo": 0}
"""What reaches out, and where among the arguments it says whom."""
_NEAR = ("127.", "::1", "localhost")

_sealed: ContextVar[list[str] | None] = ContextVar("deskhand_sealed", default=None)
"""While it is sealed: whom something in here wanted to reach."""
_hooked: list[bool] = []


class Sealed(PermanentError):
    """Something in a sandbox wanted to reach another machine."""

    code = ErrorCode.SANDBOX_SEALED


@contextmanager
def sealed() -> Iterator[None]:
    """Refuse connections to other machines in here, in whatever code; what runs outside is not
    touched."""
    if not _hooked:
        # for the life of the process: it cannot be taken back, only be idle
        sys.addaudithook(_watch)
        _hooked.append(True)
    token = _sealed.set([])
    try:
        yield
    finally:
        _sealed.reset(token)


def refusals() -> int:
    """How often something in this sandbox was refused; code that swallows the refusal cannot
    hide it."""
    return len(_sealed.get() or ())


class ThroughTheSeal:
    """A model that may be asked from within a sandbox."""

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner

    async def complete(self, request: ChatRequest) -> Completion:
        token = _sealed.set(None)
        try:
            return await self._inner.complete(request)
        finally:
            _sealed.reset(token)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        whole = await self.complete(request)
        yield Chunk(whole.text, whole)


def _host(event: str, address: Any) -> str | None:
    """The host that a socket event is about; None for events about files and the like."""
    host = address if event.endswith("info") else None
    if isinstance(address, tuple) and address:
        host = address[0]
    if isinstance(host, bytes):
        return host.decode(errors="replace")
    return host if isinstance(host, str) else None


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    place = _PLACES.get(event)
    refused = _sealed.get()
    if place is None or refused is None:
        return
    address = arguments[place] if len(arguments) > place else None
    host = _host(event, address)
    if host is not None and not host.startswith(_NEAR):
        refused.append(host)
        raise Sealed(f"a sandbox lets nothing out, and something wanted to reach {host}")
