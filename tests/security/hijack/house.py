"""Where runs live: the engine's own context and loop over a store in memory, or a worker over a
real database."""

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from deskhand.engine.context import RunContext
from deskhand.engine.loop import Flow, Process, run_flow
from deskhand.engine.worker import Worker
from deskhand.model.envelope import Envelope
from deskhand.model.message import Message
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import (
    EXPIRY,
    Review,
    ReviewKind,
    ReviewState,
    StepRow,
    Verdict,
    canonical_hash,
)
from deskhand.model.spec import AgentSpec, FlowSpec
from deskhand.model.totals import Stop
from deskhand.ports import Store
from tests.kit import TestClock
from tests.memory_ledger import MemoryLedger

STAGE = "act"


def flow_of(model: Process) -> Flow:
    stage = AgentSpec(name=STAGE, service=STAGE, output_key=STAGE, attempts=1, timeout=60)
    spec = FlowSpec(name="flow", start=STAGE, stages={STAGE: stage}, version="v1", max_hops=1000)
    return Flow(spec, {STAGE: model}, backoff=1.0)


class House(Protocol):
    async def work(self, message: Message, run_id: str | None) -> tuple[str, Review | None]:
        """Begin or go on with a run; the review it waits for, if any."""
        ...

    async def decide(self, review: Review, verdict: Verdict) -> Review | None:
        """What became of it; None when the decision was refused or a second person is needed."""
        ...

    async def switch(self, stopped: bool) -> None:
        """The desk's stop switch."""
        ...


@dataclass
class MemoryHouse(MemoryLedger):
    """Rows and reviews in memory; a decision is taken as it comes, so that the gate alone stands
    in the way."""

    clock: TestClock
    model: Process
    steps: dict[str, list[StepRow]] = field(default_factory=dict)
    asked: dict[str, list[Review]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()
        self._flow = flow_of(self.model)

    async def work(self, message: Message, run_id: str | None) -> tuple[str, Review | None]:
        run_id = run_id or f"run_{len(self.steps)}"
        rows = self.steps.setdefault(run_id, [])
        store: Any = self
        ctx = RunContext(
            Envelope.of(message, run_id=run_id),
            b"",
            store,
            self.clock,
            flow_version="v1",
            rows=list(rows),
        )
        end = await run_flow(self._flow, ctx)
        if end.ask is None:
            return run_id, None
        payload, kind = end.ask.payload, ReviewKind(end.ask.kind)
        number = len(self.asked.setdefault(run_id, []))
        review = Review(
            f"{run_id}/{number}", "hijacked", run_id, ctx.last_seq, message.conversation, kind, end.ask.reason, payload,  # noqa: E501
            canonical_hash(payload), ReviewState.OPEN, 1, self.clock.now(),
        )  # fmt: skip
        self.asked[run_id].append(review)
        return run_id, review

    async def append(self, row: StepRow, *more: StepRow) -> None:
        self.steps[row.run_id] += [row, *more]

    async def find_reviews(self, wanted: ReviewFilter, *, after: object = None) -> list[Review]:
        assert wanted.run_id is not None
        return [] if after else self.asked.get(wanted.run_id, [])

    async def decide(self, review: Review, verdict: Verdict) -> Review | None:
        state = ReviewState.EXPIRED if verdict.by == EXPIRY else ReviewState.DECIDED
        decided = replace(
            review, state=state, decision=verdict.decision, decided_by=verdict.by, decided_at=verdict.at,  # noqa: E501
            signed_by=verdict.signed_by, edit=verdict.edit,
        )  # fmt: skip
        for place, asked in enumerate(self.asked[review.run_id]):
            if asked.id == review.id:
                self.asked[review.run_id][place] = decided
        return decided

    async def switch(self, stopped: bool) -> None:
        self.stop = Stop("kim", "a test", self.clock.now()) if stopped else None

    def clear(self) -> None:
        super().__init__()
        self.steps.clear()
        self.asked.clear()

    def forget(self, run_id: str) -> None:
        """The process died before these rows were written: those of the last visit, since the last
        decision, which is a row of its own. A visit begins when the rows of the one before are
        written."""
        rows = self.steps[run_id]
        decided = max((review.seq for review in self.asked.get(run_id, [])), default=-2)
        ended = [place for place, row in enumerate(rows[:-1]) if row.name == STAGE]
        del rows[max(decided + 2, *(place + 1 for place in ended), 0) :]


@dataclass
class StoreHouse:
    """A real store, worked by the engine's own worker."""

    store: Store
    clock: TestClock
    model: Process

    def __post_init__(self) -> None:
        self._worker = Worker(self.store, {"flow": flow_of(self.model)}, self.clock)

    async def work(self, message: Message, run_id: str | None) -> tuple[str, Review | None]:
        run_id = run_id or (await self.store.accept(message, flow="flow")).run_id
        await self._worker.work(run_id)
        waiting = await self.store.find_reviews(ReviewFilter(run_id=run_id, state=ReviewState.OPEN))
        calls = [review for review in waiting if review.kind is not ReviewKind.HAND_OVER]
        return run_id, calls[0] if calls else None

    async def decide(self, review: Review, verdict: Verdict) -> Review | None:
        decided = await self.store.decide(
            review.id,
            Verdict(
                verdict.decision, verdict.by, review.version, review.payload_hash, edit=verdict.edit
            ),
        )
        if decided.state is ReviewState.OPEN and verdict.signed_by is not None:
            decided = await self.store.decide(
                review.id,
                Verdict(verdict.decision, verdict.signed_by, decided.version, decided.payload_hash),
            )
        return None if decided.state is ReviewState.OPEN else decided

    async def switch(self, stopped: bool) -> None:
        await (self.store.stop("kim", "a test") if stopped else self.store.resume("kim"))
