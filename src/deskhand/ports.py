"""Every Protocol of the engine, in one place: what it needs from the outside and from its own
exchangeable parts."""

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from deskhand.model.access import ApiKey, Session, User
from deskhand.model.booking import Booking, BookingState, NewBooking, Span
from deskhand.model.causes import cause_of_rule
from deskhand.model.chat import ChatRequest, Chunk, Completion
from deskhand.model.contact import Contact, ContactEntry
from deskhand.model.envelope import Ask, Envelope, StageResult
from deskhand.model.events import AgentEvent
from deskhand.model.exchanges import Exchange, ExchangeQuery, FoundExchange, LearnedExchange
from deskhand.model.judgement import Figure, Judgement, ModeChange
from deskhand.model.knowledge import (
    AnswerSource,
    Article,
    Hit,
    IndexedChunk,
    KnowledgeQuery,
    StoredArticle,
)
from deskhand.model.message import Message, Reply
from deskhand.model.principal import Principal
from deskhand.model.queue import ALL_REVIEWS, Facets, ReviewFilter
from deskhand.model.results import ToolResult
from deskhand.model.run import (
    Accepted,
    BegunEdit,
    Claimed,
    ConversationTurn,
    Effect,
    EffectKey,
    EffectState,
    Event,
    Journaled,
    LlmCall,
    NewReview,
    Review,
    ReviewKind,
    Run,
    RunStatus,
    Seal,
    StepRow,
    Verdict,
)
from deskhand.model.tasks import Answer, Task
from deskhand.model.totals import Counted, Pruned, Scope, Stop, Total, TotalKey
from deskhand.own_tables import OwnTables

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import Connection

T = TypeVar("T")

# --- time and what is announced
# ---------------------------------------------------------------------------------------


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class Sink(Protocol):
    """Takes events as they happen; must not fail the run that emits them."""

    def emit(self, event: AgentEvent) -> None: ...


# --- models
# -----------------------------------------------------------------------------------------------------------  # noqa: E501


class ChatModel(Protocol):
    async def complete(self, request: ChatRequest) -> Completion: ...

    def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]: ...


class Brain(Protocol):
    """Answers typed tasks; raises ModelUnavailable, ModelAnswerInvalid or ModelRefused when it
    cannot."""

    name: str

    async def answer(self, task: Task) -> Answer: ...


class Embeds(Protocol):
    def embed(
        self, texts: Sequence[str], kind: Literal["query", "passage"] = "query"
    ) -> "NDArray[np.float32]":
        """One row of unit length a text; zeros for a text without a word."""
        ...


class SearchesKnowledge(Protocol):
    async def search(
        self,
        question: str,
        *,
        category: str | None = None,
        language: str | None = None,
        limit: int = 5,
    ) -> list[Hit]:
        """The passages that fit best, best first."""
        ...

    async def record_sources(self, run_id: str, hits: Sequence[Hit]) -> None:
        """Remember that a run's answer used these articles as they are now."""
        ...


# --- what a stage may use while it works
# ------------------------------------------------------------------------------

Work = Callable[[], Awaitable[StageResult]]


class StageContext(Protocol):
    """A stage's hold on its run: durable steps, approvals and the place its effects are keyed
    by."""

    run_id: str
    envelope: Envelope
    """The state after every step recorded so far."""

    @property
    def principal(self) -> Principal:
        """Whose authority the run has, whatever its envelope came to say."""
        ...

    async def step(
        self, name: str, work: "StepWork[Stepped]", *, at_once: bool = True
    ) -> "Stepped | StageResult":
        """Return the recorded result of this step, or do the work and record it. The only way to
        make a row.

        Not `at_once`, it is written together with the next one, as `note` does. Work that ends in a
        held call did not happen: `Held` is handed back and not recorded.
        """
        ...

    def note(self, name: str, result: StageResult, latency_ms: float = 0.0) -> StageResult:
        """A step that is written together with the next one: for what a crash may do again without
        harm.

        The state holds it at once; a step of this name that is recorded already stands.
        """
        ...

    def effect_key(self, index: int = 0) -> EffectKey:
        """The key of an effect that the step about to be recorded carries out."""
        ...

    def approval(self, call_hash: str, key: EffectKey) -> Verdict | None:
        """A reviewer's verdict on exactly this call at exactly this place, if one was given:
        good for one call."""
        ...


class ToolGate(Protocol):
    """The only way to run a tool."""

    @property
    def has_policy(self) -> bool: ...

    async def call(
        self,
        tool: str,
        parameters: Mapping[str, Any] | str,
        *,
        allowed: Sequence[str],
        ctx: StageContext,
        index: int = 0,
    ) -> "GateAnswer":
        """Judge a call and run it if nothing speaks against it; `parameters` may be the model's
        text, unread."""
        ...

    async def look_through(
        self, reply: Mapping[str, Any], ctx: StageContext
    ) -> tuple[dict[str, Any], ...]:
        """What would speak against a reply for what it says, without judging or sending it."""
        ...


class GateAnswer(Protocol):
    """A verdict (`allow`, `hold`, `deny`) with the rule that gave it, and the result if the tool
    ran."""

    def record(self) -> dict[str, Any]:
        """The call as its row keeps it."""
        ...

    def review(self, effect_key: str) -> dict[str, Any]:
        """What a reviewer is shown of a held call."""
        ...

    @property
    def requires_escalation(self) -> bool: ...
    @property
    def verdict(self) -> str: ...
    @property
    def rule(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def call_hash(self) -> str: ...
    @property
    def arguments(self) -> dict[str, Any]: ...
    @property
    def result(self) -> ToolResult: ...
    @property
    def latency_ms(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Held:
    """A call that the gate holds: the run stops until a person decides or the desk is resumed."""

    answer: GateAnswer
    key: EffectKey

    @property
    def ask(self) -> Ask:
        """What the reviewer is asked."""
        is_stopped = self.answer.rule == "stopped"
        return Ask(
            kind=ReviewKind.STOPPED if is_stopped else ReviewKind.TOOL_CALL,
            reason=self.answer.reason,
            payload=self.answer.review(str(self.key)),
            causes=(cause_of_rule(self.answer.rule),),
        )


Stepped = TypeVar("Stepped", bound=StageResult | Held)
"""What the work of a step ends in."""
StepWork = Callable[[], Awaitable[Stepped]]


class SearchesWeb(Protocol):
    async def search(self, query: str) -> list[dict[str, str]]:
        """What was found, best first, each with `title`, `url` and `text`; ToolError says why
        nothing could be."""
        ...


class PromptSource(Protocol):
    def render(self, key: str, context: Mapping[str, Any]) -> str: ...

    def render_text(self, text: str, context: Mapping[str, Any]) -> str:
        """Render a short template written in the flow itself, such as a question."""
        ...


class Outbox(Protocol):
    """Where replies leave. `key` names the effect: sending again under it changes nothing,
    `find` says if it left."""

    async def send(self, reply: Reply, key: str) -> str: ...

    async def find(self, key: str) -> str | None: ...


class Intake(Protocol):
    """What a channel hands its messages to."""

    async def hand_in(self, message: Message) -> Accepted:
        """Durable when it returns; the same message again gives the same run."""
        ...

    def well(self) -> None:
        """The channel is connected and has read what there was."""
        ...


class Channel(Protocol):
    """Where messages come from."""

    name: str

    async def listen(self, intake: Intake) -> None:
        """Hand in what arrives until cancelled; raises when the connection is lost."""
        ...

    async def check(self) -> str:
        """Connect and log in, changing nothing: what was found, in words; raises what is wrong."""
        ...

    async def close(self) -> None: ...


class Drafts(Protocol):
    """Where replies wait for a person in a mail program, keyed like those that leave."""

    async def keep_draft(self, reply: Reply, key: str) -> str: ...

    async def find_draft(self, key: str) -> str | None: ...


# --- storage
# ----------------------------------------------------------------------------------------------------------  # noqa: E501


class Journal(Protocol):
    """Append-only rows of runs. A second writer of the same (run, seq) gets Fenced."""

    async def append(self, *rows: StepRow) -> None:
        """Rows of one run, in order; several are in one transaction."""
        ...

    async def rows(self, run_id: str) -> list[StepRow]: ...


class Effects(Protocol):
    """The ledger: intended before it happens, then done, failed or unknown."""

    async def intend(
        self, key: EffectKey, tool: str, call_hash: str, counted: Counted | None = None
    ) -> Effect:
        """Write the intention, or return what is already known under this key.

        In the same transaction: EffectRefused while the desk is stopped or where a limit would be
        exceeded, else the totals grow by what is counted.
        """
        ...

    async def settle(
        self, key: EffectKey, state: EffectState, result: dict[str, Any] | None
    ) -> None: ...

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

    async def count_reviews(self, wanted: ReviewFilter) -> int: ...

    async def review_facets(self) -> Facets:
        """What the open ones may be chosen by."""
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
        """Say whose it is to look at; anybody may still decide it."""
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
        """What happened to a run, in order: how its agents ended, and what people and programs
        did."""
        ...


class Store(Journal, Effects, Reviews, AgentRecords, Protocol):
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
    ) -> None:
        """End or park a running run after its last rows, opening its review in the same
        transaction as that."""
        ...

    async def release(self, run_id: str) -> None:
        """Hand a running run back unharmed (graceful stop): queued again, no crash counted."""
        ...

    async def recover(self) -> int:
        """Queue every run that another owner left running, counting a crash for each. Returns
        how many."""
        ...

    async def queued(self, *, after: int = 0, limit: int = 1000) -> list[Run]:
        """Queued runs in order of acceptance, from position `after` on."""
        ...

    async def run(self, run_id: str) -> Run: ...

    async def runs(
        self,
        *,
        status: RunStatus | None = None,
        conversation: str | None = None,
        limit: int = 100,
        before: int | None = None,
    ) -> list[Run]:
        """Newest first."""
        ...

    async def message(self, run_id: str) -> Message | None:
        """The run's message; None once it was erased."""
        ...

    async def messages(self, run_ids: Sequence[str]) -> dict[str, Message]:
        """The messages of these runs, by run; erased ones are left out."""
        ...

    async def conversation(
        self, conversation: str, *, before: int, limit: int = 20
    ) -> list[ConversationTurn]:
        """Earlier turns, oldest first."""
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
        other status."""
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

    async def take_over(self, conversation: str, by: str) -> None:
        """Keep the desk silent in this conversation until it is given back."""
        ...

    async def give_back(self, conversation: str, by: str) -> bool:
        """Let the desk answer in a conversation that a person had taken over."""
        ...

    async def taken_over_by(self, conversation: str) -> str | None: ...

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

    async def remember_response(
        self, key: str, request_digest: str, response: bytes
    ) -> bytes | None:
        """Keep an API response under an idempotency key; returns the earlier one, Conflict for
        another request."""
        ...


class TrustStore(Protocol):
    """What people and customers made of a desk's replies, and the modes its categories have come
    to."""

    desk: str

    async def judge(self, judgement: Judgement) -> bool:
        """Keep it, once for a run and a kind; False when it was there."""
        ...

    async def left_alone(self, judgement: Judgement) -> bool:
        """Keep that a run's reply left with nobody looking at it; False when somebody did, or it
        is known."""
        ...

    async def complained(self, conversation: str, by_run: str, since: float) -> str | None:
        """Count a complaint against the last reply of the conversation that left alone; that
        reply's run, if any."""
        ...

    async def judgements(
        self, category: str, *, since: float = 0.0, newest: int | None = None
    ) -> list[Judgement]:
        """Those after a moment, oldest first; the newest so many of them."""
        ...

    async def figures(self) -> list[Figure]:
        """How often what was judged, ever, by category and language."""
        ...

    async def mode_changes(self, category: str | None = None) -> list[ModeChange]:
        """Oldest first."""
        ...

    async def change_mode(self, change: ModeChange) -> bool:
        """A category's mode from now on, and an event about it; False when somebody took this
        number before."""
        ...


class SpotChecks(Protocol):
    async def checks(self, run_id: str, category: str | None) -> bool:
        """Whether a person looks at this reply although it could leave by itself."""
        ...


class Threads(Protocol):
    """What has been said in which conversation: to place a mail. What was erased is not known
    any more."""

    async def message_known(self, channel: str, message_id: str) -> ConversationTurn | None:
        """The message that was accepted under this id."""
        ...

    async def reply_sent(self, key: EffectKey) -> ConversationTurn | None:
        """The message that was answered by this delivery, if there was one."""
        ...

    async def messages_from(
        self, address: str, *, since: float, limit: int = 20
    ) -> list[ConversationTurn]:
        """The latest messages that name this address as their sender, newest first."""
        ...

    async def conversation(
        self, conversation: str, *, before: int, limit: int = 20
    ) -> list[ConversationTurn]: ...


class Archive(Protocol):
    """What an auditor reads and leaves behind."""

    desk: str

    async def journals(self, *, after: int = 0, limit: int = 200) -> list[Journaled]:
        """Runs with all their rows in order of acceptance, from position `after` on."""
        ...

    async def save_seal(self, at: float, heads: bytes, mac: str) -> Seal: ...

    async def seals(self) -> list[Seal]: ...


class ApiKeys(Protocol):
    """Keys to the API; secrets are shown once and never stored."""

    async def add(
        self, name: str, scopes: Iterable[str], desks: Iterable[str]
    ) -> tuple[ApiKey, str]: ...

    async def find(self, secret: str) -> ApiKey | None:
        """The key in use that this is the secret of."""
        ...

    async def list(self) -> Sequence[ApiKey]: ...

    async def revoke(self, key_id: str) -> ApiKey: ...


class Users(Protocol):
    """People who log in, and their sessions. Of passwords and session secrets only digests are
    stored."""

    async def add(self, name: str, password: str, desks: Iterable[str]) -> User: ...

    async def list(self) -> Sequence[User]: ...

    async def set_password(self, name: str, password: str) -> User:
        """Every session of the user ends."""
        ...

    async def remove(self, name: str) -> User:
        """Shut a user out at once; the name stays taken, since decisions are signed with it."""
        ...

    async def log_in(self, name: str, password: str, client: str) -> str | None:
        """The secret of a new session; None for a wrong name or password; TooManyLogins after
        many of those."""
        ...

    async def session(self, secret: str) -> Session | None:
        """The session in use that this is the secret of."""
        ...

    async def log_out(self, secret: str) -> None: ...


class KnowledgeStore(Protocol):
    """One desk's index of articles. Every change of it is noticed by the next search, in
    whatever process."""

    desk: str

    async def put(
        self, articles: Sequence[tuple[Article, Sequence[IndexedChunk]]], built_with: str
    ) -> None:
        """Write these articles, each in place of the one with its id: all of them or, on an
        error, none."""
        ...

    async def remove(self, ids: Iterable[str]) -> int: ...

    async def articles(self) -> list[StoredArticle]:
        """All of them, by id; expired ones, too."""
        ...

    async def is_empty(self) -> bool: ...

    async def search(self, query: KnowledgeQuery) -> list[Hit]:
        """Best first, all from one state of the index."""
        ...

    async def record_sources(self, run_id: str, hits: Sequence[Hit]) -> None:
        """Note which articles, as they were, a run's answer used; NotFound for a run that is not
        this desk's."""
        ...

    async def texts_used(self, run_id: str) -> list[str]:
        """What a run's answer was drawn from, as far as the articles still say it."""
        ...

    async def used(self) -> list[tuple[str, str]]:
        """Ids and content hashes of all articles that answers have used."""
        ...

    async def answers_using(self, article: str, content_hash: str) -> list[AnswerSource]: ...


class DeskDatabase(Protocol):
    """Tables of a desk's own. `work` is a plain function of a SQLAlchemy connection, called in one
    transaction.

    Other desks' tables and the engine's are out of its sight. Whatever it raises undoes the
    transaction.
    """

    async def read(self, tables: OwnTables, work: "Callable[[Connection], T]") -> T: ...

    async def write(self, tables: OwnTables, work: "Callable[[Connection], T]") -> T:
        """Committed when it returns; undone again in a rehearsal."""
        ...

    async def once(
        self, tables: OwnTables, key: str, work: "Callable[[Connection], dict[str, Any]]"
    ) -> dict[str, Any]:
        """The same, done once a key: who comes again, or at the same time, is given what the
        first one returned."""
        ...

    def rehearsal(self) -> "DeskDatabase":
        """The same tables, where nothing that is written stays."""
        ...


class Exchanges(Protocol):
    """A desk's answered messages and what their replies said."""

    desk: str

    async def unlearned(self, *, after: int = 0, limit: int = 50) -> list[tuple[int, str]]:
        """Positions and ids of runs that sent a reply nobody has learned from yet, oldest first."""
        ...

    async def keep(self, learned: LearnedExchange) -> bool:
        """Once; False when it is known already, or its run was erased meanwhile."""
        ...

    async def similar(self, query: ExchangeQuery) -> list[FoundExchange]:
        """The likest exchanges that a person let go, of other people than the one who asks."""
        ...

    async def of_owner(self, owner: str, limit: int = 5) -> list[Exchange]:
        """Those of somebody who was proven to be himself, newest first."""
        ...

    async def of_runs(self, run_ids: Sequence[str]) -> dict[str, Exchange]: ...

    async def told_to(self, sentences: Iterable[str]) -> dict[str, int]:
        """How many different people were told each sentence, by its digest."""
        ...


ContactChange = Literal["added", "changed", "unchanged"]


class Contacts(Protocol):
    """The people one desk knows: grown from its mail, and told by files and colleagues."""

    desk: str

    async def find(self, address: str) -> Contact | None: ...

    async def known(self, address: str) -> Contact | None:
        """What people wrote down about this address, without looking at its mail: quick enough
        for every call."""
        ...

    async def list(
        self,
        *,
        tag: str | None = None,
        tier: str | None = None,
        search: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> Sequence[Contact]:
        """By address, from the one after `after` on."""
        ...

    async def put(self, entries: Sequence[ContactEntry], by: str) -> Sequence[ContactChange]:
        """Add what is said to what is known, all of it or nothing; saying the same again changes
        nothing."""
        ...

    async def note(self, address: str, text: str, by: str) -> Contact: ...

    async def tag(
        self, address: str, add: Sequence[str], remove: Sequence[str] = ()
    ) -> Contact: ...

    async def set_tier(self, address: str, tier: str | None) -> Contact: ...


class Calendar(Protocol):
    """When the company is busy, and the times that its conversations hold. Says only when, never
    what."""

    async def busy(self, frame: Span, beside: Collection[str] = ()) -> list[Span]:
        """What is taken in this time: events of people but for those with these uids, and what
        conversations hold."""
        ...

    async def hold(self, new: NewBooking) -> Booking:
        """Take a time for a conversation, in place of what it held; the same key again is the same
        booking.

        SlotTaken when something else is there by now.
        """
        ...

    async def confirm(self, key: str) -> Booking:
        """Make what is held the customer's; SlotTaken when it had expired and somebody else has
        it by now."""
        ...

    async def release(self, key: str, reason: str) -> Booking: ...

    async def find(self, key: str) -> Booking | None:
        """What is held under this key, as far as the calendar outside shows it too."""
        ...

    async def bookings(
        self, *, run_id: str | None = None, state: BookingState | None = None, after: float = 0.0
    ) -> list[Booking]:
        """Those that end after a moment, in order of time."""
        ...

    async def settle(self) -> int:
        """Release what expired, and write outside what could not be written before; returns how
        many that were."""
        ...

    async def check(self) -> str:
        """Connect and look, changing nothing: what was found, in words; raises what is wrong."""
        ...

    async def close(self) -> None: ...


class Lease(Protocol):
    """Keeps two processes from serving one database."""

    async def acquire(self, seconds: float) -> None:
        """AlreadyServed, with who and since when, while another owner's lease holds."""
        ...

    async def renew(self, seconds: float) -> None:
        """Fenced when the lease is somebody else's by now."""
        ...

    async def give_up(self) -> None: ...


class Dispatcher(Protocol):
    """Takes messages in and has each worked once, in order within its conversation."""

    async def start(self) -> None: ...

    async def submit(self, message: Message) -> Accepted: ...

    async def wait(self, run_id: str) -> RunStatus:
        """The run's status as soon as it is neither queued nor running."""
        ...

    async def stop(self, *, grace: float = 10.0) -> None: ...


# --- what capability code brings
# --------------------------------------------------------------------------------------

PreHook = Callable[[Envelope], Envelope | Awaitable[Envelope]]
PostHook = Callable[[Envelope, dict[str, Any]], Envelope | Awaitable[Envelope]]
MockHandler = Callable[[Envelope], dict[str, Any] | Awaitable[dict[str, Any]]]
