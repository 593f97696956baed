"""The widget's own door: one script for other pages, and the chat behind it for listed origins.

`/chat/DESK/widget.js` is the script, `/chat/DESK/try` a page of ours with it. All else under
`/chat/DESK/` is the chat of the API, for pages of the desk's `origins` and for our own: a request
from anywhere else is refused, and a browser is told by CORS who may read an answer.
"""

import base64
import json
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deskhand.config.sections.channels import chat_of
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.problems import Problem

PREFIX = "/chat"
SCRIPT = "widget.js"
SAMPLE = "try"
"""A page of ours with the widget on it."""
LARGEST = 40_000
"""Bytes of the script with all that belongs to it."""
_FOLDER = Path(__file__).parent / "widget"
_FOR_ANYBODY = {"Cross-Origin-Resource-Policy": "cross-origin"}
_ALLOWED = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Last-Event-ID",
    "Access-Control-Max-Age": "600",
}


@cache
def widget_script() -> bytes:
    """The script with its style and its words in one file."""
    style = (_FOLDER / "widget.css").read_text(encoding="utf-8")
    words = json.loads((_FOLDER / "words.json").read_text(encoding="utf-8"))
    code = (_FOLDER / "widget.js").read_text(encoding="utf-8")
    parts = [
        f"const CSS_TEXT = {json.dumps(style)};",
        f"const WORDS = {json.dumps(words, ensure_ascii=False, separators=(',', ':'))};",
        code,
    ]
    body = "\n".join(parts)
    return f"(() => {{\n{body}}})();\n".encode()


class ChatDoor:
    """Leads requests under `/chat/` to the chat of the API, or refuses them."""

    def __init__(self, app: ASGIApp, desks: Mapping[str, ServedDesk], behind: str) -> None:
        """`behind` is the path of the API's chat."""
        self._app, self._desks, self._behind = app, desks, behind

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope.get("path", ""))
        if scope["type"] != "http" or not path.startswith(f"{PREFIX}/"):
            await self._app(scope, receive, send)
            return
        desk, _, action = path.removeprefix(f"{PREFIX}/").partition("/")
        origins = self._origins(desk)
        if origins is None:
            answer = Problem(404, "there is no such chat").response()
            await answer(scope, receive, send)
        elif action == SCRIPT:
            await _script(scope)(scope, receive, send)
        elif action == SAMPLE:
            await _sample(scope)(scope, receive, send)
        else:
            await self._lead(scope, receive, send, desk, action, origins)

    def _origins(self, desk: str) -> frozenset[str] | None:
        """The pages that may embed a desk's widget; None for a desk without a chat."""
        served = self._desks.get(desk)
        settings = None if served is None else chat_of(served.spec.channels)
        return None if settings is None else frozenset(settings.origins)

    async def _lead(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        desk: str,
        action: str,
        origins: frozenset[str],
    ) -> None:
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if not _may_enter(headers, origins):
            words = "this page may not embed the chat; the desk lists its `origins`"
            await Problem(403, words).response()(scope, receive, send)
            return
        allowed = {**_FOR_ANYBODY, "Vary": "Origin"}
        if origin is not None:
            allowed["Access-Control-Allow-Origin"] = origin
        if scope["method"] == "OPTIONS":
            answer = Response(status_code=204, headers={**allowed, **_ALLOWED})
            await answer(scope, receive, send)
            return

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(allowed)
            await send(message)

        path = self._behind if action == "say" else f"{self._behind}/{action}"
        state = {**scope.get("state", {}), "chat_desk": desk}
        inside = {**scope, "path": path, "raw_path": path.encode(), "state": state}
        await self._app(inside, receive, tell)


def _may_enter(headers: Headers, origins: frozenset[str]) -> bool:
    """Whether the page that asks is listed, or our own."""
    origin = headers.get("origin")
    if origin is None:  # browsers leave it out where a page reads from its own site
        return headers.get("sec-fetch-site") == "same-origin"
    return origin in origins or _is_own(origin, headers.get("host", ""))


def _is_own(origin: str, host: str) -> bool:
    try:
        return bool(host) and urlsplit(origin).netloc == host
    except ValueError:  # `http://[`
        return False


def _script(scope: Scope) -> Response:
    """The script, for any page: what it may do is decided at the door."""
    body = widget_script()
    tag = f'"{sha256(body).hexdigest()[:20]}"'
    headers = {**_FOR_ANYBODY, "Cache-Control": "max-age=600", "ETag": tag}
    if scope["method"] not in ("GET", "HEAD"):
        return Response(status_code=405, headers={"Allow": "GET"})
    if Headers(scope=scope).get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="text/javascript", headers=headers)


def _sample(scope: Scope) -> Response:
    """A page on which the chat can be tried; its policy shows what the widget needs."""
    if scope["method"] not in ("GET", "HEAD"):
        return Response(status_code=405, headers={"Allow": "GET"})
    body = (_FOLDER / "try.html").read_bytes()
    style = body.partition(b"<style>")[2].partition(b"</style>")[0]
    digest = base64.b64encode(sha256(style).digest()).decode()
    policy = (
        "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none';"
        f" style-src 'sha256-{digest}'"
    )
    headers = {"Content-Security-Policy": policy, "Referrer-Policy": "same-origin"}
    return Response(body, media_type="text/html", headers=headers)
