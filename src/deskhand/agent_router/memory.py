"""What an `AgentRouter` keeps in memory: its sessions, and the rows of an interaction."""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.engine.journal import State, states
from deskhand.model.envelope import Envelope
from deskhand.model.interaction import SessionMemory
from deskhand.model.run import Review, StepRow
from deskhand.model.understanding import Understanding
from deskhand.ports.telemetry import TelemetrySink
from deskhand.telemetry.stage_reader import StageReader
from deskhand.telemetry.told_rows import told_row

MOST_TURNS = 200
"""How many turns of a session are remembered."""


class InMemoryConversationMemory:
    """Forgets everything when the process ends."""

    def __init__(self) -> None:
        self._sessions: dict[str, SessionMemory] = {}

    async def load(self, session_id: str) -> SessionMemory:
        return self._sessions.get(session_id, SessionMemory())

    async def append(self, session_id: str, *turns: str) -> None:
        """What the customer said comes first, the answers after it."""
        memory = await self.load(session_id)
        history = (*memory.history, *turns)[-MOST_TURNS:]
        self._sessions[session_id] = memory.changed(history=history, messages=memory.messages + 1)

    async def waiting(
        self, session_id: str, param: str | None, state: Mapping[str, Any] | None = None
    ) -> None:
        memory = await self.load(session_id)
        kept = dict(state or {})
        parameters = Understanding(kept.get("outputs") or {}).slots
        self._sessions[session_id] = memory.changed(
            waiting_for=param, state=kept, parameters={**memory.parameters, **parameters}
        )

    async def clear(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)


class MemoryRows:
    """The rows of one run: as much of a store as a run needs that nobody reviews."""

    def __init__(self, first: Envelope) -> None:
        self._first = first
        self.rows: list[StepRow] = []
        self.last: State | None = None

    async def append(self, *rows: StepRow) -> None:
        envelope = self._first if self.last is None else self.last.after
        for state in states(envelope, rows):
            self.read(state)
            self.last = state
        self.rows += rows

    def read(self, state: State) -> None:
        """Take notice of a row, before it is the last one."""

    async def rest(self, rows: Sequence[StepRow]) -> None:
        """The run is over: keep what is left."""
        await self.append(*rows)

    async def find_reviews(self, *_: Any, **__: Any) -> list[Review]:
        return []


class MemoryJournal(MemoryRows):
    """The rows of one interaction. Each is told to the sink when it is written."""

    def __init__(self, first: Envelope, reader: StageReader, sink: TelemetrySink) -> None:
        super().__init__(first)
        self._reader = reader
        self._sink = sink
        self._begun = False

    async def append(self, *rows: StepRow) -> None:
        await super().append(*rows)
        await self._sink.record(*self._reader.events(at_rest=False))

    def read(self, state: State) -> None:
        row = told_row(state)
        if not self._begun:
            self._begun = True
            is_adopted = row.name.startswith("@")
            self._reader.receive(row if is_adopted else None)
        self._reader.read(row)

    async def rest(self, rows: Sequence[StepRow]) -> None:
        """The run is over: tell what is left."""
        await super().rest(rows)
        await self._sink.record(*self._reader.events())
