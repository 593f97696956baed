"""What the records say of a conversation: its runs, and everything that happened to them in the
order it happened."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import groupby

from deskhand.engine.journal import DECISION, State
from deskhand.engine.story import Document, Records, read_records, story_of
from deskhand.model.codes import ErrorCode
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
from deskhand.tools.delivery import DELIVER

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


class Happened(StrEnum):
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
class Moment:
    """One thing that happened: to `run`, or with `run` None to the whole conversation."""

    at: float
    kind: Happened
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
        """Whether an agent worked it (True) or the flow that stands in for one (False); None
        where neither was due."""
        route = None if self.records.message is None else self.records.message.route
        if route is not None and (route.instead_of is not None or route.route == "agent"):
            return route.instead_of is None and route.flow == route.profile
        turned = any(
            (state.result.answered or {}).get("brain") == AGENT_BRAIN for state in self.states
        )
        return True if turned else None

    @property
    def bounced(self) -> str | None:
        """What was said of it, where it is the bounce of a reply of ours."""
        found = [
            one.reason for one in self.records.reviews if _error_of(one) == ErrorCode.REPLY_BOUNCED
        ]
        return found[0] if found else None

    @property
    def why_not(self) -> str | None:
        """Why it cannot be replayed."""
        if self.records.message is None or any(row.body is None for row in self.records.rows):
            return "it was erased"
        if self.run.status.is_active:
            return f"it is {self.run.status}"
        if self.run.error_code == ErrorCode.CRASHED_REPEATEDLY:
            return "the process died while it was worked"
        if self.run.error_code == ErrorCode.TOO_MANY_REPLIES and not self.records.rows:
            return f"it was not worked: {self.run.reason}"
        return None

    def moments(self, events: Sequence[Event]) -> Iterator[Moment]:
        yield Moment(self.run.created_at, Happened.ACCEPTED, self)
        reviews = [
            review
            for review in self.records.reviews
            if _error_of(review) != ErrorCode.CRASHED_REPEATEDLY
        ]
        segments = self._segments()
        at = self.run.created_at
        for number, segment in enumerate(segments):
            review = reviews[number] if number < len(reviews) else None
            ended = review.created_at if review else _end_of(segment) if segment else at
            begins = segment[0].row.started_at if segment else ended
            at = max(at, ended)
            yield Moment(at, Happened.WORKED, self, begins_at=begins)
            if review is not None and review.decision is not None and review.decided_at is not None:
                at = max(at, review.decided_at)
                kind = Happened.EXPIRED if review.state is ReviewState.EXPIRED else Happened.DECIDED
                yield Moment(at, kind, self, review, review.decided_by or "")
        by_id = {review.id: review for review in reviews}
        for event in events:
            if event.kind == "run.cancelled":
                yield Moment(max(at, event.at), Happened.CANCELLED, self, by=event.by or "")
            elif event.kind == "run.answered_by_person":
                yield Moment(max(at, event.at), Happened.ANSWERED, self, by=event.by or "")
            elif event.kind == "review.undo" and (
                review := by_id.get(event.payload.get("review", ""))
            ):
                yield Moment(event.at, Happened.HELD_BACK, self, review, event.by or "")

    def _segments(self) -> list[list[State]]:
        """The rows of each time the run was worked: a decision begins the next."""
        never = (
            not self.records.rows
            and not self.records.reviews
            and self.run.status is RunStatus.CANCELLED
        )
        segments: list[list[State]] = [] if never else [[]]
        for state in self.states:
            if state.row.name == DECISION:
                segments.append([])
            segments[-1].append(state)
        requeued = [
            review for review in self.records.reviews if review.decision and _goes_on(review)
        ]
        segments += [[] for _ in range(len(requeued) + 1 - len(segments))] if segments else []
        return segments


@dataclass(frozen=True)
class RecordedConversation:
    id: str
    runs: Sequence[RecordedRun]
    """In order of acceptance, from the first of the conversation on."""
    asked: frozenset[str]
    """The runs that the replay is about; earlier ones are replayed because these build on them."""
    events: Sequence[Event] = ()

    def moments(self) -> list[Moment]:
        """Everything that happened, in order; what happened at the same time stays in the order
        of its causes."""
        moments = [
            moment
            for run in self.runs
            if run.why_not is None
            for moment in run.moments(
                [event for event in self.events if event.run_id == run.run.id]
            )
        ]
        for event in self.events:
            if event.kind == "conversation.taken_over":
                moments.append(Moment(event.at, Happened.TAKEN_OVER, by=event.by or ""))
            elif event.kind == "conversation.given_back":
                moments.append(Moment(event.at, Happened.GIVEN_BACK, by=event.by or ""))
        return sorted(moments, key=lambda moment: moment.at)


@dataclass(frozen=True, slots=True)
class Window:
    """Which runs: one by its id, or those accepted in a span of time."""

    run_id: str | None = None
    since: float = 0.0
    until: float = float("inf")

    def holds(self, run: Run) -> bool:
        return (
            self.since <= run.created_at < self.until
            if self.run_id is None
            else run.id == self.run_id
        )


async def read_conversations(store: Store, window: Window) -> list[RecordedConversation]:
    """Every conversation with a run in the window, as far as its last such run, oldest first."""
    chosen = [await store.run(window.run_id)] if window.run_id else await _runs(store, window)
    last: dict[str, int] = {}
    for run in chosen:
        last[run.conversation] = max(run.position, last.get(run.conversation, 0))
    asked = frozenset(run.id for run in chosen)
    events = await _events(store)
    found = []
    for conversation, position in last.items():
        runs = [
            run for run in await _runs(store, Window(), conversation) if run.position <= position
        ]
        recorded = [
            RecordedRun(await read_records(store, run.id), await store.calls(run.id))
            for run in reversed(runs)
        ]
        mine = [event for run in runs for event in events.get(run.id, ())]
        found.append(
            RecordedConversation(
                conversation, recorded, asked, [*mine, *events.get(conversation, ())]
            )
        )
    return sorted(found, key=lambda one: one.runs[0].run.position)


async def _runs(store: Store, window: Window, conversation: str | None = None) -> list[Run]:
    """Newest first."""
    found: list[Run] = []
    before: int | None = None
    while page := await store.runs(conversation=conversation, limit=PAGE, before=before):
        found += [run for run in page if window.holds(run)]
        before = page[-1].position
        if page[-1].created_at < window.since:
            break
    return found


async def _events(store: Store) -> dict[str, list[Event]]:
    """What people did, by run or by conversation."""
    found: list[tuple[str, Event]] = []
    after = 0
    while page := await store.events(after=after):
        for event in page:
            about = event.run_id or event.payload.get("conversation")
            if about and event.kind in _REPLAYED:
                found.append((str(about), event))
            after = event.id or after
    found.sort(key=lambda pair: pair[0])
    return {
        about: [event for _, event in pairs]
        for about, pairs in groupby(found, key=lambda pair: pair[0])
    }


def _goes_on(review: Review) -> bool:
    """Whether its decision had the run worked again."""
    closed = review.kind is ReviewKind.HAND_OVER and review.decision is Decision.CLOSE
    return review.decision is not Decision.TAKE_OVER and not closed


def _error_of(review: Review) -> str | None:
    error = review.payload.get("error")
    return error.get("code") if isinstance(error, dict) else None


def _end_of(segment: Sequence[State]) -> float:
    row = segment[-1].row
    return row.started_at + row.latency_ms / 1000
