"""Leaves a model alone that does not answer: one call at a time tries it until it is back."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import SystemRandom

from deskhand.errors import DeskhandError, ModelAway, ModelUnavailable, SpendingCapReached
from deskhand.model.chat import ChatRequest, Chunk, Completion
from deskhand.ports import ChatModel, Clock

log = logging.getLogger("deskhand.models")

Back = Callable[[str], Awaitable[None]]
"""Told of a model that answers again."""


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """When a model counts as away, and how long it is left alone."""

    failures: int = 3
    """So many in a row open the circuit; a Retry-After does so at once."""
    first_pause: float = 1.0
    longest_pause: float = 60.0
    """Pauses double up to this; only a Retry-After may be longer."""
    spread: float = 0.25
    """The share of a pause by which waiting calls are scattered behind it."""
    each: float = 0.1
    """Seconds by which they are scattered for each call that waits."""
    hanging: float = 30.0
    """A call that was given up after so many seconds counts as a failure."""
    random: Callable[[], float] = SystemRandom().random

    def pause(self, round_number: int) -> float:
        """The pause after the trial of this number, half of it left to chance."""
        whole = min(self.first_pause * 2.0 ** (round_number - 1), self.longest_pause)
        return whole * (0.5 + self.random() / 2)


class Circuit:
    """Whether one model is asked: closed, it is; open, it is not until its pause is over, and then
    by one call alone."""

    def __init__(self, model: str, clock: Clock, policy: BreakerPolicy) -> None:
        self._model, self._clock, self._policy = model, clock, policy
        self._failures = 0
        """In a row, while closed."""
        self._rounds = 0
        """Pauses so far; 0 while closed."""
        self._until = 0.0
        self._pause = 0.0
        self._waiting = 0
        """Calls turned away in this pause."""
        self._probing = False
        self._problem = ""

    @property
    def is_open(self) -> bool:
        return self._rounds > 0

    def enter(self) -> bool:
        """Let a call pass; returns whether it is the one that tries an open circuit.

        Raises ModelAway for every other call while the circuit is open.
        """
        if not self.is_open:
            return False
        if self._probing or self._clock.now() < self._until:
            raise self._turned_away()
        self._probing = True
        return True

    def succeed(self) -> bool:
        """The model has answered; returns whether it was away."""
        was_open = self.is_open
        self._failures = self._rounds = self._waiting = 0
        return was_open

    def fail(self, error: ModelUnavailable, *, probe: bool) -> ModelAway:
        """A call has failed; returns when what needs the model is to try again."""
        self._problem = str(error)
        self._failures += 1
        is_enough = error.retry_after is not None or self._failures >= self._policy.failures
        if probe or (is_enough and not self.is_open):
            self._open(error.retry_after)
        elif self.is_open and error.retry_after is not None:
            self._until = max(self._until, self._clock.now() + error.retry_after)
        if not self.is_open:
            until = self._clock.now() + self._policy.pause(self._failures)
            return ModelAway(str(error), model=self._model, until=until, asked=True)
        return ModelAway(str(error), model=self._model, until=self._place(), asked=True)

    def leave(self, *, probe: bool) -> None:
        """A call ended without saying anything about the model."""
        if probe:
            self._probing = False

    def _open(self, retry_after: float | None) -> None:
        self._rounds += 1
        self._waiting = 0
        self._pause = self._policy.pause(self._rounds)
        if retry_after is not None:
            self._pause = max(retry_after, self._policy.first_pause)
        self._until = self._clock.now() + self._pause
        if self._rounds == 1:
            log.warning("%s is away; what needs it waits: %s", self._model, self._problem)

    def _turned_away(self) -> ModelAway:
        return ModelAway(self._problem, model=self._model, until=self._place(), asked=False)

    def _place(self) -> float:
        """When one of those who wait may try: after the pause, and not all at once."""
        self._waiting += 1
        policy = self._policy
        width = max(min(self._pause, policy.longest_pause) * policy.spread, policy.each)
        width = max(width, self._waiting * policy.each)
        now = self._clock.now()
        begin = now + self._pause if self._probing else max(self._until, now)
        return begin + policy.random() * width


class Circuits:
    """The circuits of a desk's models in this process, shared by all its runs."""

    def __init__(self, clock: Clock, back: Back, policy: BreakerPolicy | None = None) -> None:
        """`back` is called when a model answers that was away."""
        self._clock, self._back = clock, back
        self._policy = policy or BreakerPolicy()
        self._circuits: dict[str, Circuit] = {}

    @asynccontextmanager
    async def around(self, model: str) -> AsyncIterator[None]:
        """One call of a model: what comes of it is what the circuit goes by.

        Raises ModelAway where the model cannot be reached, or is not asked now.
        """
        circuit = self._circuit(model)
        probe = circuit.enter()
        began = self._clock.now()
        away: ModelAway | None = None
        try:
            yield
            await self._answered(circuit, model)
        except (ModelAway, SpendingCapReached, GeneratorExit):
            raise
        except ModelUnavailable as error:
            away = circuit.fail(error, probe=probe)
        except DeskhandError:
            await self._answered(circuit, model)  # an answer, if not a welcome one
            raise
        except BaseException:
            if self._clock.now() - began >= self._policy.hanging:
                circuit.fail(ModelUnavailable(f"{model} did not answer in time"), probe=probe)
            raise
        finally:
            circuit.leave(probe=probe)
        if away is not None:
            raise away

    async def _answered(self, circuit: Circuit, model: str) -> None:
        if not circuit.succeed():
            return
        log.warning("%s answers again", model)
        try:
            await self._back(model)
        except DeskhandError as error:
            log.warning("those who wait for %s go on when their time comes: %s", model, error)

    def _circuit(self, model: str) -> Circuit:
        circuit = self._circuits.get(model)
        if circuit is None:
            circuit = self._circuits[model] = Circuit(model, self._clock, self._policy)
        return circuit


class GuardedChatModel:
    """A model that is left alone while it is away."""

    def __init__(self, inner: ChatModel, circuits: Circuits) -> None:
        self._inner, self._circuits = inner, circuits

    async def complete(self, request: ChatRequest) -> Completion:
        async with self._circuits.around(request.model):
            return await self._inner.complete(request)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        async with self._circuits.around(request.model):
            chunks = self._inner.stream(request)
            try:
                async for chunk in chunks:
                    yield chunk
            finally:
                if isinstance(chunks, AsyncGenerator):
                    await chunks.aclose()
