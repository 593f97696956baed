"""What the records say of a conversation: its runs, and what happened to them, in order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import zip_longest

from deskhand.engine.journal import DECISION, State
from deskhand.engine.story import Document, Records, read_records, story_of
from deskhand.model.codes import ErrorCode
from deskhand.model.message import DELIVER
from deskhand.model.run import (
    Decision,
    Event,
    LlmCall,
    Review,
    ReviewKind,
    ReviewState,
    Run,
    RunStatus,
)
from deskhand.ports import Store

PAGE = 500
AGENT_BRAIN = "agent"
"""Who answered, in the rows of an agent's turns."""
_REPLAYED = (
    "run.cancelled",
    "run.answered_by_person",
    "review.undo",
    "conversation.taken_over",
    "conversation.given_back",
)


class MomentKind(StrEnum):
    ACCEPTED = "accepted"
    WORKED = "worked"
    DECIDED = "decided"
    EXPIRED = "expired"
    HELD_BACK = "held_back"
    CANCELLED = "cancelled"
    ANSWERED = "answered"
    TAKEN_OVER = "taken_over"
    GIVEN_BACK = "given_back"


@dataclass(frozen=True, slots=True)
class RunMoment:
    """One thing that happened: to `run`, or with `run` None to the whole conversation."""

    at: float
    kind: MomentKind
    run: "RecordedRun | None" = None
    review: Review | None = None
    by: str = ""
    begins_at: float = 0.0
    """With `worked`: when its first step began."""


@dataclass(frozen=True)
class RecordedRun:
    records: Records
    calls: Sequence[LlmCall]

    @property
    def run(self) -> Run:
        return self.records.run

    @cached_property
    def states(self) -> list[State]:
        return self.records.states

    @cached_property
    def story(self) -> Document:
        return story_of(self.records)

    @cached_property
    def sent_at(self) -> list[float]:
        """When replies and questions left."""
        return [
            state.row.started_at
            for state in self.states
            if (state.result.call or {}).get("tool") == DELIVER or state.row.name.endswith("/ask")
        ]

    @property
    def agents(self) -> bool | None:
        """True if an agent worked it, False if the flow in its place did, None if none was due."""
        route = None if self.records.message is None else self.records.message.route
        if route is not None and (route.instead_of is not None or route.route == "agent"):
            return route.instead_of is None and route.flow == route.profile
        turned = any(
            (state.result.answered or {}).get("brain") == AGENT_BRAIN for state in self.states
        )
        return True if turned else None

    @property
    def bounced(self) -> str | None:
        """Returns the reason that was recorded, if this is the bounce of a reply of ours."""
        for review in self.records.reviews:
            if _error_of(review) == ErrorCode.REPLY_BOUNCED:
                return review.reason
        return None

    @property
    def why_not(self) -> str | None:
        """Returns why the run cannot be replayed; None where it can."""
        if self.records.message is None or any(row.body is None for row in self.records.rows):
            return "it was erased"
        if self.run.status.is_active:
            return f"it is {self.run.status}"
        if self.run.error_code == ErrorCode.CRASHED_REPEATEDLY:
            return "the process died while it was worked"
        if self.run.error_code == ErrorCode.TOO_MANY_REPLIES and not self.records.rows:
            return f"it was not worked: {self.run.reason}"
        return None

    def moments(self, events: Sequence[Event]) -> Iterator[RunMoment]:
        """Yields what happened to this run; `events` are its own."""
        at = self.run.created_at
        yield RunMoment(at, MomentKind.ACCEPTED, self)
        reviews = [
            review
            for review in self.records.reviews
            if _error_of(review) != ErrorCode.CRASHED_REPEATEDLY
        ]
        for segment, review in zip_longest(self._segments(), reviews):
            if segment is None:
                break
            ended = _end(segment, review, at)
            begins = segment[0].row.started_at if segment else ended
            at = max(at, ended)
            yield RunMoment(at, MomentKind.WORKED, self, begins_at=begins)
            decision = self._decision(review, at)
            if decision is not None:
                at = decision.at
                yield decision
        by_id = {review.id: review for review in reviews}
        for event in events:
            moment = self._done_to_it(event, at, by_id)
            if moment is not None:
                yield moment

    def _decision(self, review: Review | None, at: float) -> RunMoment | None:
        if review is None or review.decision is None or review.decided_at is None:
            return None
        kind = MomentKind.EXPIRED if review.state is ReviewState.EXPIRED else MomentKind.DECIDED
        return RunMoment(max(at, review.decided_at), kind, self, review, review.decided_by or "")

    def _done_to_it(self, event: Event, at: float, by_id: Mapping[str, Review]) -> RunMoment | None:
        """What a person did to the run besides deciding a review."""
        by = event.by or ""
        if event.kind == "run.cancelled":
            return RunMoment(max(at, event.at), MomentKind.CANCELLED, self, by=by)
        if event.kind == "run.answered_by_person":
            return RunMoment(max(at, event.at), MomentKind.ANSWERED, self, by=by)
        review = by_id.get(event.payload.get("review", ""))
        if event.kind == "review.undo" and review is not None:
            return RunMoment(event.at, MomentKind.HELD_BACK, self, review, by)
        return None

    def _segments(self) -> list[list[State]]:
        """The rows of each time the run was worked: a decision begins the next."""
        untouched = not self.records.rows and not self.records.reviews
        if untouched and self.run.status is RunStatus.CANCELLED:
            return []
        segments: list[list[State]] = [[]]
        for state in self.states:
            if state.row.name == DECISION:
                segments.append([])
            segments[-1].append(state)
        decided = [review for review in self.records.reviews if review.decision]
        times_worked = 1 + sum(map(_goes_on, decided))
        while len(segments) < times_worked:
            segments.append([])
        return segments


@dataclass(frozen=True)
class RecordedConversation:
    id: str
    runs: Sequence[RecordedRun]
    """In order of acceptance, from the first of the conversation on."""
    asked: frozenset[str]
    """The runs that the replay is about; earlier ones are replayed because these build on them."""
    events: Sequence[Event] = ()

    @property
    def states(self) -> Iterator[State]:
        """The rows of all runs, run by run."""
        for run in self.runs:
            yield from run.states

    def moments(self) -> list[RunMoment]:
        """Returns everything that happened, in order; what happened at once, in order of cause."""
        moments: list[RunMoment] = []
        for run in self.runs:
            if run.why_not is None:
                events = [event for event in self.events if event.run_id == run.run.id]
                moments += run.moments(events)
        for event in self.events:
            if event.kind == "conversation.taken_over":
                moments.append(RunMoment(event.at, MomentKind.TAKEN_OVER, by=event.by or ""))
            elif event.kind == "conversation.given_back":
                moments.append(RunMoment(event.at, MomentKind.GIVEN_BACK, by=event.by or ""))
        return sorted(moments, key=lambda moment: moment.at)


@dataclass(frozen=True, slots=True)
class RunRange:
    """Which runs: one by its id, or those accepted in a span of time."""

    run_id: str | None = None
    since: float = 0.0
    until: float = float("inf")

    def holds(self, run: Run) -> bool:
        if self.run_id is not None:
            return run.id == self.run_id
        return self.since <= run.created_at < self.until


async def read_conversations(store: Store, window: RunRange) -> list[RecordedConversation]:
    """Reads every conversation with a run in the window, up to its last such run, oldest first."""
    chosen = [await store.run(window.run_id)] if window.run_id else await _runs(store, window)
    last: dict[str, int] = {}
    for run in chosen:
        last[run.conversation] = max(run.position, last.get(run.conversation, 0))
    asked = frozenset(run.id for run in chosen)
    events = await _events(store)
    conversations: list[RecordedConversation] = []
    for conversation, position in last.items():
        every = await _runs(store, RunRange(), conversation)
        runs = [run for run in reversed(every) if run.position <= position]
        recorded: list[RecordedRun] = []
        happened: list[Event] = []
        for run in runs:
            records = await read_records(store, run.id)
            recorded.append(RecordedRun(records, await store.calls(run.id)))
            happened += events.get(run.id, ())
        happened += events.get(conversation, ())
        conversations.append(RecordedConversation(conversation, recorded, asked, happened))
    return sorted(conversations, key=lambda conversation: conversation.runs[0].run.position)


async def _runs(store: Store, window: RunRange, conversation: str | None = None) -> list[Run]:
    """The runs in the window, newest first."""
    runs: list[Run] = []
    before: int | None = None
    while page := await store.runs(conversation=conversation, limit=PAGE, before=before):
        runs += [run for run in page if window.holds(run)]
        before = page[-1].position
        if page[-1].created_at < window.since:
            break
    return runs


async def _events(store: Store) -> dict[str, list[Event]]:
    """What people did, by run or by conversation."""
    events: dict[str, list[Event]] = {}
    after = 0
    while page := await store.events(after=after):
        for event in page:
            about = event.run_id or event.payload.get("conversation")
            if about and event.kind in _REPLAYED:
                events.setdefault(str(about), []).append(event)
            after = event.id or after
    return events


def _goes_on(review: Review) -> bool:
    """Whether its decision had the run worked again."""
    is_task = review.kind in (ReviewKind.HAND_OVER, ReviewKind.FOLLOW_UP)
    closed = is_task and review.decision is Decision.CLOSE
    return review.decision is not Decision.TAKE_OVER and not closed


def _error_of(review: Review) -> str | None:
    error = review.payload.get("error")
    return error.get("code") if isinstance(error, dict) else None


def _end(segment: Sequence[State], review: Review | None, otherwise: float) -> float:
    """When a run that was worked came to rest: with its review, else after its last row."""
    if review is not None:
        return review.created_at
    if not segment:
        return otherwise
    row = segment[-1].row
    return row.started_at + row.latency_ms / 1000
