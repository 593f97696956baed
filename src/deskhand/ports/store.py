"""The records of runs: rows, effects, reviews, and what a desk keeps beside them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from deskhand.model.attached_files import AttachedFile, FileOrigin, StoredFile
from deskhand.model.audited import Kept, PrunedBatch
from deskhand.model.message import Message
from deskhand.model.queue import ALL_REVIEWS, AlikeReviews, BegunEdit, QueuePosition, ReviewFilter
from deskhand.model.run import (
    Accepted,
    Claimed,
    ConversationTurn,
    Effect,
    EffectKey,
    EffectState,
    Event,
    LlmCall,
    NewReview,
    Review,
    Run,
    RunStatus,
    StepRow,
    Verdict,
)
from deskhand.model.totals import CountedEffect, Pruned, Scope, Stop, Total, TotalKey
from deskhand.model.waiting import AwayModel
from deskhand.ports.conversations import Conversations


class Journal(Protocol):
    """Append-only rows of runs. A second writer of the same (run, seq) gets Fenced."""

    async def append(self, *rows: StepRow) -> None:
        """Rows of one run, in order; several are in one transaction."""
        ...

    async def rows(self, run_id: str) -> list[StepRow]: ...


class Effects(Protocol):
    """The ledger: intended before it happens, then done, failed or unknown."""

    async def intend(
        self, key: EffectKey, tool: str, call_hash: str, counted: CountedEffect | None = None
    ) -> Effect:
        """Write the intention, or return what is already known under this key.

        In the same transaction: EffectRefused while the desk is stopped or where a limit would be
        exceeded, else the totals grow by what is counted.
        """
        ...

    async def settle(
        self, key: EffectKey, state: EffectState, result: dict[str, Any] | None
    ) -> None: ...

    async def reopen(self, key: EffectKey) -> None:
        """Intend a failed effect once more; Fenced where the run is another process's by now."""
        ...

    async def effects(
        self, run_id: str | None = None, state: EffectState | None = None
    ) -> list[Effect]: ...

    async def totals(self, places: Mapping[Scope, TotalKey]) -> list[Total]:
        """What has been counted so far at these places."""
        ...

    async def stopped(self) -> Stop | None:
        """Whether somebody threw the desk's stop switch."""
        ...


class Reviews(Protocol):
    async def find_reviews(
        self,
        wanted: ReviewFilter = ALL_REVIEWS,
        *,
        limit: int = 100,
        after: tuple[float, str] | None = None,
        backwards: bool = False,
    ) -> list[Review]:
        """Oldest first, or newest first with `backwards`.

        `after` is the `created_at` and id of the last review of the page before.
        """
        ...

    async def next_due(
        self,
        wanted: ReviewFilter,
        *,
        limit: int,
        after: QueuePosition | None = None,
        backwards: bool = False,
    ) -> list[Review]:
        """In the order of `Review.place`, or the other way round; `after` is the place of the last
        one seen."""
        ...

    async def count_reviews(self, wanted: ReviewFilter) -> int: ...

    async def count_queue(
        self,
        wanted: ReviewFilter = ALL_REVIEWS,
        *,
        soon: float = 0.0,
        place: QueuePosition | None = None,
    ) -> list[AlikeReviews]:
        """The open ones among the wanted, counted in one look by all that the queue is narrowed
        by; also how many are late, are due before `soon`, and stand before `place`."""
        ...

    async def review(self, review_id: str) -> Review: ...

    async def decide(self, review_id: str, verdict: Verdict) -> Review:
        """Decide once: Conflict when somebody was faster, the draft is stale, or what was shown is
        not what is there.

        In the same transaction the run is queued again (or ended, where the decision ends it).
        """
        ...

    async def expire_reviews(self, now: float) -> list[Review]:
        """Decide every overdue review with its named fallback; without one it stays open."""
        ...

    async def hold_back(self, review_id: str, by: str) -> Review:
        """Stop a reply that would leave by itself; Conflict when it has left, or never would.

        Named by its own review, or by the one whose approval let it go.
        """
        ...

    async def snooze(self, review_id: str, by: str, until: float | None) -> Review:
        """Out of sight until then (None: back at once); Conflict when it is decided or would be
        over before that."""
        ...

    async def assign(self, review_id: str, by: str, to: str | None) -> Review:
        """Say whose it is to look at; anybody may still decide it. Conflict for somebody without
        an account that may work on the desk."""
        ...

    async def reviewers(self) -> list[str]:
        """Everybody who has an account and may work on this desk."""
        ...

    async def note_review(self, review_id: str, by: str, text: str) -> Review:
        """Leave a word for colleagues, as an event of the run."""
        ...

    async def keep_edit(self, review_id: str, by: str, edit: dict[str, Any]) -> None:
        """Keep what a reviewer has typed so far, in place of what that reviewer typed before."""
        ...

    async def begun_edits(self, review_id: str) -> list[BegunEdit]:
        """What reviewers have typed so far, newest first."""
        ...


class AgentRecords(Protocol):
    """What agents did, told from the rows: by the names of the views `agent_runs` and
    `email_events`."""

    async def agent_runs(self, run_id: str | None = None, limit: int = 100) -> list[dict[str, Any]]:
        """One a stage that an agent worked, newest first: profile, status, tool_calls_log,
        final_message, ..."""
        ...

    async def email_events(self, run_id: str, limit: int = 1000) -> list[dict[str, Any]]:
        """What happened to a run, in order: how agents ended, what people and programs did."""
        ...


class Files(Protocol):
    """The files of runs: what customers attached, and what reviewers attach to replies."""

    async def files(self, run_id: str) -> list[StoredFile]:
        """What is kept for a run: the message's files in order, then those for replies."""
        ...

    async def file(
        self, run_id: str, file_id: str, origin: FileOrigin | None = None
    ) -> AttachedFile:
        """One of them with its bytes; NotFound where the run has no such file, or none of this
        origin."""
        ...

    async def attach(self, review_id: str, by: str, file: AttachedFile) -> StoredFile:
        """Keep a file that a reviewer wants to send; Conflict where the review is decided."""
        ...


class WaitingRuns(Protocol):
    """Queued runs that wait for a model that is away."""

    async def waiting(self, now: float) -> set[str]:
        """The runs whose time has not come yet."""
        ...

    async def wake_waiting(self, model: str, now: float) -> int:
        """Let all go on that wait for this model; returns how many."""
        ...

    async def models_away(self) -> list[AwayModel]:
        """The models that runs wait for."""
        ...


class Store(Journal, Effects, Reviews, AgentRecords, Files, WaitingRuns, Conversations, Protocol):
    """One desk's durable memory. Every write is committed when its call returns."""

    desk: str
    owner: str
    """Who writes here: a fresh name every boot. Rows and effects of a run are taken from its
    owner only."""

    async def accept(self, message: Message, *, flow: str) -> Accepted:
        """Record the message and its run, once. The same sender's draft that waits in this
        conversation goes stale."""
        ...

    async def claim(self, run_id: str, versions: Mapping[str, str]) -> Claimed | None:
        """Make a queued run (or one that is ours already) our work; None when it is neither.

        `versions` gives the version each flow has here and now.
        """
        ...

    async def finish(
        self,
        run_id: str,
        status: RunStatus,
        *,
        reason: str | None = None,
        error_code: str | None = None,
        review: NewReview | None = None,
        rows: Sequence[StepRow] = (),
        due_at: float | None = None,
        waits_for: str | None = None,
    ) -> None:
        """End or park a running run after its last rows, opening its review in the same
        transaction as that.

        With `queued` it waits in its place until `due_at` for the model `waits_for`.
        """
        ...

    async def release(self, run_id: str) -> None:
        """Hand a running run back unharmed (graceful stop): queued again, no crash counted."""
        ...

    async def recover(self) -> int:
        """Queue every run that another owner left running, counting a crash for each. Returns
        how many."""
        ...

    async def queued(
        self, *, after: int = 0, limit: int = 1000, ready_at: float | None = None
    ) -> list[Run]:
        """Queued runs in order of acceptance, from position `after` on.

        With `ready_at` only those that do not wait then, nor stand behind one that does.
        """
        ...

    async def run(self, run_id: str) -> Run: ...

    async def runs(
        self,
        *,
        status: RunStatus | None = None,
        conversation: str | None = None,
        screened: bool = False,
        limit: int = 100,
        before: int | None = None,
    ) -> list[Run]:
        """Newest first; with `screened` only those that ended because a program wrote."""
        ...

    async def count_runs(self, status: RunStatus, most: int) -> int:
        """How many runs have this status, counted no further than `most`."""
        ...

    async def count_screened(self, since: float) -> int:
        """How many messages that came since then were screened out: a program wrote them."""
        ...

    async def message(self, run_id: str) -> Message | None:
        """The run's message; None once it was erased."""
        ...

    async def messages(self, run_ids: Sequence[str]) -> dict[str, Message]:
        """The messages of these runs, by run; erased ones are left out."""
        ...

    async def adopt(self, run_id: str, conversation: str, before: int) -> Run | None:
        """Let `run_id` take over the newest run of the conversation that waits for its sender;
        None without one."""
        ...

    async def superseded(self, run_id: str, conversation: str) -> list[ConversationTurn]:
        """The earlier turns, oldest first, whose drafts this run's message made stale, directly
        or in turn."""
        ...

    async def requeue(self, run_id: str, by: str) -> Run:
        """Queue a needs_review or failed run again, its crash count cleared; Conflict in any
        other status.

        A run that was screened out is taken back: its flow works the message as a person's.
        """
        ...

    async def cancel(self, run_id: str, by: str) -> Run:
        """End a run nobody works on; Conflict when it runs or is over."""
        ...

    async def stop(self, by: str, reason: str = "") -> Stop:
        """Throw the desk's stop switch: from now on no effect happens, in no process. The first
        reason stays."""
        ...

    async def resume(self, by: str) -> int:
        """Let the desk act again, and queue every run that met the stop; returns how many."""
        ...

    async def replies_since(
        self, conversation: str, tool: str, since: float, *, beside: str
    ) -> int:
        """How many effects of this tool were carried out in the conversation since then by other
        runs than `beside`."""
        ...

    async def replies_to(self, sender: str, tool: str, since: float, *, beside: str) -> int:
        """How many effects of this tool answered this sender since then in other conversations
        than `beside`."""
        ...

    async def answered_by_person(
        self, conversation: str, by: str, *, silence: bool, text: str | None = None
    ) -> int:
        """Withdraw what waits to be sent here, since a person answered; with `silence` they take
        the conversation over.

        Returns how many runs that ended. `text` is what they wrote: it says what the withdrawn
        replies were worth.
        """
        ...

    async def note_bounce(self, run_id: str, reason: str) -> bool:
        """Say at a run that its reply did not arrive; False when there is no such run."""
        ...

    async def record_call(self, call: LlmCall) -> None: ...

    async def calls(self, run_id: str | None = None) -> list[LlmCall]: ...

    async def record_event(self, event: Event) -> None: ...

    async def events(
        self, *, run_id: str | None = None, after: int = 0, limit: int = 1000
    ) -> list[Event]: ...

    async def erase(self, address: str, by: str) -> int:
        """Delete what this address wrote and what was made of it, keeping digests; returns how
        many runs it sent."""
        ...

    async def prune(self, responses: float, totals: float) -> Pruned:
        """Delete API responses and totals older than this, in seconds; how many there were."""
        ...

    async def prune_old(
        self, kind: Kept, age: float, *, after: int, limit: int, key: bytes | None = None
    ) -> PrunedBatch:
        """Delete some of what is older than `age` seconds and not open, from number `after` on.

        The chains of runs are closed by a seal in the same transaction, signed with `key`.
        """
        ...

    async def count_old(self, kind: Kept, age: float) -> int:
        """How much `prune_old` would delete in all."""
        ...

    async def check_writes(self) -> None:
        """Raise StoreUnavailable while writes fail: a full disk, a database that is read-only."""
        ...

    async def remember_response(
        self, key: str, request_digest: str, response: bytes
    ) -> bytes | None:
        """Keep an API response under an idempotency key; returns the earlier one, Conflict for
        another request."""
        ...
