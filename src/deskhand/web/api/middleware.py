"""The outermost layer: logs every request, adds security headers, hides what went wrong inside."""

import logging
import time
from collections.abc import Iterable

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deskhand.errors import DeskhandError
from deskhand.model.ids import new_id
from deskhand.web.api.problems import Problem, problem_of

log = logging.getLogger("deskhand.web")

SECURITY_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


_ENCODED = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]


class Guard:
    """Never logs bodies, headers or query strings: they may hold secrets or customers' words."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0
        scope.setdefault("state", {})

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _secured(message.get("headers", ()))
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except ClientDisconnect:
            log.info("%s %r: the client went away", scope["method"], scope["path"])
        except Exception as error:
            if status:
                raise
            await _problem(scope, error).response()(scope, receive, answer)
        finally:
            fields = {
                "caller": _caller(scope),
                "latency_ms": (time.perf_counter() - started) * 1000,
            }
            log.info("%s %r %d", scope["method"], scope["path"], status, extra=fields)


def _secured(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, with those of SECURITY_HEADERS that it does not set itself."""
    own = list(headers)
    names = {name.lower() for name, _ in own}
    return own + [header for header in _ENCODED if header[0] not in names]


def _problem(scope: Scope, error: Exception) -> Problem:
    expected = problem_of(error)
    if expected is None:
        incident = new_id("inc")
        log.error(
            "%s %r failed, incident %s", scope["method"], scope["path"], incident, exc_info=error
        )
        return Problem(
            500,
            f"something went wrong on our side; the log has it as {incident}",
            incident=incident,
        )
    if expected.status >= 500 and isinstance(error, DeskhandError):
        log.error("%s %r: %s", scope["method"], scope["path"], error)
    return expected


def _caller(scope: Scope) -> str | None:
    state = scope["state"]
    if "caller" in state:
        return str(state["caller"])
    return str(state["key"].name) if "key" in state else None
