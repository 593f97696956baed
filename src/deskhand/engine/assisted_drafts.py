"""Drafts that a colleague asks for while he answers himself. Nothing of them is recorded in the run
and nothing leaves: the words go into his box, and what he sends passes the gate as his own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager

from deskhand.agents.last_words import draft_so_far
from deskhand.agents.standalone import Standalone
from deskhand.engine.loop import Flow
from deskhand.engine.story import read_records
from deskhand.errors import Conflict
from deskhand.model.envelope import Envelope
from deskhand.model.tasks import TaskKind
from deskhand.ports import Store

Watch = Callable[[str, Callable[[str], None]], AbstractContextManager[None]]
"""Tells of what a model writes for a run while one is inside."""


class AssistedDrafts:
    def __init__(self, store: Store, flows: Mapping[str, Flow], watch: Watch) -> None:
        self._store = store
        self._flows = flows
        self._watch = watch

    def can_draft(self, flow: str) -> bool:
        """Whether the desk drafts replies in a step that changes nothing."""
        return self._stage(flow) is not None

    async def write(self, run_id: str) -> AsyncIterator[str]:
        """The draft as far as it is written, again and again; the last one is whole.

        Conflict says why there is none.
        """
        records = await read_records(self._store, run_id)
        stage = self._stage(records.run.flow)
        if stage is None:
            raise Conflict("this desk has no stage that drafts by itself; write the answer")
        if records.message is None:
            raise Conflict("the message was erased; there is nothing to answer")
        states = records.states
        envelope = Envelope.of(records.message, run_id=run_id)
        if states:
            envelope = states[-1].after
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        with self._watch(run_id, lambda text: pieces.put_nowait(draft_so_far(text))):
            working = asyncio.create_task(self._draft(*stage, envelope))
            working.add_done_callback(lambda _: pieces.put_nowait(None))
            try:
                while (written := await pieces.get()) is not None:
                    yield written
                yield await working
            finally:
                working.cancel()

    async def _draft(self, flow: Flow, stage: str, envelope: Envelope) -> str:
        result = await flow.agents[stage](envelope, Standalone(envelope))
        output = envelope.apply(result.delta).output(flow.spec.stages[stage].output_key)
        text = output.get("text") if isinstance(output, dict) else None
        if not text:
            reason = result.error.message if result.error else "it found nothing to say"
            raise Conflict(f"the desk has no draft: {reason}")
        return str(text)

    def _stage(self, name: str) -> tuple[Flow, str] | None:
        """Where replies are drafted: in the run's own flow, else in another of the desk."""
        own = [self._flows[name]] if name in self._flows else []
        for flow in (*own, *self._flows.values()):
            for stage, spec in flow.spec.stages.items():
                if spec.task == TaskKind.DRAFT:
                    return flow, stage
        return None
