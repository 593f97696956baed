"""The models of all providers over HTTP, whichever wire protocol each speaks."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from functools import cache
from typing import TypeVar

import aiohttp

from deskhand.adapters.chat_models.chat_completions import error_status
from deskhand.adapters.chat_models.endpoints import ModelEndpoint, endpoint_for
from deskhand.adapters.chat_models.faults import Fault, RetryPolicy, fault_of_status, retry_after
from deskhand.adapters.chat_models.providers import Provider, TokenPrice, provider_table
from deskhand.adapters.chat_models.redaction import redacted
from deskhand.adapters.chat_models.refusals import Refusals
from deskhand.adapters.chat_models.wire import StreamedAnswer, Wire, encoded, read_json
from deskhand.adapters.chat_models.wires import WIRES
from deskhand.errors import DeskhandError, ModelAnswerInvalid, ModelUnavailable
from deskhand.model.chat import ChatRequest, Chunk, Completion
from deskhand.ports import Clock

Taken = TypeVar("Taken")
Take = Callable[[aiohttp.ClientResponse], Awaitable[Taken | Fault]]

_ERROR_BYTES = 64 * 1024
_WHOLE = ("application/json", "application/problem+json")
"""Content types of an answer that is no stream."""


class _BrokenOff(Exception):
    """A stream that ended before its answer did."""

    def __init__(self, words: str, *, retry: bool = True) -> None:
        super().__init__(words)
        self.retry = retry


class _WallClock:
    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class HttpChatModel:
    """Serves every `provider/model` of its table over one session; call `aclose` when done."""

    def __init__(
        self,
        providers: Mapping[str, Provider] | None = None,
        *,
        environ: Mapping[str, str] = os.environ,
        prices: Mapping[str, TokenPrice] | None = None,
        clock: Clock | None = None,
        retries: RetryPolicy | None = None,
        max_response_bytes: int = 20_000_000,
    ) -> None:
        """`prices` are by `provider/model`, where a provider has none of its own."""
        table = provider_table() if providers is None else providers
        self._find: Callable[[str], ModelEndpoint] = lambda name: endpoint_for(
            name, table, environ, prices
        )
        self._clock: Clock = clock or _WallClock()
        self._retries = retries or RetryPolicy()
        self._max_bytes = max_response_bytes
        self._session: aiohttp.ClientSession | None = None
        self._endpoints: dict[str, ModelEndpoint] = {}
        self._refusals = Refusals(self._clock)

    def endpoint(self, model: str) -> ModelEndpoint:
        """Where `provider/model` leads; raises ConfigError, or ModelNotUsable without its
        key."""
        endpoint = self._endpoints.get(model)
        if endpoint is None:
            endpoint = self._endpoints[model] = self._find(model)
        return endpoint

    async def complete(self, request: ChatRequest) -> Completion:
        endpoint = self.endpoint(request.model)
        started = self._clock.now()

        async def take(response: aiohttp.ClientResponse) -> Completion | Fault:
            body = await self._body(response, endpoint)
            latency_ms = (self._clock.now() - started) * 1000
            return self._completion_or_fault(body, endpoint, latency_ms)

        return await self._exchange(endpoint, request, take, stream=False)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        """Tried again when it breaks off, as a whole answer is: what was shown begins anew."""
        tried = 0
        while True:
            tried += 1
            has_shown = False
            try:
                async with aclosing(self._stream_once(request)) as chunks:
                    async for chunk in chunks:
                        has_shown = has_shown or bool(chunk.text)
                        yield chunk
                return
            except _BrokenOff as error:
                fault = Fault(ModelUnavailable(str(error)), retry=error.retry)
            if not fault.retry or tried >= self._retries.tries:
                raise _given_up(fault, tried)
            await self._clock.sleep(self._retries.pause(tried, fault))
            if has_shown:
                yield Chunk(begins_anew=True)

    async def _stream_once(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        endpoint = self.endpoint(request.model)
        started = self._clock.now()
        response = await self._exchange(endpoint, request, _keep_open, stream=True)
        try:
            if response.content_type in _WHOLE or "html" in response.content_type:
                body = await self._whole(response, endpoint)
                whole = self._completion_or_fault(
                    body, endpoint, (self._clock.now() - started) * 1000
                )
                if isinstance(whole, Fault):
                    raise whole.error
                yield Chunk(text=whole.text, completion=whole)
                return
            answer = _wire_of(endpoint).streamed(endpoint)
            async with aclosing(self._texts(response, endpoint, answer)) as texts:
                async for text in texts:
                    yield Chunk(text=text)
            yield Chunk(completion=answer.completion((self._clock.now() - started) * 1000))
        finally:
            response.release()

    async def aclose(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _exchange(
        self, endpoint: ModelEndpoint, request: ChatRequest, take: Take[Taken], *, stream: bool
    ) -> Taken:
        """Send with pauses between tries; what the model refuses is left out and tried again."""
        wire = _wire_of(endpoint)
        mode = self._refusals.json_mode(endpoint, request.schema)
        body = wire.body(request, endpoint, mode, stream)
        tried = 0
        while True:
            tried += 1
            body = self._refusals.without_refused(endpoint, body)
            outcome = await self._attempt(endpoint, encoded(body), take, stream)
            if not isinstance(outcome, Fault):
                return outcome
            if outcome.key_refused:
                # the next call reads the key afresh: it may have been replaced
                self._endpoints.pop(endpoint.name, None)
            if outcome.schema_refused and request.schema is not None and mode != "none":
                mode = self._refusals.refuse_schema(endpoint, request.schema, mode, outcome)
                body = wire.body(request, endpoint, mode, stream)
                tried -= 1
            elif self._refusals.refuse_parameter(endpoint, outcome, body):
                tried -= 1
            elif outcome.retry and tried < self._retries.tries:
                await self._clock.sleep(self._retries.pause(tried, outcome))
            else:
                raise _given_up(outcome, tried)

    async def _attempt(
        self, endpoint: ModelEndpoint, body: bytes, take: Take[Taken], stream: bool
    ) -> Taken | Fault:
        """One request. Returns faults: aiohttp's errors know the headers and must not be raised."""
        provider = endpoint.provider
        timeout = _timeout(provider.timeout, provider.connect_timeout, stream)
        response: aiohttp.ClientResponse | None = None
        taken: Taken | Fault | None = None
        try:
            response = await self._opened().post(
                endpoint.url,
                data=body,
                headers=endpoint.headers,
                timeout=timeout,
                allow_redirects=False,
            )
            if 200 <= response.status < 300:
                taken = await take(response)
                return taken
            said = await _beginning(response)
            wait = retry_after(response.headers.get("Retry-After"), self._clock.now())
            return fault_of_status(response.status, said, endpoint, wait=wait, policy=self._retries)
        except TimeoutError:
            return Fault(
                self._unavailable(endpoint, f"did not answer within {provider.timeout:g} s"),
                retry=self._retries.after_timeout,
            )
        except aiohttp.ClientError as error:
            return Fault(self._unavailable(endpoint, _words(error, endpoint)), retry=True)
        finally:
            if response is not None and taken is not response:
                response.release()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(
                # no limit of its own: what is in flight is bounded by the dispatcher, and waiting
                # here would count as the model's time
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
            )
        return self._session

    async def _whole(self, response: aiohttp.ClientResponse, endpoint: ModelEndpoint) -> bytes:
        """The body of an answer that came whole where a stream was asked for."""
        try:
            return await self._body(response, endpoint)
        except (TimeoutError, aiohttp.ClientError):
            broken = self._unavailable(endpoint, "broke off in the middle of its answer")
        raise _BrokenOff(str(broken))

    async def _body(self, response: aiohttp.ClientResponse, endpoint: ModelEndpoint) -> bytes:
        pieces: list[bytes] = []
        size = 0
        async for piece in response.content.iter_any():
            size += len(piece)
            self._check_size(size, endpoint)
            pieces.append(piece)
        return b"".join(pieces)

    async def _texts(
        self, response: aiohttp.ClientResponse, endpoint: ModelEndpoint, answer: StreamedAnswer
    ) -> AsyncGenerator[str, None]:
        """The texts of a stream as they come; raises _BrokenOff when it stops before its end."""
        broken = ""
        retry = True
        try:
            async with aclosing(self._streamed(response, endpoint, answer)) as texts:
                async for text in texts:
                    yield text
        except TimeoutError:
            broken = f"fell silent for {endpoint.provider.timeout:g} s in the middle of its answer"
            retry = self._retries.after_timeout
        except aiohttp.ClientError as error:
            broken = f"broke off in the middle of its answer: {_words(error, endpoint)}"
        except ModelUnavailable as error:  # the endpoint said so itself
            raise _BrokenOff(str(error)) from None
        if not answer.complete:
            words = self._unavailable(endpoint, broken or "broke off in the middle of its answer")
            raise _BrokenOff(str(words), retry=retry)

    async def _streamed(
        self, response: aiohttp.ClientResponse, endpoint: ModelEndpoint, answer: StreamedAnswer
    ) -> AsyncGenerator[str, None]:
        reader = _wire_of(endpoint).splitter()
        size = 0
        async for piece in response.content.iter_any():
            size += len(piece)
            self._check_size(size, endpoint)
            for event in reader.feed(piece):
                if text := _add(answer, event, endpoint):
                    yield text
            if answer.done:
                return
        for event in reader.end():
            if text := _add(answer, event, endpoint, last=True):
                yield text

    def _completion_or_fault(
        self, body: bytes, endpoint: ModelEndpoint, latency_ms: float
    ) -> Completion | Fault:
        data = read_json(body, endpoint)
        if status := error_status(data):
            return fault_of_status(status, body, endpoint, policy=self._retries)
        return _wire_of(endpoint).read(data, endpoint, latency_ms)

    def _check_size(self, size: int, endpoint: ModelEndpoint) -> None:
        if size > self._max_bytes:
            raise ModelAnswerInvalid(
                f"{endpoint.name} sent more than {self._max_bytes:,} bytes; reading stopped"
            )

    def _unavailable(self, endpoint: ModelEndpoint, what: str) -> ModelUnavailable:
        return ModelUnavailable(f"{endpoint.name} at {endpoint.shown_url} {what}")


def _wire_of(endpoint: ModelEndpoint) -> Wire:
    return WIRES[endpoint.provider.api]


def _given_up(fault: Fault, tried: int) -> DeskhandError:
    """The error to raise once nothing more is tried."""
    if fault.retry and isinstance(fault.error, ModelUnavailable):
        return ModelUnavailable(f"{fault.error} (after {tried} tries)", retry_after=fault.wait)
    return fault.error


@cache
def _timeout(seconds: float, connect: float, stream: bool) -> aiohttp.ClientTimeout:
    """A whole answer has a time limit for all of it, a stream one for each silence."""
    if stream:
        return aiohttp.ClientTimeout(sock_connect=connect, sock_read=seconds)
    return aiohttp.ClientTimeout(total=seconds, sock_connect=connect)


async def _beginning(response: aiohttp.ClientResponse) -> bytes:
    """As much of an error's body as is worth reading."""
    body = b""
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > _ERROR_BYTES:
            break
    return body


async def _keep_open(response: aiohttp.ClientResponse) -> aiohttp.ClientResponse | Fault:
    return response


def _add(
    answer: StreamedAnswer, event: bytes, endpoint: ModelEndpoint, *, last: bool = False
) -> str:
    try:
        return answer.add(event)
    except (ValueError, RecursionError):
        if last:  # half an event at the end of a stream: it was cut, which the caller reports
            return ""
    shown = redacted(event[:2000].decode("utf-8", "replace"), endpoint.key, limit=200)
    raise ModelAnswerInvalid(f"{endpoint.name} streamed something that is not JSON: {shown!r}")


def _words(error: aiohttp.ClientError, endpoint: ModelEndpoint) -> str:
    return redacted(f"cannot be reached: {type(error).__name__}: {error}", endpoint.key, limit=200)
