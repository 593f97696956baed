"""Who calls, what they may do, and which desks exist for them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar, cast

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Message as Event
from starlette.types import Scope as Connection

from deskhand.config.sections.channels import ChannelSpec
from deskhand.config.sections.intents import IntentSpec
from deskhand.config.sections.policy import PolicySpec
from deskhand.config.sections.reviews import ReviewsSpec
from deskhand.config.sections.routing import RoutingRuleSection
from deskhand.config.sections.safeguards import SafeguardSpec
from deskhand.config.sections.tickets import TicketsSection
from deskhand.engine.chat_codes import ChatCodes
from deskhand.engine.trust_modes import Trust
from deskhand.errors import NotFound
from deskhand.model.access import ApiKey, Scope
from deskhand.model.knowledge import Hit
from deskhand.model.spec import FlowSpec
from deskhand.ports import ApiKeys, Archive, ConsoleActions, Dispatcher, Store
from deskhand.ports.conversations import Chats
from deskhand.ports.knowledge import KnowledgeStore
from deskhand.ports.office import Contacts
from deskhand.tickets.service import Tickets
from deskhand.tools.call_trial import CallTrial
from deskhand.web.api.problems import FieldProblem, Problem, Refused, invalid, problem_of
from deskhand.web.api.reference import OPEN_PAGES

log = logging.getLogger("deskhand.web")

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""All that answers without a key beside the pages of `reference`."""
UNNOTED = frozenset({"/api/messages", "/api/triage"})
"""What is handed in or asked by the thousand, and changes nothing that people did."""

_LONGEST_HEADER = 500
T = TypeVar("T")


# --- what the API needs of a desk


class DeskLimits(Protocol):
    @property
    def max_message_bytes(self) -> int: ...
    @property
    def max_attachment_bytes(self) -> int: ...


class DeskFacts(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def limits(self) -> DeskLimits: ...
    @property
    def reviews(self) -> ReviewsSpec: ...
    @property
    def time_zone(self) -> str: ...
    @property
    def languages(self) -> Sequence[str]: ...
    @property
    def channels(self) -> Mapping[str, ChannelSpec]: ...
    @property
    def flows(self) -> Mapping[str, FlowSpec]: ...
    @property
    def tickets(self) -> TicketsSection: ...
    @property
    def models(self) -> Mapping[str, str]: ...
    @property
    def folder(self) -> Path: ...
    @property
    def routing(self) -> Sequence[RoutingRuleSection]: ...
    @property
    def policy(self) -> PolicySpec | None: ...
    @property
    def safeguards(self) -> SafeguardSpec: ...
    @property
    def intents(self) -> Mapping[str, IntentSpec]: ...


class ServingDispatcher(Dispatcher, Protocol):
    lost: asyncio.Future[None]
    """Done once this process no longer serves the desk."""

    @property
    def full(self) -> bool:
        """Whether handing in a message would have to wait."""
        ...

    def wake(self) -> None: ...


class Knowledge(Protocol):
    @property
    def store(self) -> KnowledgeStore: ...

    async def search(
        self,
        question: str,
        *,
        category: str | None = None,
        language: str | None = None,
        limit: int = 5,
    ) -> list[Hit]: ...


class ServedChannel(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def is_well(self) -> bool: ...
    @property
    def trouble(self) -> str: ...


class ServedStore(Store, Archive, Protocol):
    """A desk's records, also as an auditor reads them."""


class DraftWriter(Protocol):
    def can_draft(self, flow: str) -> bool: ...

    def write(self, run_id: str) -> AsyncIterator[str]: ...


class ServedDesk(Protocol):
    @property
    def spec(self) -> DeskFacts: ...
    @property
    def store(self) -> ServedStore: ...
    @property
    def dispatcher(self) -> ServingDispatcher: ...
    @property
    def knowledge(self) -> Knowledge: ...
    @property
    def trust(self) -> Trust: ...
    @property
    def tickets(self) -> Tickets: ...
    @property
    def contacts(self) -> Contacts: ...
    @property
    def chats(self) -> Chats: ...
    @property
    def codes(self) -> ChatCodes: ...
    @property
    def trial(self) -> CallTrial: ...
    @property
    def drafts(self) -> DraftWriter: ...
    @property
    def channels(self) -> Sequence[ServedChannel]: ...


# --- who calls


class Authenticate:
    """Lets only requests with a key pass, except on the open paths, and writes down what is done
    with a key.

    `apart` names parts of the site that log people in themselves.
    """

    def __init__(
        self,
        app: ASGIApp,
        keys: ApiKeys,
        apart: Sequence[str] = (),
        actions: ConsoleActions | None = None,
    ) -> None:
        self._app = app
        self._keys = keys
        self._open = frozenset((*OPEN_PATHS, *OPEN_PAGES, *apart))
        self._open_parts = tuple(f"{part}/" for part in apart)
        self._actions = actions

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or (
            scope["type"] == "http" and self._is_open(scope["path"])
        ):
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        secret = _secret(Headers(scope=scope))
        key = None if secret is None else await self._keys.find(secret)
        if key is None:
            await _refusal(scope, given=secret is not None).response()(scope, receive, send)
            return
        scope.setdefault("state", {})["key"] = key
        if self._actions is None or not _is_action(scope):
            await self._app(scope, receive, send)
            return
        await self._noted(self._actions, scope, receive, send, key)

    async def _noted(
        self, actions: ConsoleActions, scope: Connection, receive: Receive, send: Send, key: ApiKey
    ) -> None:
        """What is done, or refused, stands in the console's log before anybody is told of it."""
        client = (scope.get("client") or ("unknown",))[0]

        async def note(status: int) -> None:
            if status < 500:
                who, method = f"key {key.name}", scope["method"]
                await actions.record(who, client, method, scope["path"], status)

        async def send_noted(event: Event) -> None:
            if event["type"] == "http.response.start":
                await note(event["status"])
            await send(event)

        try:
            await self._app(scope, receive, send_noted)
        except Exception as error:
            problem = problem_of(error)
            if problem is not None:
                await note(problem.status)
            raise

    def _is_open(self, path: str) -> bool:
        return path in self._open or path.startswith(self._open_parts)


def _is_action(scope: Connection) -> bool:
    """Looking is none, and a message that is handed in has a run of its own to tell of it."""
    return scope["method"] not in ("GET", "HEAD", "OPTIONS") and scope["path"] not in UNNOTED


def _secret(headers: Headers) -> str | None:
    given = headers.getlist("authorization")
    if len(given) != 1 or len(given[0]) > _LONGEST_HEADER:
        return None
    scheme, _, secret = given[0].partition(" ")
    return secret.strip() or None if scheme.lower() == "bearer" else None


def _refusal(scope: Connection, *, given: bool) -> Problem:
    client = (scope.get("client") or ("unknown",))[0]
    words = "the API key is not valid" if given else "no API key was given"
    log.warning("refused %s %r from %s: %s", scope["method"], scope["path"], client, words)
    challenge = 'Bearer realm="deskhand"' + (', error="invalid_token"' if given else "")
    return Problem(
        401,
        f"{words}; send `Authorization: Bearer dh_...`",
        headers={"WWW-Authenticate": challenge},
    )


@dataclass(frozen=True, slots=True)
class Caller:
    """A key with the desks it may touch; the others do not exist for it."""

    key: ApiKey
    desks: Mapping[str, ServedDesk]

    def desk(self, name: str | None) -> ServedDesk:
        """The named desk, or the only one there is."""
        if name is not None:
            if name not in self.desks:
                raise NotFound(f"there is no desk {name!r}")
            return self.desks[name]
        if len(self.desks) > 1:
            raise invalid(FieldProblem("desk", f"say which desk: {', '.join(sorted(self.desks))}"))
        if not self.desks:
            raise NotFound("there is no desk that this key may touch")
        return next(iter(self.desks.values()))

    async def look(self, what: str, read: Callable[[Store], Awaitable[T]]) -> tuple[ServedDesk, T]:
        """The first desk on which `read` finds something, and what it found."""
        for desk in self.desks.values():
            try:
                return desk, await read(desk.store)
            except NotFound:
                continue
        raise NotFound(f"there is no {what}")


def may(scope: Scope) -> Callable[[Request], Awaitable[Caller]]:
    """A dependency: the caller, who holds this scope."""

    async def caller(request: Request) -> Caller:
        key = cast(ApiKey, request.state.key)
        if not key.may(scope):
            challenge = f'Bearer realm="deskhand", error="insufficient_scope", scope="{scope}"'
            detail = f"the key {key.name!r} lacks the scope {scope}"
            raise Refused(403, detail, headers={"WWW-Authenticate": challenge})
        served = cast(Mapping[str, ServedDesk], request.app.state.desks)
        return Caller(key, {name: desk for name, desk in served.items() if key.touches(name)})

    return caller
