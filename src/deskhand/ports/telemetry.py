"""Where telemetry goes, and how far each place has been told."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from deskhand.model.run import LlmCall, Run, StepRow
from deskhand.model.telemetry import TelemetryEvent


class TelemetrySink(Protocol):
    """Takes what stages tell. An event that comes again has the same id."""

    async def record(self, *events: TelemetryEvent) -> None:
        """Keep these events, in order. They count as told when this returns; whatever it raises
        has them told again later."""
        ...


@dataclass(frozen=True, slots=True)
class ToldRun:
    """A run that came to rest, with what telemetry is told from."""

    number: int
    """Its place in what there is to tell; marks are such numbers."""
    run: Run
    message_id: str | None
    """None once the message was erased."""
    rows: Sequence[StepRow]
    """All of its rows up to where it came to rest."""
    ends: Sequence[int]
    """How many rows there were each time that it rested, oldest first; the last is this time."""
    history_count: int
    calls: Sequence[LlmCall] = ()
    """The calls of models since the time before; read only where a sink asks for them."""


@dataclass(frozen=True, slots=True)
class SinkMark:
    """How far a sink has been told."""

    sink: str
    number: int
    told_at: float | None = None
    failure: str | None = None
    """Why it could not be told more, the last time."""


class TelemetryFeed(Protocol):
    """What a desk's rows have to tell, in an order that stays."""

    async def put_in_order(self, limit: int = 1000) -> int:
        """Number what came to rest since the last time; returns how many."""
        ...

    async def after(self, number: int, limit: int, *, with_calls: bool = False) -> list[ToldRun]:
        """What comes after this number, in order."""
        ...

    async def newest(self) -> int:
        """The last number that was given; 0 where there is none."""
        ...

    async def mark(self, sink: str, *, first: int | None = None) -> int:
        """How far the sink has been told. A sink that is new begins at `first`."""
        ...

    async def set_mark(self, sink: str, before: int, after: int) -> bool:
        """Say that the sink has been told; False where another process was faster."""
        ...

    async def note_failure(self, sink: str, failure: str | None) -> None: ...

    async def marks(self) -> list[SinkMark]: ...
