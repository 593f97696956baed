"""One call before the gate: what is known about it, what the operator laid down, and what a rule
may answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from deskhand.config.sections.outgoing import ClauseSpec, OutgoingSpec
from deskhand.model.codes import ErrorCode
from deskhand.model.knowledge import CitedText
from deskhand.model.message import Reply
from deskhand.model.money import Money
from deskhand.model.plan import DoneCall
from deskhand.model.principal import ANONYMOUS, Principal
from deskhand.model.results import ToolErrorDetails, ToolResult
from deskhand.model.run import Decision, Effect, EffectKey, Verdict
from deskhand.model.totals import Limit, Stop
from deskhand.model.value_readings import MAPPINGS, Reading
from deskhand.outgoing.content_finding import ContentFinding
from deskhand.policy.call_facts import BESIDE, CallFacts
from deskhand.policy.rule_policy import Policy
from deskhand.ports import StageContext
from deskhand.tools.authority import Authority
from deskhand.tools.message_facts import MessageFact
from deskhand.tools.registry import Tool
from deskhand.tools.schema import Arguments, ArgumentsInvalid

if TYPE_CHECKING:
    from deskhand.outgoing.commitments import Commitment
    from deskhand.outgoing.grounding import Grounding
    from deskhand.outgoing.grounds import Grounds
    from deskhand.outgoing.unbacked_claim import UnbackedClaim

WEEK = 7 * 24 * 3600.0


class ReplyFindings(NamedTuple):
    """What in a reply may not simply leave."""

    content: "list[ContentFinding]"
    promises: "list[Commitment]"
    """Those that nothing stands behind."""
    claims: "list[UnbackedClaim]"
    """Of a reply that a model wrote: what nothing quoted backs."""
    subjects: "list[UnbackedClaim]"
    """Of a reply that a model wrote: sentences about what only people answer."""
    compared: "ComparedReply | None" = None
    """How a reply that a model wrote was held against what it may rest on."""


class ComparedReply(NamedTuple):
    """A reply that a model wrote, and what it may rest on."""

    grounds: "Grounds"
    grounding: "Grounding"


class Ruling(NamedTuple):
    """Why a call may not simply run."""

    verdict: Literal["hold", "deny"]
    rule: str
    reason: str
    """Why, in words for the reviewer."""
    code: ErrorCode = ErrorCode.TOOL_HELD
    details: ToolErrorDetails | None = None
    say: str = ""
    """All that the model learns, where the reason is not for it."""
    liftable: bool = True
    """Whether a person's approval lets a held call pass."""
    requires_escalation: bool = False
    findings: tuple[dict[str, Any], ...] = ()
    """What in the call gave offence, for the reviewer's screen."""

    @property
    def result(self) -> ToolResult:
        can_change = self.verdict == "deny" and self.code is not ErrorCode.TOOL_REJECTED
        details = ToolErrorDetails(
            error_type=self.code, message=self.say or self.reason, recoverable=can_change
        )
        return ToolResult.failure(self.details or details)


def deny(rule: str, reason: str, say: str = "", code: ErrorCode = ErrorCode.TOOL_DENIED) -> Ruling:
    return Ruling("deny", rule, reason, code, say=say, liftable=False)


def hold(rule: str, reason: str, say: str = "", *, liftable: bool = True) -> Ruling:
    return Ruling("hold", rule, reason, say=say, liftable=liftable)


@dataclass(frozen=True, slots=True)
class Terms:
    """What the desk's operator laid down."""

    policy: Policy | None = None
    recipients: frozenset[str] = frozenset()
    """Addresses that anybody's matter may be sent to, in lower case."""
    unread: frozenset[str] = frozenset()
    """Our own addresses and those of helpdesks, in lower case: no customer reads a reply there."""
    caps: tuple[Limit, ...] = ()
    approval_lasts: float = WEEK
    four_eyes_over: Money | None = None
    time_zone: tzinfo = UTC
    constants: Mapping[str, Mapping[str, Sequence[Any]]] = field(
        default_factory=dict[str, Mapping[str, Sequence[Any]]]
    )
    """Values that desk.yaml's own plans write, by tool and parameter."""
    outgoing: OutgoingSpec = field(default_factory=OutgoingSpec)
    """What a reply may name."""
    own_texts: tuple[str, ...] = ()
    """What the desk's owner wrote: replies, questions, prompts, signatures."""
    always_ask: frozenset[str] = frozenset()
    """Categories whose replies only a person lets go."""
    own_questions: frozenset[str] = frozenset()
    """Questions to the customer that the desk's owner wrote, word for word."""
    clauses: tuple[ClauseSpec, ...] = ()
    """What a reply may promise."""
    effects: Mapping[str, str] = field(default_factory=dict[str, str])
    """What each tool may change, by its name."""
    outside: frozenset[str] = frozenset()
    """Tools whose results strangers may have written: they stand behind nothing."""
    model_outputs: frozenset[str] = frozenset()
    """Outputs that a model writes: what they call a result is only its word."""
    message_facts: tuple[MessageFact, ...] = ()
    """What the desk's own code tells of messages."""
    trusted_outputs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Outputs that tools and services alone write, each with its stage."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """What the key in one argument turned out to mean."""

    argument: str
    key: str
    kind: type[Authority]
    things: tuple[Authority, ...]

    def chosen_for(self, principal: Principal) -> Authority:
        """What the tool is given: his own, where the key means several things."""
        own = [thing for thing in self.things if thing.belongs_to(principal)]
        return (own or self.things)[0]


@dataclass(slots=True)
class GateCall:
    """One call on its way through the rules. What is looked up comes after the rules that need
    nothing looked up."""

    name: str
    given: dict[str, Any]
    note: str | None
    """Why the model's arguments could not be read."""
    allowed: tuple[str, ...]
    ctx: StageContext
    key: EffectKey
    tool: Tool | None
    checked: Arguments | ArgumentsInvalid | None
    hash: str = ""
    now: float = 0.0
    live: bool = True
    started: float = 0.0
    """By the clock of `time.perf_counter`."""
    principal: Principal = ANONYMOUS
    approval: Verdict | None = None
    lookups: list[Lookup] = field(default_factory=list[Lookup])
    offered: frozenset[tuple[str, str]] = frozenset()
    """(argument, key) of things that an earlier tool result held, by their `id`."""
    origin: dict[str, str] = field(default_factory=dict[str, str])
    read: dict[str, Reading] = field(default_factory=dict[str, Reading])
    """How each argument was read, as far as that is known."""
    said_to_be_read: dict[str, Reading] = field(default_factory=dict[str, Reading])
    """Those of the readings that a stage declared."""
    facts: CallFacts | None = None
    effects: list[Effect] = field(default_factory=list[Effect])
    """What this run has done or tried so far."""
    stop: Stop | None = None
    """The desk's stop switch, asked here for what a crash left open; else where the intention is
    written."""
    limits: tuple[Limit, ...] = ()
    """Held against the totals in the transaction that writes the intention."""
    heeds_stop: bool = False
    articles: tuple[CitedText, ...] = ()
    """Articles that this run's drafts were given, piece by piece."""
    others: tuple[str, ...] = ()
    """Words of a reply that name what belongs to somebody else."""
    done: tuple[DoneCall, ...] = ()
    """What the plan that this call belongs to had done before it asked the customer."""
    reply: Reply | None = None
    """What one of the engine's own calls would send, once it was read."""
    looked_through: "ReplyFindings | None" = None
    """What a reply's checks found, once they were made."""

    @property
    def cited(self) -> tuple[str, ...]:
        """The articles' texts, as they are."""
        return tuple(article.text for article in self.articles)

    @property
    def arguments(self) -> Arguments:
        assert isinstance(self.checked, Arguments)
        return self.checked

    @property
    def admitted_tool(self) -> Tool:
        assert self.tool is not None
        return self.tool

    @property
    def canonical(self) -> dict[str, Any]:
        return self.checked.canonical if isinstance(self.checked, Arguments) else self.given

    @property
    def earlier_effect(self) -> Effect | None:
        """What an earlier attempt at this very call left in the ledger."""
        return next((effect for effect in self.effects if effect.key == self.key), None)

    @property
    def done_before(self) -> DoneCall | None:
        """This very call, where the plan had carried it out before it asked the customer."""
        return next((call for call in self.done if call.call_hash == self.hash), None)

    @property
    def is_approved(self) -> bool:
        return self.approval is not None and self.approval.decision is Decision.APPROVE

    @property
    def approved_by(self) -> tuple[str, ...]:
        """Everybody who approved exactly this call."""
        return self.approval.people if self.approval is not None and self.is_approved else ()

    @property
    def open_amounts(self) -> list[Money]:
        """What a call moves that names no amount, as its tool declares; looked up with its
        objects."""
        declared = self.admitted_tool.open_amount
        if declared is None or amounts_in(self.arguments.values):
            return []
        parameter, field_name = declared
        meant = [lookup for lookup in self.lookups if lookup.argument == parameter]
        objects = [lookup.chosen_for(self.principal) for lookup in meant if lookup.things]
        return [getattr(thing, field_name) for thing in objects]

    @property
    def money(self) -> dict[str, Money]:
        """What the call moves, by currency."""
        moved: dict[str, Money] = {}
        for amount in amounts_in(self.arguments.values) or self.open_amounts:
            sum_so_far = moved.get(amount.currency)
            moved[amount.currency] = amount if sum_so_far is None else sum_so_far + amount
        return moved


def amounts_in(value: Any) -> list[Money]:
    """All amounts of money in a value, however deep."""
    if isinstance(value, Money):
        return [value]
    items: Iterable[Any] = ()
    if isinstance(value, MAPPINGS):
        items = value.values()
    elif isinstance(value, list | tuple):
        items = value
    amounts: list[Money] = []
    for item in items:
        if item is not None and not isinstance(item, str):  # as most are: nothing to look into
            amounts += amounts_in(item)
    return amounts


@dataclass(frozen=True, slots=True)
class GateAnswer:
    """The verdict, the rule that gave it, and the tool's result or why it did not run."""

    tool: str
    verdict: Literal["allow", "hold", "deny"]
    rule: str
    reason: str
    call_hash: str
    arguments: dict[str, Any]
    result: ToolResult
    latency_ms: float = 0.0
    decision_ms: float = 0.0
    """What judging took, without look-ups and without the tool."""
    origin: dict[str, str] = field(default_factory=dict[str, str])
    read: dict[str, Reading] = field(default_factory=dict[str, Reading])
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    findings: tuple[dict[str, Any], ...] = ()
    approved_by: tuple[str, ...] = ()
    approvals_needed: int = 1
    moves: tuple[str, ...] = ()
    """The amounts of money that the call would move."""
    requires_escalation: bool = False
    took_effect: bool = False
    """Whether the call changed something."""

    def record(self) -> dict[str, Any]:
        """The call as its row keeps it."""
        fields: dict[str, Any] = {
            "tool": self.tool,
            "arguments": self.arguments,
            "verdict": self.verdict,
            "rule": self.rule,
            "ok": self.result.ok,
            "latency_ms": round(self.latency_ms, 3),
            "decision_ms": round(self.decision_ms, 3),
            "origin": self.origin,
            "read": self.read,
            "facts": {name: fact for name, fact in self.facts.items() if name not in BESIDE},
        }
        if self.reason:
            fields["reason"] = self.reason
        if self.requires_escalation:
            fields["requires_escalation"] = True
        if self.approved_by:
            fields["approved_by"] = list(self.approved_by)
        return fields

    def review(self, effect_key: str) -> dict[str, Any]:
        """What a reviewer is shown of a held call, and what the approval is bound to."""
        fields: dict[str, Any] = {
            "tool": self.tool,
            "arguments": self.arguments,
            "call_hash": self.call_hash,
            "effect_key": effect_key,
            "rule": self.rule,
            "origin": self.origin,
            "read": self.read,
        }
        if self.findings:
            fields["findings"] = list(self.findings)
        if self.approvals_needed > 1:
            fields["approvals_needed"] = self.approvals_needed
        if self.moves:
            fields["moves"] = list(self.moves)
        return fields
