"""A declared plan as written in desk.yaml: what is done about an intent when no LLM decides."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from deskhand.config.sections.reply_text import ReplyText, TextsByName, by_language
from deskhand.config.sections.section import Section
from deskhand.config.sections.slots import SlotName
from deskhand.model.frozen import Frozen

REFERENCE = re.compile(r"\{([a-z][a-z0-9_]*(?:\.[A-Za-z0-9_-]+)+)\}")
"""`{slots.order}`: a value from what is known."""
OPTIONAL = re.compile(REFERENCE.pattern.replace(r"\}", r"\?\}"))
"""`{wish.at?}`: the same, and the parameter is left out where it is not known."""
PATH = r"^[a-z][a-z0-9_]*(\.[A-Za-z0-9_-]+)+$"
ROOTS = ("slots", "wish", "message", "outputs", "metadata")
RESULTS = "results"
REPLY_ROOTS = (*ROOTS, RESULTS)
WISHES = (
    *("on", "at", "until", "or_on", "after", "before", "within", "minutes", "zone"),
    *("moment", "change", "old_on", "old_at", "invitation", "called_off"),
)
"""What a message may say about when: `wish.moment` where it is one day and one time, `wish.change`
where an agreed appointment is moved or cancelled."""


class PlanStepSection(Section):
    """One call of a plan: `{tool: find_order, parameters: {order: "{slots.order}"}}`."""

    tool: str = Field(min_length=1)
    """The exact name of a tool."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """What it is called with; `{slots.NAME}` stands for a slot's value, `{outputs.STAGE.FIELD}`
    for a stage's, `{wish.on?}` for what the message says about when, `{results.TOOL.FIELD}` for
    what a call before it found."""
    given: Annotated[str, Field(pattern=PATH)] | None = None
    """What must be known for the call to be made at all, as `wish.moment`."""
    optional: bool = False
    """Whether the reply is as good without what it finds: then a failure keeps nothing back."""


class ReplySection(Section):
    """A reply for one case: `{given: results.hold_slot.held, words: {en: ...}}`."""

    given: Annotated[str, Field(pattern=PATH)]
    """What must be known for it to be said, as `results.hold_slot.held`."""
    words: ReplyText
    """One text, one a language, or `{text: NAME}` for files."""


class PlanSection(Section):
    """What to do about an intent when no LLM decides: slots it needs, tools it calls, what it
    may tell."""

    needs: list[SlotName] = Field(default_factory=list[SlotName])
    """The slots that must be filled first; what is missing or ambiguous is asked for."""
    wants: list[SlotName] = Field(default_factory=list[SlotName])
    """The slots that are used where the customer says them, and never asked for; write
    `{slots.NAME?}` for their values."""
    ask: dict[SlotName, ReplyText] = Field(default_factory=dict)
    """The question for each slot, one text, one a language, or `{text: NAME}` for files:
    `{order: {en: Which order?, cs: Která?}}`."""
    steps: list[PlanStepSection] = Field(default_factory=list[PlanStepSection])
    """The calls, in order; none when the answer lies in the knowledge base."""
    tell: list[str] | None = None
    """The fields of the results that a customer may read, as `[status, day]`; a reply without an
    LLM lists them. With `[]` nothing of them is told: the reply comes from the knowledge base."""
    reply: ReplyText | None = None
    """The reply in the desk's own words: `Your order is {results.find_order.status}.`, one a
    language, or `{text: NAME}` for files."""
    replies: list[ReplySection] = Field(default_factory=list[ReplySection])
    """Replies for certain cases; the first whose `given` and references are all known is said in
    place of `reply`."""
    hand_over: bool = False
    """Whether a colleague answers in any case: then a reply without an LLM only announces one
    and waits for him."""
    opening: ReplyText | None = None
    """How a reply begins in place of the tone's usual first sentence: one text, one a language,
    or `{text: NAME}` for files."""
    pre: ReplyText | None = None
    """What is said before the calls; in a chat it leaves at once, elsewhere it is recorded."""
    post: ReplyText | None = None
    """What is said after calls that all went well; the run ends with it, without a drafting
    stage."""

    def compile(self, texts: TextsByName) -> "DeclaredPlan":
        """Returns the plan with its texts; those written by name are taken from `texts`."""
        ask = {slot: by_language(words, texts) for slot, words in self.ask.items()}
        steps = tuple((step.tool, step.parameters) for step in self.steps)
        given = {index: step.given for index, step in enumerate(self.steps) if step.given}
        optional = tuple(step.tool for step in self.steps if step.optional)
        replies = tuple((reply.given, by_language(reply.words, texts)) for reply in self.replies)
        return DeclaredPlan(
            needs=tuple(self.needs),
            wants=tuple(self.wants),
            ask=ask,
            steps=steps,
            given=given,
            optional=optional,
            tell=None if self.tell is None else tuple(self.tell),
            reply=by_language(self.reply, texts),
            replies=replies,
            hand_over=self.hand_over,
            opening=by_language(self.opening, texts),
            pre=by_language(self.pre, texts),
            post=by_language(self.post, texts),
        )


class FailureQuestion(Frozen):
    """What the customer is asked where a call fails: texts by language."""

    asks: str
    """What the question is for: a slot, or a name of its own, as `proof`."""
    slot: str | None = None
    """The slot whose value answers it."""
    words: dict[str, str] = Field(default_factory=dict)
    """The question."""
    expects: dict[str, str] = Field(default_factory=dict)
    why: dict[str, str] = Field(default_factory=dict)
    otherwise: dict[str, str] = Field(default_factory=dict)
    """What a customer hears who does not answer it: the plan ends with that."""
    then: str | None = None
    """The intent that a "yes" begins."""


class DeclaredPlan(Frozen):
    """A plan that was checked; texts by language, under `ANY_LANGUAGE` where there is one for
    all."""

    needs: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()
    ask: dict[str, dict[str, str]] = Field(default_factory=dict)
    expects: dict[str, dict[str, str]] = Field(default_factory=dict)
    """What a good answer looks like, by slot."""
    why: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Why each slot is needed."""
    clarify_at_most: int | None = None
    errors: dict[str, dict[str, str]] = Field(default_factory=dict)
    """What the customer is told where a call fails, by its error code."""
    failure_questions: dict[str, FailureQuestion] = Field(default_factory=dict)
    """What the customer is asked then, by error code."""
    labels: dict[str, dict[str, str]] = Field(default_factory=dict)
    """What customers read as the name of each slot."""
    steps: tuple[tuple[str, dict[str, Any]], ...] = ()
    given: dict[int, str] = Field(default_factory=dict)
    """What must be known for a step, by its place."""
    optional: tuple[str, ...] = ()
    """Tools whose failure keeps nothing back."""
    tell: tuple[str, ...] | None = None
    reply: dict[str, str] = Field(default_factory=dict)
    replies: tuple[tuple[str, dict[str, str]], ...] = ()
    """What must be known, and what is said then."""
    hand_over: bool = False
    opening: dict[str, str] = Field(default_factory=dict)
    pre: dict[str, str] = Field(default_factory=dict)
    post: dict[str, str] = Field(default_factory=dict)


def references_in(value: Any) -> Iterator[str]:
    """Every `a.b.c` that stands in braces in the texts of a value."""
    if isinstance(value, str):
        yield from REFERENCE.findall(value)
        yield from OPTIONAL.findall(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from references_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from references_in(item)
