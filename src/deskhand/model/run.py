"""A run and its records: rows of the journal, effects, reviews, model calls and what people did."""

import json
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple

from deskhand.model.causes import Cause, Rank, rank_of
from deskhand.model.codes import ErrorCode
from deskhand.model.message import Message


class RunStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING_USER = "waiting_user"
    WAITING_REVIEW = "waiting_review"
    SENT = "sent"
    ANSWERED = "answered"
    DONE = "done"
    REJECTED = "rejected"
    NEEDS_REVIEW = "needs_review"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_active(self) -> bool:
        """The dispatcher owes it work."""
        return self in (RunStatus.QUEUED, RunStatus.RUNNING)

    @property
    def is_parked(self) -> bool:
        """It waits for a person: the customer, a reviewer, or somebody to look at a failure."""
        return self in (RunStatus.WAITING_USER, RunStatus.WAITING_REVIEW, RunStatus.NEEDS_REVIEW)

    @property
    def is_final(self) -> bool:
        return not (self.is_active or self.is_parked)


@dataclass(frozen=True, slots=True)
class Run:
    """One message's way through a flow."""

    id: str
    desk: str
    position: int
    """Order of acceptance in this database; order within a conversation follows it."""
    message_key: str
    conversation: str
    flow: str
    status: RunStatus
    reason: str | None = None
    error_code: str | None = None
    owner: str | None = None
    crashes: int = 0
    flow_version: str | None = None
    successor: str | None = None
    """The run that took this one's matter over: it adopted the waiting plan, or answers both
    messages."""
    created_at: float = 0.0
    updated_at: float = 0.0
    due_at: float | None = None
    """When a queued run is to be worked again that waits for a model."""
    waits_for: str | None = None
    """The model that it waits for, as `provider/model`."""

    @property
    def was_screened_out(self) -> bool:
        """It ended before its first stage because a program wrote the message."""
        return self.status is RunStatus.DONE and self.error_code == ErrorCode.AUTOMATIC_MAIL


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer to handing in a message; the same message again gives the same run."""

    run_id: str
    duplicate: bool


@dataclass(frozen=True, slots=True)
class Claimed:
    """A run taken up for work, with what is needed to start: read in the same transaction."""

    run: Run
    """As it was before the claim."""
    message: bytes | None
    """As it was stored; None once it was erased."""
    message_digest: bytes
    customer_waited_for: bool
    """An earlier run of the conversation waits for this message."""
    supersedes: bool
    """This message made an earlier draft stale: its answer must be to both."""
    taken_over_by: str | None


class StepRow(NamedTuple):  # is made in a fifth of the time of a frozen dataclass
    """One row of a run's journal. `body` and `salt` are gone after an erasure; the digests stay."""

    run_id: str
    seq: int
    name: str
    attempt: int
    outcome: str
    flow_version: str
    started_at: float
    latency_ms: float
    body: bytes | None
    salt: bytes | None
    body_digest: bytes
    chain: bytes


class EffectState(StrEnum):
    INTENDED = "intended"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class EffectKey:
    """Names one side effect for ever: a model that words its answer differently after a crash
    meets the same key."""

    run_id: str
    seq: int
    index: int = 0

    def __str__(self) -> str:
        return f"{self.run_id}.{self.seq}.{self.index}"


@dataclass(frozen=True, slots=True)
class Effect:
    key: EffectKey
    tool: str
    call_hash: str
    state: EffectState
    result: dict[str, Any] | None = None
    created_at: float = 0.0
    updated_at: float = 0.0


class ReviewKind(StrEnum):
    REPLY = "reply"
    TOOL_CALL = "tool_call"
    HAND_OVER = "hand_over"
    STOPPED = "stopped"
    """The desk was stopped in the middle of it: it goes on by itself when the desk is resumed."""
    FOLLOW_UP = "follow_up"
    """The customer was told that somebody will answer: now somebody must, until `due_at`."""
    DELIVERY = "delivery"
    """Nobody knows whether a reply left: a person says that it did, or has it sent again."""


EXPIRY = "expiry"
"""Who decided a review that nobody decided in time."""
REASONS = "reasons"
"""Among a review's facts: what was said about each cause."""
REASSIGN_TO = "reassign_to"
"""Among a review's facts: who gets it when nobody has decided in time."""
NO_DEADLINE = 1e12
"""A moment that never comes: where a review stands that may wait for ever."""
DUE_AT = "due_at"
"""Among a review's facts: until when the customer is owed an answer."""


class Decision(StrEnum):
    APPROVE = "approve"
    EDIT = "edit"
    ACKNOWLEDGE = "acknowledge"
    """The reply leaves, as shown or changed, and the matter stays open: somebody still answers."""
    REVISE = "revise"
    REJECT = "reject"
    TAKE_OVER = "take_over"
    RETRY = "retry"
    CLOSE = "close"
    ANSWER = "answer"
    """Written by the person who decides: the reply to a message for which there is none."""
    LEFT = "left"
    """A reply that may have left did leave."""
    SEND_AGAIN = "send_again"
    """A reply that may have left did not: it is sent, unless its copy is found."""
    HAND_OVER = "hand_over"
    """Nobody decided in time: it waits on as a hand-over. Only time decides so."""
    REASSIGN = "reassign"
    """Nobody decided in time: it waits on for somebody else, undecided. Only time does so."""


LETS_GO = (Decision.APPROVE, Decision.EDIT, Decision.ACKNOWLEDGE, Decision.ANSWER)
"""Decisions after which a reply leaves."""

DECISIONS: dict[ReviewKind, tuple[Decision, ...]] = {
    ReviewKind.REPLY: (
        Decision.APPROVE,
        Decision.EDIT,
        Decision.ACKNOWLEDGE,
        Decision.REVISE,
        Decision.REJECT,
        Decision.TAKE_OVER,
    ),
    ReviewKind.TOOL_CALL: (Decision.APPROVE, Decision.REJECT, Decision.TAKE_OVER),
    ReviewKind.HAND_OVER: (
        Decision.ANSWER,
        Decision.ACKNOWLEDGE,
        Decision.TAKE_OVER,
        Decision.RETRY,
        Decision.CLOSE,
    ),
    ReviewKind.FOLLOW_UP: (
        Decision.ANSWER,
        Decision.ACKNOWLEDGE,
        Decision.TAKE_OVER,
        Decision.CLOSE,
    ),
    ReviewKind.STOPPED: (Decision.TAKE_OVER, Decision.RETRY, Decision.CLOSE),
    ReviewKind.DELIVERY: (Decision.LEFT, Decision.SEND_AGAIN, Decision.TAKE_OVER),
}


class ReviewState(StrEnum):
    OPEN = "open"
    DECIDED = "decided"
    STALE = "stale"
    EXPIRED = "expired"


BEFORE_ALL_STEPS = -1
"""The place of a review that no step asked for: its decision answers none."""


@dataclass(frozen=True, slots=True)
class NewReview:
    """A review about to be opened together with the run's change of status."""

    kind: ReviewKind
    reason: str
    payload: dict[str, Any]
    seq: int = 0
    expires_at: float | None = None
    fallback: Decision | None = None
    causes: tuple[Cause, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Review:
    """Something a person decides, bound by hash to exactly what was shown."""

    id: str
    desk: str
    run_id: str
    seq: int
    conversation: str
    kind: ReviewKind
    reason: str
    payload: dict[str, Any]
    payload_hash: str
    state: ReviewState
    version: int
    created_at: float
    expires_at: float | None = None
    fallback: Decision | None = None
    decision: Decision | None = None
    decided_by: str | None = None
    decided_at: float | None = None
    note: str | None = None
    edit: dict[str, Any] | None = None
    signed_by: str | None = None
    """The first of two who must approve."""
    causes: tuple[Cause, ...] = ()
    """Why it is here; the first is the one that counted."""
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    """What was known when it was opened: `category`, `confidence` and its `threshold`,
    `language`, `reasons`."""
    assignee: str | None = None
    snoozed_until: float | None = None

    @property
    def rank(self) -> Rank:
        """How dangerous it is."""
        return rank_of(self.causes, action=self.kind is ReviewKind.TOOL_CALL)

    @property
    def place(self) -> tuple[int, float, float, str]:
        """Its place in a queue of open ones: the most dangerous first, then the nearest deadline,
        then the oldest."""
        return (self.rank, self.deadline, self.created_at, self.id)

    @property
    def deadline(self) -> float:
        """When it expires or an answer is due, whichever is first; far away where neither is."""
        return deadline_of(self.expires_at, self.facts)

    @property
    def leaves_by_itself(self) -> bool:
        """A reply that everybody let pass and that can still be stopped."""
        return self.state is ReviewState.OPEN and self.fallback is Decision.APPROVE

    @property
    def due_at(self) -> float | None:
        """Until when the customer is owed an answer; None where none is owed."""
        return _due_at(self.facts)


def deadline_of(expires_at: float | None, facts: dict[str, Any]) -> float:
    """When a review with these facts expires or an answer is due, whichever is first."""
    due_at = _due_at(facts)
    moments = [moment for moment in (expires_at, due_at) if moment is not None]
    return min(moments, default=NO_DEADLINE)


def _due_at(facts: dict[str, Any]) -> float | None:
    due = facts.get(DUE_AT)
    return float(due) if isinstance(due, int | float) else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a person decided; `version` and `payload_hash` say what they looked at."""

    decision: Decision
    by: str
    version: int
    payload_hash: str | None = None
    note: str | None = None
    edit: dict[str, Any] | None = None
    at: float = 0.0
    """When it was decided."""
    signed_by: str | None = None
    """Who approved it before, where two must."""
    due_at: float | None = None
    """With `acknowledge`: until when somebody answers; None for the time the desk has set."""
    final: bool = False
    """With `approve` and `edit`: it is the answer, even if it reads as if another would follow."""
    reported: bool = False
    """A program says that it sent the reply: no person judged it."""

    @property
    def people(self) -> tuple[str, ...]:
        """Everybody whose approval this is, once each."""
        several = (self.signed_by, self.by) if self.signed_by else (self.by,)
        return tuple({person.strip().casefold(): person for person in several}.values())


@dataclass(frozen=True, slots=True)
class LlmCall:
    """One call of a model, for money and for replay."""

    run_id: str | None
    stage: str
    call_type: str
    model: str
    request_digest: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    latency_ms: float = 0.0
    error: str | None = None
    at: float = 0.0
    answer: dict[str, Any] | None = None
    """What the model said, as far as a replay needs it: text, tool calls, why it stopped. Gone
    after an erasure."""
    cached_tokens: int = 0
    """Those of the prompt that the provider had read before."""
    reasoning_tokens: int = 0
    """Those of the answer that were thoughts."""


@dataclass(frozen=True, slots=True)
class Event:
    """What somebody or something did beside the journal: approved, cancelled, erased, started."""

    kind: str
    run_id: str | None = None
    by: str | None = None
    payload: dict[str, Any] = field(default_factory=dict[str, Any])
    at: float = 0.0
    id: int | None = None


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """An earlier message of the conversation with what became of it."""

    run: Run
    message: Message


_COMPACT = (",", ":")
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=_COMPACT, ensure_ascii=False, default=str)


def canonical_hash(value: Any) -> str:
    """SHA-256 over canonical JSON: what an approval is bound to and an effect is recognised by."""
    return sha256(_CANONICAL.encode(value).encode(errors="surrogatepass")).hexdigest()
