"""What a file of golden cases may hold, and its JSON Schema.

The words under each field become its description in the schema.
"""

from typing import Annotated, Any, Literal, cast

from pydantic import Discriminator, Field, Tag

from deskhand.config.schema import DRAFT, Schema, condition_definitions, tidy
from deskhand.config.sections.channels import Mode
from deskhand.config.sections.section import Section
from deskhand.evals.case_values import Call, Text, Texts, form_of
from deskhand.evals.ticket_sections import GivenTicketSection, TicketChoice, TriageExpectSection

Status = Literal[
    "queued",
    "running",
    "waiting_user",
    "waiting_review",
    "sent",
    "answered",
    "done",
    "rejected",
    "needs_review",
    "failed",
    "cancelled",
]
VerdictName = Literal["allow", "hold", "deny"]
DecisionName = Literal[
    "approve", "edit", "revise", "reject", "take_over", "retry", "close", "answer"
]
Statuses = Annotated[
    Annotated[Status, Tag("text")] | Annotated[list[Status], Field(min_length=1), Tag("list")],
    Discriminator(form_of),
]


class MessageSection(Section):
    """A message: `{from: ann@example.com, subject: ..., body: ...}`."""

    from_: str | None = Field(default=None, alias="from", min_length=1)
    """Who writes; `customer@example.com` if absent."""
    name: str | None = None
    """The sender's name."""
    subject: str | None = None
    """The subject."""
    body: str | None = None
    """What the customer writes."""
    channel: str | None = Field(default=None, min_length=1)
    """The channel it came by; `api` if absent."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Mail headers by name."""
    recipients: list[Text] = Field(default_factory=list)
    """Whom it was sent to."""
    cc: list[Text] = Field(default_factory=list)
    """Who got a copy."""
    customer_id: str | None = Field(default=None, min_length=1)
    """The customer, as somebody who may say so would have said."""
    customer_tier: str | None = Field(default=None, min_length=1)
    """The customer's tier."""
    customer_info: dict[str, Any] = Field(default_factory=dict)
    """With `customer_id`: plan, tenure_months, seats and region of the customer."""
    conversation: str | None = Field(default=None, min_length=1, max_length=100)
    """The conversation of this turn; turns that name none share one. So a case may have several
    conversations of one customer."""
    authenticated: bool = False
    """Whether the receiving mail server proved that the sender's address is his."""
    received_at: str | None = Field(default=None, min_length=1)
    """When it came, as 2026-03-02T09:30:00Z; now if absent."""


Message = Annotated[
    Annotated[MessageSection, Tag("mapping")] | Annotated[Text, Tag("text")], Discriminator(form_of)
]
"""A message, or the name of a message file in the desk's folder."""


class GivenResultSection(Section):
    """A result for calls with these arguments."""

    when: dict[str, Any] = Field(default_factory=dict)
    """Arguments the call must have; others do not matter."""
    result: dict[str, Any]
    """What the tool answers; `{error: words}` for a failure."""


GivenTool = Annotated[
    Annotated[dict[str, Any], Tag("mapping")]
    | Annotated[list[GivenResultSection], Field(min_length=1), Tag("list")],
    Discriminator(form_of),
]


Arguments = Annotated[
    Annotated[dict[str, Any], Tag("mapping")] | Annotated[str, Tag("text")],
    Discriminator(form_of),
]
Calls = Annotated[
    Annotated[dict[str, Arguments], Tag("mapping")]
    | Annotated[list[dict[str, Arguments]], Tag("list")],
    Discriminator(form_of),
]


class SaidSection(Section):
    """One turn of an agent's model: calls, words, or both."""

    call: Calls = Field(default_factory=dict[str, Any])
    """Calls by tool: `{find_order: {order: P-1}}`; a list of those where a tool is called twice."""
    say: str = ""
    """Its words; in the last turn, the reply."""
    cut_off: bool = False
    """Whether its words were cut off at the limit of tokens."""


class GivenSection(Section):
    """What the sandbox answers in place of the world."""

    tools: dict[str, GivenTool] = Field(default_factory=dict)
    """Results by tool: `{find_order: {status: lost}}`, or a list of `{when: {order: P-1},
    result: {...}}`."""
    agent: list[SaidSection] = Field(default_factory=list)
    """What the model of the desk's agent says, turn by turn; it is not asked then, and no key is
    needed."""
    tickets: list[GivenTicketSection] = Field(default_factory=list)
    """Tickets that there are before the first turn."""


class ReviewerSection(Section):
    """What a person decides about the reply or the call that waits."""

    decision: DecisionName
    """approve, edit, revise, reject, take_over, retry, close or answer."""
    note: str | None = None
    """The reason, or the instruction of a revision."""
    text: str | None = Field(default=None, min_length=1)
    """With `edit` and `answer`: the text of the reply."""


Reviewer = Annotated[
    Annotated[DecisionName, Tag("text")] | Annotated[ReviewerSection, Tag("mapping")],
    Discriminator(form_of),
]


class CaseReplySection(Section):
    """The reply, or the question, that the run wrote to the customer."""

    contains: Texts | None = None
    """Every one of these stands in it; case does not matter."""
    not_contains: Texts | None = None
    """None of these stands in it."""
    matches: str | None = Field(default=None, min_length=1)
    """An RE2 pattern that is found in it."""
    equals: str | None = Field(default=None, min_length=1)
    """Its whole text; space at the ends of lines does not matter."""
    subject: str | None = Field(default=None, min_length=1)
    """Its subject."""
    to: str | None = Field(default=None, min_length=1)
    """The address it goes to."""
    language: str | None = Field(default=None, pattern=r"^[a-z]{2,3}$")
    """The language of its text, as a code: `en`."""
    promises_backed: bool | None = None
    """Whether every amount, date and action it promises stands in a tool's result or in one of
    the desk's clauses."""


class ReviewSection(Section):
    """What a person is asked to look at."""

    kind: Literal["reply", "tool_call", "hand_over", "follow_up"] | None = None
    """A reply, a tool call, a run that is handed over, or an answer that is owed."""
    contains: Texts | None = None
    """Words of the reason."""


Reply = Annotated[
    Annotated[CaseReplySection, Tag("mapping")] | Annotated[bool, Tag("bool")],
    Discriminator(form_of),
]
Review = Annotated[
    Annotated[ReviewSection, Tag("mapping")]
    | Annotated[Text, Tag("text")]
    | Annotated[bool, Tag("bool")],
    Discriminator(form_of),
]
Verdict = Annotated[
    Annotated[VerdictName, Tag("text")] | Annotated[dict[str, VerdictName], Tag("mapping")],
    Discriminator(form_of),
]


class FactPatternSection(Section):
    """A fact as a pattern."""

    matches: str = Field(min_length=1)
    """An RE2 pattern that is found in the reply; case does not matter, `^` and `$` are lines."""


Fact = Annotated[
    Annotated[Text, Tag("text")]
    | Annotated[list[Text], Field(min_length=1), Tag("list")]
    | Annotated[FactPatternSection, Tag("mapping")],
    Discriminator(form_of),
]
"""Words, a list of wordings of which one will do, or a pattern."""


class AskSection(Section):
    """Something that the customer asks, and what answers it."""

    ask: str = Field(min_length=1)
    """Words of the question, as the customer put it."""
    says: list[Fact] = Field(default_factory=list)
    """What the reply says about it; each of these."""
    article: str | None = Field(default=None, min_length=1)
    """The article that answers it."""
    answered: bool = True
    """`false`: nothing answers it, so the reply may not leave by itself and may not pretend."""


Acts = Annotated[
    Annotated[Literal[True], Tag("bool")] | Annotated[list[Call], Field(min_length=1), Tag("list")],
    Discriminator(form_of),
]


class ExpectSection(Section):
    """What must be true once the run rests; what is not named does not matter."""

    route: str | None = Field(default=None, min_length=1)
    """`pipeline` or `agent`."""
    profile: str | None = Field(default=None, min_length=1)
    """The agent profile it was routed to."""
    rule: str | None = Field(default=None, min_length=1)
    """The routing rule that chose the route."""
    flow: str | None = Field(default=None, min_length=1)
    """The flow the message went through."""
    category: Texts | None = None
    """The category found, or a list of those that will do."""
    classification: Texts | None = None
    """The same as `category`."""
    intent: Texts | None = None
    """The intent found, or a list of those that will do."""
    slots: dict[str, Any] = Field(default_factory=dict)
    """Values found in the message, by slot; others do not matter."""
    plan: list[Call] | None = None
    """The steps of the plan in order: tools with arguments, `respond`, `ask_user`."""
    tools: list[Call] | None = None
    """The tool calls in order, all of them: `name` or `{name: {argument: value}}`; `[]` for
    none."""
    called: list[Call] | None = None
    """Tools that were called in this order, whatever the gate said; other calls may lie between."""
    not_called: list[Call] | None = None
    """Tools that were not called at all, or not with these arguments: `{send_reply: {to:
    eve@example.com}}`."""
    verdict: Verdict | None = None
    """The gate's strictest verdict on the calls, or verdicts by tool: `{open_return: hold}`."""
    review: Review | None = None
    """Words of the reason why a person is asked; `{kind, contains}`; `false` when nobody must
    be."""
    status: Statuses | None = None
    """Where the run came to rest, or a list of statuses that will do."""
    error: str | None = Field(default=None, min_length=1)
    """The stable code of the error that stopped the run."""
    reply: Reply | None = None
    """What the reply contains and what not; `false` when there must be none."""
    must_say: list[Fact] | None = Field(default=None, min_length=1)
    """Facts that a right reply states: words, a list of wordings of which one will do, or
    `{matches: PATTERN}`. `2,150 EUR` and `2.150 €`, `9:00` and `9 am`, `five` and `5` are one;
    case, accents and the endings of words do not matter."""
    must_not_say: list[Fact] | None = Field(default=None, min_length=1)
    """What no right reply states."""
    asks: list[AskSection] | None = Field(default=None, min_length=1)
    """What the customer asks, each with what answers it."""
    must_not_act: Acts | None = None
    """`true`: no call that changes something was carried out; or these calls were not."""
    language: str | None = Field(default=None, pattern=r"^[a-z]{2,3}$")
    """The language of the reply: short for `reply: {language: en}`."""
    telemetry: list[Call] | None = None
    """What the run tells in this order, others may lie between: a stage as `tool_execute`, or with
    fields of its payload and its level: `{policy_check: {allowed: false, level: warn}}`."""
    triage: TriageExpectSection | None = None
    """What a triage desk found out and recommends."""
    ticket: TicketChoice | None = None
    """The ticket that it continues, or `new`; `{joins, evidence, reopens}` for more."""
    stages: list[Text] | None = None
    """Stages the run went through in this order; others may lie between."""
    asks_for: str | None = Field(default=None, min_length=1)
    """What the customer is asked for."""
    holds: dict[str, Any] | None = None
    """A condition over the run document: `{outputs.classify.confidence: {at_least: 0.8}}`."""
    judge: Texts | None = None
    """Criteria in words that a model judges the reply by; only with `--judge`."""
    score: dict[str, Any] = Field(default_factory=dict)
    """The desk's own scorers by name, each with what it expects."""


class TurnSection(Section):
    """One turn of a conversation: the customer writes, or a reviewer decides."""

    customer: Message | None = None
    """What the customer writes: text, or a message with its fields."""
    reviewer: Reviewer | None = None
    """What a person decides about what waits: `approve`, or `{decision: edit, text: ...}`."""
    given: GivenSection | None = None
    """What the sandbox answers from this turn on."""
    expect: ExpectSection | None = None
    """What must be true after this turn."""


class CaseSection(Section):
    """A golden case: a message or a conversation, and what must come of it."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]*$", max_length=120)
    """Its name, unique on the desk."""
    tags: list[Text] = Field(default_factory=list)
    """Words to choose cases and to report them apart by: `[blind]`; `author` if absent."""
    why: str | None = None
    """Why the case is there, or why it was corrected."""
    mode: Mode | None = None
    """The mode in which the desk answers, whatever desk.yaml says: `auto`, `draft` or `shadow`."""
    known_failure: str | None = Field(default=None, min_length=1)
    """Why the desk does not meet this case yet. It is reported apart and fails nothing; as soon as
    it is met, it fails until this line is gone."""
    message: Message | None = None
    """The message, or the name of a message file in the desk's folder."""
    from_: str | None = Field(default=None, alias="from", min_length=1)
    """Who writes, for all turns."""
    subject: str | None = None
    """The subject, for all turns."""
    turns: list[TurnSection] = Field(default_factory=list)
    """A conversation in place of one message."""
    given: GivenSection | None = None
    """What the sandbox answers in place of the world."""
    expect: ExpectSection | None = None
    """What must be true at the end."""


class CasesSection(Section):
    """A file of golden cases."""

    tags: list[Text] = Field(default_factory=list)
    """Tags of every case in this file."""
    mode: Mode | None = None
    """The mode of the cases that name none; the desk's own, as it starts, if absent. With `auto`
    they show what would leave by itself."""
    cases: list[CaseSection] = Field(min_length=1)
    """The cases."""


def cases_schema() -> Schema:
    """Returns the schema that editors complete and check a file of cases with.

    It checks what can be seen in the file alone; `deskhand eval` checks names against the desk.
    """
    schema = cast(Schema, tidy(CasesSection.model_json_schema(by_alias=True)))
    schema["$defs"] |= condition_definitions()
    expect: Schema = schema["$defs"]["ExpectSection"]["properties"]
    expect["holds"] = {"$ref": "#/$defs/Condition", "description": expect["holds"]["description"]}
    case: Schema = schema["$defs"]["CaseSection"]
    case["oneOf"] = [{"required": ["message"]}, {"required": ["turns"]}]
    turn: Schema = schema["$defs"]["TurnSection"]
    turn["oneOf"] = [{"required": ["customer"]}, {"required": ["reviewer"]}]
    return {"$schema": DRAFT, "title": "Deskhand golden cases", **schema}
