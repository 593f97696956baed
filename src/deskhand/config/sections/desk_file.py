"""desk.yaml as written: its top level and its small sections. A new section is one more field of
DeskSection."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from deskhand.config.sections.brain import BrainSection, ModelAwaySection
from deskhand.config.sections.calendar import CalendarSection
from deskhand.config.sections.channels import ChannelName, ChannelSection, Mode
from deskhand.config.sections.mcp import McpSection
from deskhand.config.sections.outgoing import ClauseSpec, Mailbox, OutgoingSpec
from deskhand.config.sections.plans import PlanSection
from deskhand.config.sections.policy import RuleSpec
from deskhand.config.sections.profiles import AgentSection
from deskhand.config.sections.retention import MemorySection, RetentionSection
from deskhand.config.sections.reviews import ReviewsSection
from deskhand.config.sections.routing import MailSection, RoutingSection
from deskhand.config.sections.safeguards import ApprovalsSection, CapsSection
from deskhand.config.sections.section import DeskFile, Section
from deskhand.config.sections.slots import SlotName, SlotSection
from deskhand.config.sections.stage import StageName, StageSection
from deskhand.config.sections.telemetry import TelemetrySection
from deskhand.config.sections.tickets import TicketsSection
from deskhand.config.sections.triage import TriageSection
from deskhand.config.sections.trust import TrustSpec
from deskhand.config.sections.web_search import WebSearchSpec
from deskhand.model.attached_files import LARGEST_FILE, LARGEST_TOGETHER, MOST_FILES

FlowName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=60)]
Role = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=60)]
ModelName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*/\S+$")]


def _models_form(value: Any) -> str:
    return "fall-backs" if isinstance(value, list | tuple) else "model"


ModelNames = Annotated[
    Annotated[ModelName, Tag("model")]
    | Annotated[list[ModelName], Field(min_length=1, max_length=5), Tag("fall-backs")],
    Discriminator(_models_form),
]
"""One model, or several in the order in which they are asked."""


def as_list(names: str | list[str]) -> tuple[str, ...]:
    """The models of a role, in the order in which they are asked."""
    return (names,) if isinstance(names, str) else tuple(names)


Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")]


class ModelPrice(Section):
    """What a model costs, per million tokens."""

    input: float = Field(ge=0)
    """Price of a million tokens that go in."""
    output: float = Field(ge=0)
    """Price of a million tokens that come out."""
    cached_input: float | None = Field(default=None, ge=0)
    """Price of a million tokens that the provider had read before; as `input` if absent."""
    cache_write: float | None = Field(default=None, ge=0)
    """Price of a million tokens that the provider keeps for later; as `input` if absent."""


class ProviderSpec(Section):
    """How to reach the models whose names begin with this provider's name."""

    base_url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    """The endpoint, as `http://localhost:8000/v1`; most known providers need none."""
    key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """The environment variable that holds the key, as `GEMINI_API_KEY`."""
    key_file: DeskFile | None = None
    """The file that holds the key, relative to the desk's folder."""
    prices: dict[str, ModelPrice] = Field(default_factory=dict)
    """Prices by the model's name without the provider, as `{my-model: {input: 1.25, output:
    10}}`; they go before those that `deskhand models list` shows."""
    timeout: float | None = Field(default=None, gt=0)
    """Seconds one request may take."""
    api: Literal["chat_completions", "responses", "messages", "ollama"] | None = None
    """The protocol of the endpoint: `chat_completions` (if absent, for a provider of your own),
    OpenAI's `responses`, Anthropic's `messages` or `ollama`."""
    path: str | None = Field(default=None, pattern=r"^[^/\s]\S*$")
    """The path below `base_url`, as `deployments/{model}/chat/completions`; usually not needed."""
    api_key_header: str | None = Field(default=None, pattern=r"^[A-Za-z0-9-]+$")
    """The header that carries the key, as `x-api-key`; if absent `Authorization: Bearer KEY`."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Headers for every request, as `{OpenAI-Project: proj_1}`."""
    params: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Fields of the request by the model's name, `*` for all: `{gpt-6-luna: {reasoning_effort:
    low}}`; `null` leaves a field out."""
    json_mode: Literal["json_schema", "json_object", "none"] | None = None
    """How far the endpoint can be held to a schema; `json_schema` for most."""
    max_tokens: int | None = Field(default=None, gt=0)
    """The longest answer, thoughts included, where no stage or profile says otherwise."""
    context_tokens: int | None = Field(default=None, gt=0)
    """For `ollama`: how many tokens the server keeps in view; it refuses longer prompts."""


class FlowSection(Section):
    """A flow: the stages a message goes through."""

    start: str | None = None
    """The stage every run begins with; the first one if absent."""
    max_hops: int = Field(default=50, gt=0)
    """How many stages one run may go through before a person looks at it."""
    stages: dict[StageName, StageSection] = Field(min_length=1)
    """The stages by name (lower case letters, digits and underscores), in the order people think
    of them."""


class DailyReplies(Section):
    """How many replies leave by themselves on one day, in the desk's time zone; then they wait
    for a person: `{in_all: 1000, to_unproven: 200}`."""

    in_all: int = Field(default=1000, ge=0)
    """How many leave in all."""
    to_unproven: int = Field(default=200, ge=0)
    """How many of them may go to senders whom nobody vouches for."""


class Limits(Section):
    """What the desk takes in at most."""

    max_message_bytes: int = Field(default=25_000_000, gt=0)
    """The largest message that is accepted, in bytes."""
    max_attachment_bytes: int = Field(default=LARGEST_FILE, ge=0)
    """The largest attached file that is kept, in bytes; of larger ones the name stays."""
    max_attachments: int = Field(default=MOST_FILES, ge=0, le=100)
    """How many attached files of one message are kept."""
    max_attachments_bytes: int = Field(default=LARGEST_TOGETHER, ge=0)
    """How many bytes of attached files are kept of one message in all."""
    max_in_flight: int = Field(default=64, gt=0)
    """How many runs are worked side by side."""
    max_backlog: int = Field(default=10_000, gt=0)
    """How many messages may wait before new ones are turned away."""
    replies_per_hour: int = Field(default=10, gt=0)
    """How many replies may leave in one conversation, or to one sender, within an hour before a
    person looks."""
    replies_per_day: DailyReplies = Field(default_factory=DailyReplies.model_construct)
    """How many replies may leave on one day before a person looks at every further one."""
    replies_per_run: int = Field(default=1, gt=0, le=20)
    """How many replies an agent may write to one message with `send_reply` and `create_draft`."""
    keep_responses_days: int = Field(default=30, gt=0, le=3650)
    """For how many days a repeated API request gets the answer of the first one; then its
    Idempotency-Key is new."""
    keep_totals_days: int = Field(default=90, gt=0, le=3650)
    """For how many days it is kept what was counted for a day, or for a conversation in which
    nothing happens."""


class DeskSection(Section):
    """A desk: which messages it works, with which models, through which flows."""

    desk: str = Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=60)
    """The desk's name: lower case letters, digits and dashes, beginning with a letter, as
    `acme-support`."""
    languages: list[Language] = Field(default=["en"], min_length=1)
    """The languages the desk answers in, as codes: `[en, cs]`."""
    models: dict[Role, ModelNames] = Field(default_factory=dict)
    """Models by role, as `fast: gemini/gemini-3.8-flash`; `default`, else the first, serves
    stages that name none. In a list, `[a/x, b/y]`, the next is asked where one cannot be."""
    providers: dict[str, ProviderSpec] = Field(default_factory=dict)
    """How to reach the providers the models' names begin with."""
    model_away: ModelAwaySection = Field(default_factory=ModelAwaySection.model_construct)
    """How long messages wait for a model that cannot be reached, and who takes over then."""
    brain: BrainSection | None = None
    """Who answers: `embedded` (the default without `models`), `llm` (with), `cascade`, settings,
    `{scripted: FILE}`."""
    flows: dict[FlowName, FlowSection] = Field(default_factory=dict)
    """The flows by name."""
    default_flow: str | None = None
    """The flow of a message that nothing else routes; needed only with several flows."""
    limits: Limits = Field(default_factory=Limits.model_construct)
    """How large a message may be, how many runs go side by side, how many messages may wait."""
    retention: RetentionSection = Field(default_factory=RetentionSection.model_construct)
    """For how long records are kept, as `{runs: 90d}`; without it, for ever."""
    memory: MemorySection = Field(default_factory=MemorySection.model_construct)
    """How much of a conversation is remembered, as `{turns: 8, tokens: 1500}`."""
    slots: dict[SlotName, SlotSection] = Field(default_factory=dict)
    """The values to find in messages, by name: `{order: {type: order_number, prefix: [P]}}`."""
    plans: dict[str, PlanSection] = Field(default_factory=dict)
    """What to do about a category when no LLM decides, by category."""
    time_zone: str = "UTC"
    """The zone in which the desk counts days and hours, as `Europe/Prague`."""
    policy: list[RuleSpec] | None = None
    """Rules over tool calls, the first that matches decides; may stand in a file `policy.yaml`
    instead."""
    caps: CapsSection = Field(default_factory=CapsSection.model_construct)
    """How many messages, how much money and how much model spend pass without a person."""
    approvals: ApprovalsSection = Field(default_factory=ApprovalsSection.model_construct)
    """How long an approval holds, and when two people must give it."""
    recipients: list[Mailbox] = Field(default_factory=list[Mailbox])
    """Addresses beside the customer's own that something may be sent to, as
    `warehouse@acme.example`."""
    outgoing: OutgoingSpec = Field(default_factory=OutgoingSpec.model_construct)
    """The hosts, addresses and numbers a reply may name."""
    commitments: list[ClauseSpec] = Field(default_factory=list[ClauseSpec])
    """What the company stands behind: what a reply may promise without a tool having done it."""
    channels: dict[ChannelName, ChannelSection] = Field(default_factory=dict)
    """Where messages come from and replies leave, by name: `{support: {imap: {...}, smtp: {...},
    identity: ...}}`."""
    mode: Mode | None = None
    """What happens to replies: `draft` (if absent) keeps them for a person, `auto` sends them,
    `shadow` only records them."""
    modes: dict[str, Mode] = Field(default_factory=dict)
    """Modes by category, as `{inquiry: auto, else: draft}`; without `else` all others are
    `draft`."""
    trust: TrustSpec | None = None
    """How categories earn the modes above, beginning lower; without it they have them at once
    and keep them."""
    undo_seconds: float = Field(default=30, ge=0, le=86400)
    """How long a reply waits, after all said yes, before it really leaves; 0 for not at all."""
    routing: RoutingSection = Field(default_factory=RoutingSection.model_construct)
    """Which message takes which flow or goes to which agent."""
    agent: AgentSection = Field(default_factory=AgentSection.model_construct)
    """Agents that work messages with tools: `{profiles: {NAME: {...}}}`."""
    mail: MailSection = Field(default_factory=MailSection.model_construct)
    """Whose word counts about who sent a mail."""
    web_search: WebSearchSpec | None = None
    """The search engine behind the tool `web_search`; without one the tool is not offered."""
    calendar: CalendarSection = Field(default_factory=CalendarSection.model_construct)
    """Which times are free: where the calendar lies, when somebody is there, how long an
    appointment is."""
    reviews: ReviewsSection = Field(default_factory=ReviewsSection.model_construct)
    """How long things wait for a person, and the replies that reviewers have at hand."""
    triage: TriageSection | None = None
    """What the services `supervise`, `specialise`, `escalate` and `file` judge by: issues, the
    urgency table, escalation triggers."""
    tickets: TicketsSection = Field(default_factory=TicketsSection.model_construct)
    """How soon tickets are answered and solved, and macros: `{sla: [{urgency: critical,
    first_response: 1 hour}], macros: {...}}`."""
    telemetry: TelemetrySection = Field(default_factory=TelemetrySection.model_construct)
    """Who is told what the stages of conversations do: `{sql: true}`; nobody if absent."""
    mcp: McpSection = Field(default_factory=McpSection.model_construct)
    """Servers that bring tools: `{servers: {NAME: {command: [...]}}, tools: {NAME.TOOL: {effect:
    read}}}`."""
