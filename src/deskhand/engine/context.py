"""A run's context, the only way to make a row: replays what is recorded, records what is not."""

import time
from asyncio import CancelledError, Future, Task, create_task, get_running_loop
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence

from deskhand.crashpoints import crash_point
from deskhand.engine.decided import after_decision, verdict_of
from deskhand.engine.journal import (
    ADOPTION,
    DECISION,
    ends_pass,
    make_row,
    result_of,
    seed,
    storing_problem,
)
from deskhand.engine.patience import ModelWait, Patience
from deskhand.engine.verdicts import Verdicts
from deskhand.errors import Fenced, ModelAway, PermanentError, StoreUnavailable
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Envelope, StageResult
from deskhand.model.message import REPLY
from deskhand.model.principal import ANONYMOUS, Principal
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import (
    Decision,
    EffectKey,
    Review,
    ReviewState,
    StepRow,
    Verdict,
)
from deskhand.ports import Clock, Held, Stepped, StepWork, Store, Work
from deskhand.time_limits import TimeLimit

WRITE_TRIES = 6


class RunContext:
    """Replays a run's rows in order, then goes on where they end."""

    def __init__(
        self,
        envelope: Envelope,
        message_digest: bytes,
        store: Store,
        clock: Clock,
        *,
        flow_version: str,
        rows: Iterable[StepRow] = (),
        continued: bool = False,
    ) -> None:
        self.run_id = envelope.run_id
        self.envelope = envelope
        self.principal: Principal = (
            envelope.message.principal if envelope.message is not None else ANONYMOUS
        )
        self.visits: Counter[str] = Counter()
        self._store = store
        self._clock = clock
        self._version = flow_version
        self._pending = deque(rows)
        self._continued = continued or bool(self._pending)
        self._head = seed(envelope.run_id, message_digest)
        self._seq = 0
        self._visit: tuple[str, int] = ("", 0)
        self._done: dict[str, StageResult] = {}
        self._verdicts = Verdicts()
        self._tried = 1
        self._model_wait = ModelWait()
        self.goes_on_without_model = False
        self._writing: Task[None] | None = None
        """A step's row on its way to the store."""
        self._noted: list[StepRow] = []
        """Rows that are written together with the next one."""

    # --- what the loop uses

    @property
    def entry(self) -> str | None:
        """Where a recorded run began (the flow's start may have been edited since)."""
        return self._pending[0].name.partition("/")[0] if self._pending else None

    @property
    def last_seq(self) -> int:
        return self._seq - 1

    async def stage(self, name: str, work: Work, patience: Patience) -> StageResult:
        """One visit of a stage: its recorded result, or as many attempts as patience allows."""
        if self._visit[0] != name:
            self._visit = (name, self._seq)
            self._done = {}
        attempts, result = self._recorded(name)
        if result is not None and result.retry_at is None:
            return self._leave(name, result)

        while result is None or result.retry_at is not None:
            if result is not None and result.retry_at is not None and not result.waits_for:
                wait = min(result.retry_at - self._clock.now(), patience.timeout)
                await self._clock.sleep(max(0.0, wait))
            attempts += 1
            self._tried = attempts
            result = await self._attempt(name, work, patience)
            if result.waits_for is not None:
                return result
        return self._leave(name, result)

    def _recorded(self, name: str) -> tuple[int, StageResult | None]:
        """How many attempts of this visit have failed, and how the last one ended.

        Waiting for a model counts as no attempt.
        """
        attempts = 0
        result: StageResult | None = None
        while self._pending:
            row = self._pending[0]
            recorded = self._replay_of(name)
            if row.name != name:
                self._done[row.name] = recorded
                continue
            result = recorded
            if recorded.retry_at is None:
                break
            if recorded.waits_for is None:
                attempts = row.attempt
            else:
                self._model_wait.note(row)
        return attempts, result

    def _replay_of(self, stage: str) -> StageResult:
        """Replay the next row; PermanentError when it belongs to another stage."""
        row = self._pending[0]
        if row.name != stage and not row.name.startswith(f"{stage}/"):
            raise PermanentError(
                f"step {row.seq} was recorded as {row.name!r}, but the flow now asks for {stage!r}",
                ErrorCode.FLOW_CHANGED,
            )
        return self._replay()

    async def decision(self, stage: str, asked: StageResult) -> StageResult | None:
        """What a person decided about the question the last step asked; None while nobody has."""
        if self._pending:
            result = self._replay()
            self._verdicts.note(asked, None, self.envelope)
            return self._decided_on(result)
        review = await self._decided() if self._continued else None
        if review is None:
            return None
        result = after_decision(stage, asked, review, self.envelope)
        await self._record(DECISION, result)
        self._verdicts.note(asked, review, self.envelope)
        return self._decided_on(result)

    async def answer(self, review: Review, written: Callable[[Envelope], StageResult]) -> None:
        """Leave the flow where it stopped, because a person has written the reply."""
        while self._pending:
            row = self._pending[0]
            result = self._replay()
            if (
                row.name == DECISION
                and (result.delta.metadata.get("decision") or {}).get("review") == review.id
            ):
                break
        else:
            await self._record(DECISION, written(self.envelope))
        self._verdicts.approve_reply(self.envelope.output(REPLY), verdict_of(review))

    async def adopt(self, find: Callable[[], Awaitable[StageResult | None]]) -> str | None:
        """The stage to go on at, where an earlier run stopped to ask the customer."""
        if self._pending:
            return self._replay().next if self._pending[0].name == ADOPTION else None
        adopted = await find()
        if adopted is None:
            return None
        await self._record(ADOPTION, adopted)
        return adopted.next

    async def rest(self, finish: Callable[[Sequence[StepRow]], Awaitable[None]]) -> None:
        """End or park the run, together with the rows that are not written yet."""
        await self._insist(finish)

    # --- what stages use

    def now(self) -> float:
        """The time, by the clock that rows are dated with."""
        return self._clock.now()

    async def step(
        self, name: str, work: StepWork[Stepped], *, at_once: bool = True
    ) -> Stepped | StageResult:
        """A durable part of the current stage; `name` is unique within it.

        Work that ends in a held call did not happen: it is handed back and not recorded.
        """
        await self._written()
        full = f"{self._visit[0]}/{name}"
        recorded = self._done.get(full)
        if recorded is not None:
            return recorded
        started_at = self._clock.now()
        begun = time.perf_counter()
        made = await work()
        if isinstance(made, Held):
            return made
        row, result = self._row(full, made, started_at=started_at, latency_ms=_ms(begun))
        if not at_once:
            return self._keep_later(row, result)
        kept: Future[None] = get_running_loop().create_future()
        self._writing = create_task(self._keep_step(row, result, kept))
        try:
            await kept
        except CancelledError:
            self._writing.add_done_callback(_seen)
            raise
        self._writing.result()
        return result

    def note(self, name: str, result: StageResult, latency_ms: float = 0.0) -> StageResult:
        """A part of the stage whose row is written with the next one; a crash may lose it."""
        full = f"{self._visit[0]}/{name}"
        recorded = self._done.get(full)
        if recorded is not None:
            return recorded
        return self._keep_later(
            *self._row(full, result, started_at=self._clock.now(), latency_ms=round(latency_ms, 3))
        )

    def effect_key(self, index: int = 0) -> EffectKey:
        """The same for every attempt at, and resumption of, this visit of the stage."""
        return EffectKey(self.run_id, self._visit[1], index)

    def approval(self, call_hash: str, key: EffectKey) -> Verdict | None:
        """What a person decided about a call; an approved reply counts for the first key only."""
        return self._verdicts.find(call_hash, key)

    # --- inside

    async def _attempt(self, name: str, work: Work, patience: Patience) -> StageResult:
        crash_point("loop.before_work")
        started_at = self._clock.now()
        begun = time.perf_counter()
        limit = TimeLimit(patience.timeout)
        is_over = self._model_wait.is_over(patience.away, self._seq, started_at)
        self.goes_on_without_model = is_over and patience.away.then == "embedded"
        try:
            with limit:
                made = await work()
            row, result = self._row(name, made, started_at=started_at, latency_ms=_ms(begun))
        except (Fenced, StoreUnavailable):
            raise
        except Exception as error:
            await self._written()
            fault = patience.too_late() if limit.is_over else error
            failure, has_row = self._failure(name, fault, patience, started_at)
            if not has_row:
                return failure
            row, result = self._row(name, failure, started_at=started_at, latency_ms=_ms(begun))
        crash_point("loop.after_work")
        if result.waits_for is not None:
            self._model_wait.note(row)
        if ends_pass(result):
            self._noted.append(row)
            self._advance(row, result)
        else:
            await self._keep(row, result)
        crash_point("loop.after_row")
        return result

    def _failure(
        self, name: str, error: Exception, patience: Patience, started_at: float
    ) -> tuple[StageResult, bool]:
        """What a failed attempt becomes, and whether it needs a row: a model that was not asked
        again leaves none."""
        now = self._clock.now()
        if not isinstance(error, ModelAway):
            return patience.after_failure(name, error, tried=self._tried, now=now), True
        since = self._model_wait.since(self._seq)
        begun = started_at if since is None else since
        waits = patience.while_away(name, error, since=begun, now=now)
        return waits, since is None or error.asked or waits.waits_for is None

    def _leave(self, name: str, result: StageResult) -> StageResult:
        if not result.asks_a_person:
            self.visits[name] += 1
            self._visit = ("", 0)
            self._done = {}
        return result

    def _replay(self) -> StageResult:
        row = self._pending.popleft()
        result = result_of(row)
        self.envelope = self.envelope.apply(result.delta)
        self._seq = row.seq + 1
        self._head = row.chain
        return result

    async def _record(self, name: str, result: StageResult) -> None:
        """A row of the engine's own, beside those of stages."""
        await self._keep(*self._row(name, result, started_at=self._clock.now(), latency_ms=0.0))

    def _row(
        self, name: str, result: StageResult, *, started_at: float, latency_ms: float
    ) -> tuple[StepRow, StageResult]:
        """The row, and its result as a resumed run would read it back."""
        try:
            row = make_row(
                self.run_id,
                self._seq,
                name,
                result,
                attempt=self._tried,
                flow_version=self._version,
                started_at=started_at,
                latency_ms=latency_ms,
                previous=self._head,
            )
            return row, result_of(row)
        except ValueError as error:
            # not JSON, half a character, nested too deeply, a number of 5,000 digits
            raise PermanentError(
                f"the result of {name!r} cannot be stored: {storing_problem(error)}"
            ) from None

    async def _keep(self, row: StepRow, result: StageResult) -> None:
        await self._append(row)
        self._advance(row, result)

    def _advance(self, row: StepRow, result: StageResult) -> None:
        self.envelope = self.envelope.apply(result.delta)
        self._seq += 1
        self._head = row.chain

    def _keep_later(self, row: StepRow, result: StageResult) -> StageResult:
        self._noted.append(row)
        self._advance(row, result)
        self._done[row.name] = result
        return result

    async def _keep_step(self, row: StepRow, result: StageResult, kept: "Future[None]") -> None:
        """Write a step's row in a task of its own, which a stage's timeout does not cancel."""
        try:
            await self._keep(row, result)
            self._done[row.name] = result
        finally:
            if not kept.done():
                kept.set_result(None)

    async def _written(self) -> None:
        """Wait for a row that was under way when the stage's time was up."""
        if self._writing is not None and not self._writing.done():
            await self._writing

    async def _append(self, row: StepRow) -> None:
        """Write the row; rather than repeat the work, wait a while for a database that is away."""
        await self._insist(lambda rows: self._store.append(*rows, row))

    async def _insist(self, write: Callable[[Sequence[StepRow]], Awaitable[None]]) -> None:
        for tried in range(1, WRITE_TRIES + 1):
            try:
                await write(self._noted)
                self._noted.clear()
                return
            except StoreUnavailable:
                if tried == WRITE_TRIES:
                    raise
                await self._clock.sleep(0.1 * 2**tried)

    def _decided_on(self, result: StageResult) -> StageResult:
        if self.envelope.metadata["decision"]["decision"] == Decision.RETRY:
            self.visits.clear()
        return result

    async def _decided(self) -> Review | None:
        closed = (ReviewState.DECIDED, ReviewState.EXPIRED)
        after: tuple[float, str] | None = None
        while reviews := await self._store.find_reviews(
            ReviewFilter(run_id=self.run_id), after=after
        ):
            for review in reviews:
                if review.seq == self.last_seq and review.state in closed:
                    return review
            after = (reviews[-1].created_at, reviews[-1].id)
        return None


def _ms(begun: float) -> float:
    return round((time.perf_counter() - begun) * 1000, 3)


def _seen(writing: "Task[None]") -> None:
    """Mark the exception as seen: after a cancellation nobody waits for it."""
    if not writing.cancelled():
        writing.exception()
