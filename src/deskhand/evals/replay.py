"""Works recorded conversations through a desk once more and says what comes out differently.

What people and models said is taken from the record; the rest is done again.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from deskhand.engine.loop import End, Process
from deskhand.engine.story import Document, read_records, story_of
from deskhand.engine.worker import Screening
from deskhand.errors import Conflict, NotFound
from deskhand.evals.comparison import differences, facts_of
from deskhand.evals.lane import Around, EarnedModes, Lane, LaneClock, SentLately, side_by_side
from deskhand.evals.recorded_chat import RecordedChat
from deskhand.evals.recorded_runs import MomentKind, RecordedConversation, RecordedRun, RunMoment
from deskhand.evals.recorded_stages import RecordedStages
from deskhand.evals.recorded_tools import RecordedTools
from deskhand.evals.sealed import sealed
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Envelope, ErrorNote, StageResult
from deskhand.model.ids import new_id
from deskhand.model.message import Message
from deskhand.model.queue import ReviewFilter
from deskhand.model.results import ToolResult
from deskhand.model.run import Review, ReviewKind, ReviewState, RunStatus, Verdict
from deskhand.ports import Clock, StageContext
from deskhand.tools.gate import StandIn


class ReplaySandbox(Protocol):
    """A sandboxed desk."""

    @property
    def rules_by_totals(self) -> frozenset[str]: ...

    def lane(
        self,
        clock: Clock,
        stand_in: StandIn | None = None,
        *,
        ids: Callable[[str], str] = ...,
        around: Around | None = None,
        sent_lately: SentLately | None = None,
        screened: Screening | None = None,
        earned: EarnedModes | None = None,
    ) -> Lane: ...


@dataclass(slots=True)
class Replayed:
    """What came out of a replay."""

    runs: list[Document] = field(default_factory=list)
    """The runs asked for, each `identical`, `changed` or `unknown` (an answer is missing)."""
    skipped: list[Document] = field(default_factory=list)
    decisions: int = 0
    decisions_left_out: int = 0
    tool_results: int = 0
    tool_results_missing: int = 0


async def replay_conversations(
    conversations: Sequence[RecordedConversation],
    desk: ReplaySandbox,
    chat: RecordedChat,
    *,
    parallel: int = 16,
    done: Callable[[int], None] | None = None,
) -> Replayed:
    """Replays each conversation in a lane of its own, `parallel` of them at once.

    Calls `done` after each with the number of its runs.
    """
    replayed = Replayed()

    async def replay(conversation: RecordedConversation) -> list[Document]:
        documents = await _Replay(conversation, desk, chat, replayed).play()
        if done is not None:
            done(len(conversation.runs))
        return documents

    for documents in await side_by_side(conversations, replay, parallel):
        replayed.runs += documents
    return replayed


class _Replay:
    """One conversation's way through the sandbox."""

    def __init__(
        self,
        conversation: RecordedConversation,
        desk: ReplaySandbox,
        chat: RecordedChat,
        replayed: Replayed,
    ) -> None:
        self._conversation = conversation
        self._chat = chat
        self._replayed = replayed
        self._by_totals = desk.rules_by_totals
        self._clock = LaneClock(conversation.runs[0].run.created_at)
        self._lane = desk.lane(
            self._clock,
            self._stand_in,
            ids=self._id,
            around=self._around,
            sent_lately=self._sent_lately,
            screened=self._screened,
            earned=self,
        )
        self._accepting: RecordedRun | None = None
        self._tools: dict[str, RecordedTools] = {}
        self._stages: dict[str, RecordedStages] = {}
        self._reviews: dict[str, list[str]] = {}
        self._working: RecordedRun | None = None

    async def play(self) -> list[Document]:
        for run in self._conversation.runs:
            waited = any(state.result.waits_for for state in run.states)
            self._chat.load(run.run.id, run.calls, waited=waited)
            self._tools[run.run.id] = RecordedTools(run.states, self._by_totals)
            self._stages[run.run.id] = RecordedStages(run.states)
            self._reviews[run.run.id] = [review.id for review in run.records.reviews]
        for moment in self._conversation.moments():
            self._clock.at = moment.at
            await self._happen(moment)
        documents = [
            await self._compared(run) for run in self._conversation.runs if self._is_asked(run)
        ]
        for tools in self._tools.values():
            self._replayed.tool_results += tools.used
            self._replayed.tool_results_missing += tools.missing
        return documents

    def _is_asked(self, run: RecordedRun) -> bool:
        if run.run.id not in self._conversation.asked:
            return False
        if run.why_not is not None:
            self._replayed.skipped.append({"run": run.run.id, "why": run.why_not})
        return run.why_not is None

    async def _happen(self, moment: RunMoment) -> None:
        if moment.run is None:
            await self._happen_to_conversation(moment)
        elif moment.review is not None:
            await self._happen_to_review(moment, moment.run, moment.review)
        else:
            await self._happen_to_run(moment, moment.run)

    async def _happen_to_run(self, moment: RunMoment, run: RecordedRun) -> None:
        store = self._lane.store
        match moment.kind:
            case MomentKind.ACCEPTED if run.records.message is not None:
                self._accepting = run
                await self._lane.accept(run.records.message, agents=run.agents)
            case MomentKind.WORKED:
                self._clock.at = moment.begins_at
                self._working = run
                with sealed():
                    await self._lane.work(run.run.id)
            case MomentKind.CANCELLED:
                await self._unless_in_conflict(store.cancel(run.run.id, moment.by))
            case MomentKind.ANSWERED:
                await store.answered_by_person(self._conversation.id, moment.by, silence=False)
            case _:
                raise AssertionError(moment)

    async def _happen_to_review(self, moment: RunMoment, run: RecordedRun, review: Review) -> None:
        store = self._lane.store
        match moment.kind:
            case MomentKind.DECIDED:
                await self._decide(run, review)
            case MomentKind.EXPIRED:
                await store.expire_reviews(moment.at)
            case MomentKind.HELD_BACK:
                await self._unless_in_conflict(store.hold_back(review.id, moment.by))
            case _:
                raise AssertionError(moment)

    async def _happen_to_conversation(self, moment: RunMoment) -> None:
        match moment.kind:
            case MomentKind.TAKEN_OVER:
                await self._lane.store.take_over(self._conversation.id, moment.by)
            case MomentKind.GIVEN_BACK:
                await self._lane.store.give_back(self._conversation.id, moment.by)
            case _:
                raise AssertionError(moment)

    async def _decide(self, run: RecordedRun, recorded: Review) -> None:
        """Decides as a person did, where the question is still the same."""
        store = self._lane.store
        reviews = await store.find_reviews(ReviewFilter(run_id=run.run.id))
        waiting = [review for review in reviews if review.state is ReviewState.OPEN]
        same = waiting and _question(waiting[-1]) == _question(recorded)
        if not same or recorded.decision is None:
            self._replayed.decisions_left_out += 1
            return
        if recorded.kind is ReviewKind.STOPPED:
            # which lets go what a stopped desk held
            await store.expire_reviews(self._clock.at)
            return
        review = waiting[-1]
        verdict = Verdict(
            recorded.decision,
            recorded.decided_by or "",
            review.version,
            review.payload_hash,
            recorded.note,
            recorded.edit,
        )
        if recorded.signed_by is not None:
            signature = replace(verdict, by=recorded.signed_by)
            await self._unless_in_conflict(store.decide(review.id, signature))
            verdict = replace(verdict, version=review.version + 1)
        await self._unless_in_conflict(store.decide(review.id, verdict))

    async def _unless_in_conflict(self, doing: Awaitable[Any]) -> None:
        try:
            await doing
            self._replayed.decisions += 1
        except (Conflict, NotFound):
            self._replayed.decisions_left_out += 1

    async def _compared(self, run: RecordedRun) -> Document:
        run_id = run.run.id
        tally = self._chat.tally
        records = await read_records(self._lane.store, run_id)
        changes = differences(facts_of(run.story), facts_of(story_of(records)))
        missing = tally.missing(run_id)
        divergences = tally.divergences.get(run_id, {}).values()
        return {
            "run": run_id,
            "conversation": run.run.conversation,
            "message": run.story["message"],
            "verdict": _verdict(changes, missing),
            "not_recorded": missing,
            "apart": [each.document(run.states, records.states) for each in divergences],
            "changes": changes,
        }

    # --- what the lane asks for

    def _id(self, kind: str) -> str:
        """The recorded id where there is one: prompts may quote it."""
        if kind == "run" and self._accepting is not None:
            return self._accepting.run.id
        if kind == "rev" and self._working is not None:
            recorded = self._reviews.get(self._working.run.id)
            if recorded:
                return recorded.pop(0)
        return new_id(kind)

    async def _screened(self, message: Message) -> End | None:
        """Ends the run of a bounce as the record says: a sandbox has no delivery to match it to."""
        bounced = self._working.bounced if self._working is not None else None
        if bounced is None:
            return None
        note = ErrorNote(stage="", code=ErrorCode.REPLY_BOUNCED, message=bounced)
        return End(RunStatus.NEEDS_REVIEW, bounced, note)

    def mode(self) -> str | None:
        return None if self._working is None else self._stages[self._working.run.id].mode()

    async def checks(self, run_id: str, category: str | None) -> bool:
        return self._working is not None and self._stages[self._working.run.id].was_spot_check()

    def _sent_lately(self, run_id: str, since: float) -> int:
        others = [run for run in self._conversation.runs if run.run.id != run_id]
        return sum(since <= at <= self._clock.at for run in others for at in run.sent_at)

    def _stand_in(
        self, ctx: StageContext, tool: str, arguments: dict[str, Any]
    ) -> ToolResult | None:
        return self._tools[ctx.run_id].result(tool, arguments, self._stages[ctx.run_id].attempt)

    def _around(self, stage: str, work: Process) -> Process:
        async def again(envelope: Envelope, ctx: StageContext) -> StageResult:
            return await self._stages[ctx.run_id].again(stage, work, envelope, ctx, self._clock)

        return again


def _verdict(changes: Sequence[Document], missing: int) -> str:
    if not changes:
        return "identical"
    return "unknown" if missing else "changed"


def _question(review: Review) -> Document:
    """What a person is asked: a hand-over by its error's code, a call without its key."""
    if review.kind is ReviewKind.HAND_OVER:
        error = review.payload.get("error")
        code = error.get("code") if isinstance(error, dict) else None
        return {"kind": review.kind, "error": code}
    payload = {
        key: value for key, value in review.payload.items() if key not in ("effect_key", "rule")
    }
    return {"kind": review.kind, **payload}
