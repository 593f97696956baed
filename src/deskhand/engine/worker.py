"""Working one run: claim it, carry it through its flow, put down where it came to rest."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from deskhand.config.sections.expiry import ExpirySpec
from deskhand.crashpoints import crash_point
from deskhand.engine.adoption import adoption, answering_also
from deskhand.engine.context import RunContext
from deskhand.engine.decisions import REVISABLE
from deskhand.engine.follow_up import ANSWER_WITHIN, follow_up, kept_open
from deskhand.engine.loop import End, Flow, run_flow
from deskhand.engine.manual_reply import answer_in, newest_answer
from deskhand.engine.review_causes import causes_of, facts_of
from deskhand.errors import DeskhandError, Fenced, PermanentError, StoreUnavailable
from deskhand.model.causes import Cause
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Envelope, ErrorNote, StageResult
from deskhand.model.message import Message
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import (
    BEFORE_ALL_STEPS,
    EXPIRY,
    REASONS,
    REASSIGN_TO,
    Claimed,
    Decision,
    NewReview,
    Review,
    ReviewKind,
    Run,
    RunStatus,
    StepRow,
)
from deskhand.ports import Clock, Store

log = logging.getLogger("deskhand.work")

MAX_CRASHES = 5
_FOR_PEOPLE = (RunStatus.WAITING_REVIEW, RunStatus.NEEDS_REVIEW, RunStatus.FAILED)
"""Where a run rests that leaves something for people to look at."""

Screening = Callable[[Message], Awaitable[End | None]]
"""Where the run of a message ends that no flow is to work; None for any other."""
BeforeRest = Callable[[Envelope, RunStatus], Awaitable[None]]
"""Told of every run that a flow carried to rest, before that is written; after a crash perhaps
once more."""
Recall = Callable[[Run, Message], Awaitable[Mapping[str, Any]]]
"""What a run knows of its conversation from the beginning; nothing where there is nothing to
know."""
AtRest = Callable[[str, RunStatus], None]
"""Told of every run that came to rest here, once that is durable."""


class Worker:
    """Works runs of one desk; dispatchers decide which and when."""

    def __init__(
        self,
        store: Store,
        flows: Mapping[str, Flow],
        clock: Clock,
        *,
        screen: Screening | None = None,
        recall: Recall | None = None,
        before_rest: BeforeRest | None = None,
        at_rest: AtRest | None = None,
        expiry: ExpirySpec | None = None,
        manual_reply: Flow | None = None,
        answer_within: float = ANSWER_WITHIN,
        revisable: Callable[[str], bool] = lambda stage: True,
    ) -> None:
        """`expiry` is what becomes of reviews that nobody decides; without it they wait for ever.

        `manual_reply` is the flow that sends a reply written by a person. `answer_within` is how
        many seconds people have to answer a message that was only acknowledged. `revisable` says
        of a stage whether it can draft again by a reviewer's instruction.
        """
        self._store = store
        self._flows = flows
        self._clock = clock
        self._screen = screen
        self._recall = recall
        self._before_rest = before_rest
        self._at_rest = at_rest
        self._expiry = expiry
        self._manual_reply = manual_reply
        self._answer_within = answer_within
        self._revisable = revisable
        self._versions = {name: flow.spec.version for name, flow in flows.items()}

    @property
    def flows(self) -> Mapping[str, Flow]:
        return self._flows

    async def work(self, run_id: str) -> RunStatus | None:
        """The status the run came to rest in; None when it was not ours to work.

        `queued` where it waits for a model, and is to be worked again when its time has come.
        """
        claimed = await self._store.claim(run_id, self._versions)
        if claimed is None:
            return None
        crash_point("dispatch.after_claim")
        ctx: RunContext | None = None
        stored = _StoredMessage(claimed.message)
        try:
            answer = await self._answered(claimed)
            refused = await self._refuse(claimed, stored, answer)
            if refused is not None:
                end = refused
            else:
                ctx = await self._context(claimed, stored)
                carried = await (
                    self._carry(claimed, ctx) if answer is None else self._answer(answer, ctx)
                )
                end = kept_open(carried, ctx.envelope)
            review = self._review(end, ctx)
        except (Fenced, StoreUnavailable):
            raise
        except Exception as error:
            # a fault of ours or of a desk's code: the run shows it, everything else goes on
            end = _broken(error)
            review = self._review(end, ctx)
        waits = end.status is RunStatus.QUEUED
        if ctx is not None and not waits:
            await self._tell(ctx.envelope, end.status)
        crash_point("dispatch.before_finish")
        if ctx is None:
            await self._finish(run_id, end, review)
        else:
            await ctx.rest(partial(self._finish, run_id, end, review))
        crash_point("dispatch.after_finish")
        if self._at_rest is not None and not waits:
            self._at_rest(run_id, end.status)
        return end.status

    async def _tell(self, envelope: Envelope, status: RunStatus) -> None:
        try:
            if self._before_rest is not None:
                await self._before_rest(envelope, status)
        except (Fenced, StoreUnavailable):
            raise
        except Exception:
            log.exception("run %s: what became of it could not be noted", envelope.run_id)

    async def _answered(self, claimed: Claimed) -> Review | None:
        """What a person wrote to this run's message; a run that is new has no such thing."""
        run = claimed.run
        if self._manual_reply is None or (run.flow_version is None and run.flow in self._flows):
            return None
        return await newest_answer(self._store, run.id)

    async def _answer(self, answer: Review, ctx: RunContext) -> End:
        assert self._manual_reply is not None
        await ctx.answer(answer, lambda envelope: answer_in(answer, envelope))
        return await run_flow(self._manual_reply, ctx)

    async def _refuse(
        self, claimed: Claimed, stored: "_StoredMessage", answer: Review | None
    ) -> End | None:
        run = claimed.run
        if run.crashes >= MAX_CRASHES:
            words = (
                f"the process died {run.crashes} times while working this run; look at it before"
                " retrying"
            )
            return _refusal(RunStatus.FAILED, ErrorCode.CRASHED_REPEATEDLY, words)
        if claimed.message is None:
            return End(RunStatus.CANCELLED, "the message was erased")
        if answer is not None:
            return None  # neither the flow nor who else looks after the conversation matters to it
        if claimed.taken_over_by is not None and not await self._sent_on_by_a_person(claimed):
            words = f"{claimed.taken_over_by} has taken this conversation over"
            return _refusal(RunStatus.NEEDS_REVIEW, ErrorCode.TAKEN_OVER, words)
        if self._screen is not None and not await self._sent_on_by_a_person(claimed):
            screened = await self._screen(stored.message)
            if screened is not None:
                return screened
        if run.flow not in self._flows:
            words = f"the desk has no flow {run.flow!r} any more; put it back or close the run"
            return _refusal(RunStatus.NEEDS_REVIEW, ErrorCode.FLOW_CHANGED, words)
        return None

    async def _sent_on_by_a_person(self, claimed: Claimed) -> bool:
        """What a colleague decided goes on also in a conversation that somebody has taken over."""
        if claimed.run.flow_version is None:
            return False
        reviews = await self._store.find_reviews(ReviewFilter(run_id=claimed.run.id))
        return any(review.decision and review.decided_by != EXPIRY for review in reviews)

    async def _context(self, claimed: Claimed, stored: "_StoredMessage") -> RunContext:
        run = claimed.run
        continued = run.flow_version is not None
        return RunContext(
            Envelope.of(stored.message, run_id=run.id),
            claimed.message_digest,
            self._store,
            self._clock,
            flow_version=self._versions.get(run.flow) or run.flow_version or "",
            rows=await self._store.rows(run.id) if continued else (),
            continued=continued,
        )

    async def _carry(self, claimed: Claimed, ctx: RunContext) -> End:
        run = claimed.run
        inherits = claimed.customer_waited_for or claimed.supersedes or run.flow_version is not None
        start = None
        if inherits or self._recall is not None:
            start = await ctx.adopt(lambda: self._beginning(run, ctx.envelope, inherits))
        return await run_flow(self._flows[run.flow], ctx, start=start)

    async def _beginning(self, run: Run, envelope: Envelope, inherits: bool) -> StageResult | None:
        """What a run has before its first stage: what earlier runs left, and what it recalls."""
        left = await self._inheritance(run, envelope) if inherits else None
        message = envelope.message
        if self._recall is None or message is None:
            return left
        recalled = await self._recall(run, message)
        if not recalled:
            return left
        left = left or StageResult()
        return left.changed(delta=left.delta.changed(metadata={**left.delta.metadata, **recalled}))

    async def _inheritance(self, run: Run, envelope: Envelope) -> StageResult | None:
        """What earlier runs leave to this one: a question it answers, messages it answers too."""
        parked = await self._store.adopt(run.id, run.conversation, run.position)
        adopted = None if parked is None else await adoption(self._store, parked)
        earlier = await self._store.superseded(run.id, run.conversation)
        return answering_also(adopted, earlier, envelope)

    async def _finish(
        self, run_id: str, end: End, review: NewReview | None, rows: Sequence[StepRow] = ()
    ) -> None:
        await self._store.finish(
            run_id,
            end.status,
            reason=end.reason,
            error_code=end.error.code if end.error else None,
            review=review,
            rows=rows,
            due_at=end.due_at,
            waits_for=end.waits_for,
        )

    def _review(self, end: End, ctx: RunContext | None) -> NewReview | None:
        if end.status not in _FOR_PEOPLE:
            return None
        seq = BEFORE_ALL_STEPS if ctx is None else ctx.last_seq
        causes = causes_of(end)
        facts = facts_of(None if ctx is None else ctx.envelope)
        if ctx is not None and end.ask is not None and end.ask.kind == ReviewKind.FOLLOW_UP:
            due = self._clock.now() + self._answer_within
            return follow_up(end, ctx.envelope, seq, facts, due)
        if end.status is RunStatus.WAITING_REVIEW and end.ask is not None:
            ask = end.ask
            kind = ReviewKind(end.ask.kind)
            if kind is ReviewKind.REPLY and ctx is not None:
                facts[REVISABLE] = end.resume is not None and self._revisable(end.resume)
            facts |= {REASONS: ask.words} if ask.words else {}
            fallback = Decision(ask.fallback) if ask.fallback else None
            asked = NewReview(kind, ask.reason, ask.payload, seq, None, fallback, causes, facts)
            if ask.expires_in is None:
                return self._limited(asked)
            expires = self._clock.now() + ask.expires_in
            facts |= {} if ask.reassign_to is None else {REASSIGN_TO: ask.reassign_to}
            return replace(asked, expires_at=expires, facts=facts)
        if end.status in (RunStatus.NEEDS_REVIEW, RunStatus.FAILED):
            error = end.error.model_dump(mode="json") if end.error else None
            words = end.reason or end.status
            payload: dict[str, Any] = {"error": error}
            payload |= {"sent_before": end.sent_before} if end.sent_before else {}
            handed = NewReview(
                ReviewKind.HAND_OVER, words, payload, seq, causes=causes, facts=facts
            )
            return handed if Cause.EXPIRED in causes else self._limited(handed)
        return None

    def _limited(self, review: NewReview) -> NewReview:
        """The review with the desk's expiry and fallback, where its stage named none."""
        fallback = (
            None if self._expiry is None else review.fallback or self._expiry.fallback(review.kind)
        )
        if self._expiry is None or fallback is None:
            return review
        facts = review.facts | ({REASSIGN_TO: self._expiry.to} if self._expiry.to else {})
        return replace(
            review,
            expires_at=self._clock.now() + self._expiry.after,
            fallback=fallback,
            facts=facts,
        )


def _refusal(status: RunStatus, code: ErrorCode, words: str) -> End:
    return End(status, words, ErrorNote(stage="", code=code, message=words))


class _StoredMessage:
    """A claimed run's message, read when it is first asked for."""

    def __init__(self, body: bytes | None) -> None:
        self._body = body or b""

    @cached_property
    def message(self) -> Message:
        """PermanentError, without quoting it, when it cannot be read."""
        try:
            return Message.model_validate_json(self._body)
        except ValueError:
            words = "the stored message cannot be read by this version"
            raise PermanentError(words, ErrorCode.MESSAGE_UNREADABLE) from None


def _broken(error: Exception) -> End:
    code = error.code if isinstance(error, DeskhandError) else ErrorCode.INTERNAL
    words = f"{type(error).__name__}: {error}"[:2000].encode(errors="replace").decode()
    return End(RunStatus.NEEDS_REVIEW, words, ErrorNote(stage="", code=code, message=words))
