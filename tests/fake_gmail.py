"""A local server that speaks the documented shapes of the Gmail API, with a mailbox behind it."""

import base64
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import policy
from email.parser import BytesParser
from itertools import count
from typing import Any

from aiohttp import web

TOKEN_LIFE = 3600


@dataclass
class Stored:
    id: str
    raw: bytes
    labels: set[str]
    history: int
    at: float

    @property
    def message_id(self) -> str:
        return str(
            BytesParser(policy=policy.default).parsebytes(self.raw, headersonly=True)["Message-ID"]
        )


@dataclass
class FakeGmail:
    mails: dict[str, Stored] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    """Names by id."""
    oldest_history: int = 1
    refresh_tokens: set[str] = field(default_factory=lambda: {"refresh-1"})
    tokens: set[str] = field(default_factory=set)
    fail_sends: list[str] = field(default_factory=list)
    """What goes wrong with the next sends: `after` (taken, then 500), `before` (500), `busy`
    (429)."""
    label_numbers: Iterator[int] = field(default_factory=lambda: count(1))
    url: str = ""
    asked: list[str] = field(default_factory=list)
    history: int = 100

    def arrive(self, raw: bytes, *labels: str, at: float = 0.0) -> str:
        self.history += 1
        gmail_id = f"m{self.history}"
        self.mails[gmail_id] = Stored(gmail_id, raw, set(labels), self.history, at)
        return gmail_id

    def with_label(self, label: str) -> list[Stored]:
        return [mail for mail in self.mails.values() if label in mail.labels]

    def label(self, name: str) -> str:
        """The id of a label, or nothing."""
        return next((key for key, known in self.labels.items() if known == name), "")

    # --- the API

    async def token(self, request: web.Request) -> web.Response:
        form = await request.post()
        if (
            form.get("refresh_token") not in self.refresh_tokens
            or form.get("client_secret") != "client-secret"
        ):
            return web.json_response({"error": "invalid_grant"}, status=400)
        token = f"access-{len(self.tokens)}"
        self.tokens.add(token)
        return web.json_response(
            {"access_token": token, "expires_in": TOKEN_LIFE, "token_type": "Bearer"}
        )

    async def token_info(self, request: web.Request) -> web.Response:
        if request.query.get("access_token") not in self.tokens:
            return web.json_response({"error": "invalid_token"}, status=400)
        return web.json_response({"email": "support@acme.test", "expires_in": TOKEN_LIFE})

    @web.middleware
    async def guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.asked.append(f"{request.method} {request.path}")
        if request.path not in ("/token", "/tokeninfo"):
            token = request.headers.get("Authorization", "").removeprefix("Bearer ")
            if token not in self.tokens:
                return web.json_response({"error": {"code": 401}}, status=401)
        response: web.StreamResponse = await handler(request)
        return response

    async def profile(self, request: web.Request) -> web.Response:
        return web.json_response(
            {"emailAddress": "support@acme.test", "historyId": str(self.history)}
        )

    async def list_history(self, request: web.Request) -> web.Response:
        start = int(request.query["startHistoryId"])
        if start < self.oldest_history:
            return web.json_response({"error": {"code": 404}}, status=404)
        new = [mail for mail in self.mails.values() if mail.history > start]
        page = int(request.query.get("pageToken", "0"))
        shown = new[page : page + 2]
        answer: dict[str, Any] = {"historyId": str(self.history)}
        if shown:
            answer["history"] = [
                {
                    "id": str(mail.history),
                    "messagesAdded": [{"message": {"id": mail.id, "threadId": f"t{mail.id}"}}],
                }
                for mail in shown
            ]
        if page + 2 < len(new):
            answer["nextPageToken"] = str(page + 2)
        return web.json_response(answer)

    async def list_messages(self, request: web.Request) -> web.Response:
        kind, _, value = request.query.get("q", "").partition(":")
        found = [
            mail
            for mail in reversed(self.mails.values())
            if (kind == "rfc822msgid" and mail.message_id == f"<{value}>")
            or (kind == "after" and mail.at >= float(value))
        ]
        answer: dict[str, Any] = {"resultSizeEstimate": len(found)}
        if found:
            answer["messages"] = [{"id": mail.id, "threadId": f"t{mail.id}"} for mail in found]
        return web.json_response(answer)

    async def get_message(self, request: web.Request) -> web.Response:
        mail = self.mails.get(request.match_info["id"])
        if mail is None:
            return web.json_response({"error": {"code": 404}}, status=404)
        raw = base64.urlsafe_b64encode(mail.raw).decode().rstrip("=")
        return web.json_response(
            {"id": mail.id, "threadId": f"t{mail.id}", "labelIds": sorted(mail.labels), "raw": raw}
        )

    async def send(self, request: web.Request) -> web.Response:
        fault = self.fail_sends.pop(0) if self.fail_sends else ""
        if fault == "busy":
            return web.json_response({"error": {"code": 429}}, status=429)
        if fault != "before":
            raw = base64.urlsafe_b64decode((await request.json())["raw"])
            self.arrive(raw, "SENT")
        if fault:
            return web.json_response({"error": {"code": 500}}, status=500)
        return web.json_response({"id": "sent", "threadId": "t", "labelIds": ["SENT"]})

    async def draft(self, request: web.Request) -> web.Response:
        raw = base64.urlsafe_b64decode((await request.json())["message"]["raw"])
        return web.json_response(
            {"id": "r1", "message": {"id": self.arrive(raw, "DRAFT"), "labelIds": ["DRAFT"]}}
        )

    async def list_labels(self, request: web.Request) -> web.Response:
        return web.json_response(
            {"labels": [{"id": key, "name": name} for key, name in self.labels.items()]}
        )

    async def make_label(self, request: web.Request) -> web.Response:
        name = (await request.json())["name"]
        key = f"Label_{next(self.label_numbers)}"
        self.labels[key] = name
        return web.json_response({"id": key, "name": name})

    async def remove_label(self, request: web.Request) -> web.Response:
        if self.labels.pop(request.match_info["id"], None) is None:
            return web.json_response({"error": {"code": 404}}, status=404)
        return web.Response(status=204)

    async def modify(self, request: web.Request) -> web.Response:
        mail, body = self.mails[request.match_info["id"]], await request.json()
        mail.labels |= set(body["addLabelIds"])
        mail.labels -= set(body["removeLabelIds"])
        return web.json_response({"id": mail.id, "labelIds": sorted(mail.labels)})


@asynccontextmanager
async def fake_gmail() -> AsyncIterator[FakeGmail]:
    gmail = FakeGmail()
    app = web.Application(middlewares=[gmail.guard])
    root = "/gmail/v1/users/me"
    app.add_routes(
        [
            web.post("/token", gmail.token),
            web.get("/tokeninfo", gmail.token_info),
            web.get(f"{root}/profile", gmail.profile),
            web.get(f"{root}/history", gmail.list_history),
            web.get(f"{root}/messages", gmail.list_messages),
            web.post(f"{root}/messages/send", gmail.send),
            web.get(f"{root}/messages/{{id}}", gmail.get_message),
            web.post(f"{root}/messages/{{id}}/modify", gmail.modify),
            web.post(f"{root}/drafts", gmail.draft),
            web.get(f"{root}/labels", gmail.list_labels),
            web.post(f"{root}/labels", gmail.make_label),
            web.delete(f"{root}/labels/{{id}}", gmail.remove_label),
        ]
    )
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    gmail.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield gmail
    finally:
        await runner.cleanup()
