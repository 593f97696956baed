"""Recorded conversations through a desk once more: what people and models said is taken from the
record, the rest is done again, and what comes out differently is told."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from deskhand.engine.loop import End, Process
from deskhand.engine.story import Document, read_records, story_of
from deskhand.engine.worker import Screening
from deskhand.errors import Conflict, NotFound
from deskhand.evals.clocks import OwnTime
from deskhand.evals.differences import differences
from deskhand.evals.facts import facts_of
from deskhand.evals.lane import Around, EarnedModes, Lane, SentLately
from deskhand.evals.recorded_chat import RecordedChat
from deskhand.evals.recorded_modes import recorded_mode, was_checked
from deskhand.evals.recorded_runs import Happened, Moment, RecordedConversation, RecordedRun
from deskhand.evals.recorded_stages import RecordedStages
from deskhand.evals.recorded_tools import RecordedTools
from deskhand.evals.sealed import sealed
from deskhand.evals.side_by_side import side_by_side
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Envelope, ErrorNote, StageResult
from deskhand.model.ids import new_id
from deskhand.model.message import Message
from deskhand.model.queue import ReviewFilter
from deskhand.model.results import ToolResult
from deskhand.model.run import Review, ReviewKind, ReviewState, RunStatus, Verdict
from deskhand.ports import Clock, StageContext
from deskhand.tools.gate import StandIn


class OpensLanes(Protocol):
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
    """What a replay found."""

    runs: list[Document] = field(default_factory=list)
    """The runs asked for: `identical`, `changed`, `unknown` (an answer was missing), with the
    changes side by side."""
    skipped: list[Document] = field(default_factory=list)
    decisions: int = 0
    decisions_left_out: int = 0
    tool_results: int = 0
    tool_results_missing: int = 0


async def replay_conversations(
    conversations: Sequence[RecordedConversation],
    desk: OpensLanes,
    chat: RecordedChat,
    *,
    parallel: int = 16,
    done: Callable[[int], None] | None = None,
) -> Replayed:
    """Every conversation in a lane of its own, `parallel` side by side; `done` is told how many
    runs were replayed."""
    found = Replayed()

    async def one(conversation: RecordedConversation) -> list[Document]:
        documents = await _Replay(conversation, desk, chat, found).play()
        if done is not None:
            done(len(conversation.runs))
        return documents

    for documents in await side_by_side(conversations, one, parallel):
        found.runs += documents
    return found


class _Replay:
    """One conversation's way through the sandbox."""

    def __init__(
        self,
        conversation: RecordedConversation,
        desk: OpensLanes,
        chat: RecordedChat,
        found: Replayed,
    ) -> None:
        self._conversation, self._chat, self._found = conversation, chat, found
        self._by_totals = desk.rules_by_totals
        self._clock = OwnTime(conversation.runs[0].run.created_at)
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
            self._chat.load(run.run.id, run.calls)
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
            self._found.tool_results += tools.used
            self._found.tool_results_missing += tools.missing
        return documents

    def _is_asked(self, run: RecordedRun) -> bool:
        if run.run.id not in self._conversation.asked:
            return False
        if run.why_not is not None:
            self._found.skipped.append({"run": run.run.id, "why": run.why_not})
        return run.why_not is None

    async def _happen(self, moment: Moment) -> None:
        store, run = self._lane.store, moment.run
        match moment.kind:
            case Happened.ACCEPTED if run is not None and run.records.message is not None:
                self._accepting = run
                await self._lane.accept(run.records.message, agents=run.agents)
            case Happened.WORKED if run is not None:
                self._clock.at = moment.begins_at
                self._working = run
                with sealed():
                    await self._lane.work(run.run.id)
            case Happened.DECIDED if run is not None and moment.review is not None:
                await self._decide(run, moment.review)
            case Happened.EXPIRED:
                await store.expire_reviews(moment.at)
            case Happened.CANCELLED if run is not None:
                await self._unless_in_conflict(store.cancel(run.run.id, moment.by))
            case Happened.HELD_BACK if moment.review is not None:
                await self._unless_in_conflict(store.hold_back(moment.review.id, moment.by))
            case Happened.ANSWERED:
                await store.answered_by_person(self._conversation.id, moment.by, silence=False)
            case Happened.TAKEN_OVER:
                await store.take_over(self._conversation.id, moment.by)
            case Happened.GIVEN_BACK:
                await store.give_back(self._conversation.id, moment.by)
            case _:
                raise AssertionError(moment)

    async def _decide(self, run: RecordedRun, recorded: Review) -> None:
        """What a person decided stands where the question is still the same."""
        waiting = [
            one
            for one in await self._lane.store.find_reviews(ReviewFilter(run_id=run.run.id))
            if one.state is ReviewState.OPEN
        ]
        if (
            not waiting
            or _question(waiting[-1]) != _question(recorded)
            or recorded.decision is None
        ):
            self._found.decisions_left_out += 1
            return
        review, by = waiting[-1], recorded.decided_by or ""
        if recorded.kind is ReviewKind.STOPPED:
            await self._lane.store.expire_reviews(
                self._clock.at
            )  # which lets go what a stopped desk held
            return
        verdict = Verdict(
            recorded.decision, by, review.version, review.payload_hash, recorded.note, recorded.edit
        )
        if recorded.signed_by is not None:
            await self._unless_in_conflict(
                self._lane.store.decide(review.id, replace(verdict, by=recorded.signed_by))
            )
            verdict = replace(verdict, version=review.version + 1)
        await self._unless_in_conflict(self._lane.store.decide(review.id, verdict))

    async def _unless_in_conflict(self, doing: Awaitable[Any]) -> None:
        try:
            await doing
            self._found.decisions += 1
        except (Conflict, NotFound):
            self._found.decisions_left_out += 1

    async def _compared(self, run: RecordedRun) -> Document:
        run_id = run.run.id
        records = await read_records(self._lane.store, run_id)
        changes = differences(facts_of(run.story), facts_of(story_of(records)))
        tally, now = self._chat.tally, records.states
        missing = tally.missing(run_id)
        verdict = "identical" if not changes else "unknown" if missing else "changed"
        return {
            "run": run_id,
            "conversation": run.run.conversation,
            "message": run.story["message"],
            "verdict": verdict,
            "not_recorded": missing,
            "apart": [
                one.document(run.states, now) for one in tally.apart.get(run_id, {}).values()
            ],
            "changes": changes,
        }

    # --- what the lane asks for

    def _id(self, kind: str) -> str:
        """The recorded id where there is one: prompts may quote it."""
        if kind == "run" and self._accepting is not None:
            return self._accepting.run.id
        known = (
            self._reviews.get(self._working.run.id, [])
            if kind == "rev" and self._working is not None
            else []
        )
        return known.pop(0) if known else new_id(kind)

    async def _screened(self, message: Message) -> End | None:
        """A bounce names a delivery, and a sandbox delivers nothing: what it was taken for then
        stands."""
        bounced = self._working.bounced if self._working is not None else None
        if bounced is None:
            return None
        note = ErrorNote(stage="", code=ErrorCode.REPLY_BOUNCED, message=bounced)
        return End(RunStatus.NEEDS_REVIEW, bounced, note)

    def mode(self) -> str | None:
        return recorded_mode(self._attempt())

    async def checks(self, run_id: str, category: str | None) -> bool:
        return was_checked(self._attempt())

    def _attempt(self) -> StageResult | None:
        return self._stages[self._working.run.id].attempt if self._working is not None else None

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


def _question(review: Review) -> Document:
    """What a person is asked, without what only says where: a hand-over by its error's code, a
    call without its key."""
    if review.kind is ReviewKind.HAND_OVER:
        error = review.payload.get("error")
        return {
            "kind": review.kind,
            "error": error.get("code") if isinstance(error, dict) else None,
        }
    payload = {
        key: value for key, value in review.payload.items() if key not in ("effect_key", "rule")
    }
    return {"kind": review.kind, **payload}
