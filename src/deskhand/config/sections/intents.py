"""An intent as written in intents.yaml: for whom it counts, what it needs to know, what is done."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from deskhand.config.sections.plans import (
    DeclaredPlan,
    FailureQuestion,
    PlanSection,
    PlanStepSection,
    ReplySection,
)
from deskhand.config.sections.reply_text import ReplyText, TextsByName, by_language
from deskhand.config.sections.section import Section
from deskhand.config.sections.slots import SlotName
from deskhand.model.frozen import Frozen

CLARIFY_AT_MOST = 3
"""How often the customer is asked for the same thing where nothing else is written."""

Name = Annotated[str, Field(min_length=1, max_length=100)]
ErrorName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=100)]
ErrorTexts = dict[ErrorName, ReplyText]
"""What is said where a call fails, by its error code: `{already_shipped: {en: ..., cs: ...}}`."""


class IntentSlotSection(Section):
    """What is said about a slot: `{ask: {en: Which order is it?}, why: {en: ...}}`."""

    ask: ReplyText | None = None
    """The question for it: one text, one a language, or `{text: NAME}` for files."""
    expects: ReplyText | None = None
    """What a good answer looks like, said to an answer that is none: `A number as O-12345.`"""
    why: ReplyText | None = None
    """Why it is needed, for a customer who asks."""


class FailureQuestionSection(Section):
    """A failed call whose words under `errors` are a question: `{asks: amount}`."""

    asks: Name
    """What it asks for: a slot, `confirm` for yes or no, or a name of its own, as `proof`."""
    slot: SlotName | None = None
    """The slot whose value answers it, where `asks` names none."""
    expects: ReplyText | None = None
    """What a good answer looks like, said to an answer that is none."""
    why: ReplyText | None = None
    """Why it is asked, for a customer who wants to know."""
    otherwise: ReplyText | None = None
    """What a customer hears who does not answer it; without it he is asked again."""
    then: Name | None = None
    """The intent that a "yes" begins, with all that is known."""

    def compile(self, words: ReplyText | None, texts: TextsByName) -> FailureQuestion:
        """The question with its texts; `words` are those of the error."""
        return FailureQuestion(
            asks=self.asks,
            slot=self.slot,
            words=by_language(words, texts),
            expects=by_language(self.expects, texts),
            why=by_language(self.why, texts),
            otherwise=by_language(self.otherwise, texts),
            then=self.then,
        )


def _form(value: Any) -> str:
    return "list of slots" if isinstance(value, list) else "slots with texts"


_Slots = Annotated[
    Annotated[list[SlotName], Tag("list of slots")]
    | Annotated[dict[SlotName, IntentSlotSection], Tag("slots with texts")],
    Discriminator(_form),
]


class IntentSlotsSection(Section):
    """The slots of an intent: `{required: {order: {ask: ...}}, optional: [amount]}`."""

    required: _Slots = Field(default_factory=dict[str, IntentSlotSection])
    """What must be known first; what is missing or ambiguous is asked for."""
    optional: _Slots = Field(default_factory=dict[str, IntentSlotSection])
    """What is used where the customer says it. It is asked for in one case: an amount of money with
    an `ask`, where the customer wants some of his money back and does not say how much."""

    def texts(self) -> dict[str, IntentSlotSection]:
        """What is said about each slot, the required ones first."""
        return _texts(self.required) | _texts(self.optional)


def _texts(written: list[str] | Mapping[str, IntentSlotSection]) -> dict[str, IntentSlotSection]:
    if isinstance(written, Mapping):
        return dict(written)
    return {name: IntentSlotSection() for name in written}


class IntentSection(Section):
    """An intent beside its examples: slots, steps and replies, and for whom it counts."""

    slots: IntentSlotsSection = Field(default_factory=IntentSlotsSection.model_construct)
    """What it needs to know: `{required: {order: {ask: ...}}, optional: [amount]}`."""
    pre: ReplyText | None = None
    """What is said before the steps; in a chat it leaves at once, elsewhere it is recorded."""
    steps: list[PlanStepSection] = Field(default_factory=list[PlanStepSection])
    """The calls, in order."""
    post: ReplyText | None = None
    """What is said when all is done; the run ends with it, without a drafting stage."""
    tell: list[str] | None = None
    """The fields of the results that a customer may read, as in `plans`."""
    reply: ReplyText | None = None
    """The reply in the desk's own words, as in `plans`."""
    replies: list[ReplySection] = Field(default_factory=list[ReplySection])
    """Replies for certain cases, as in `plans`."""
    hand_over: bool = False
    """Whether a colleague answers in any case."""
    opening: ReplyText | None = None
    """How a reply begins."""
    channels: list[Name] = Field(default_factory=list[Name])
    """The channels on which it counts, as `[chat]`; all if absent."""
    rollout: float = Field(default=100, ge=0, le=100)
    """For how many customers of a hundred it counts; always the same ones."""
    tier: Name | None = None
    """The lowest tier whose customers it counts for; `tiers` says which are higher."""
    redact: list[SlotName] = Field(default_factory=list[SlotName])
    """Slots whose values no telemetry shows."""
    model: Name | None = None
    """The role of the model that works on it, where the stage names none."""
    clarify_at_most: int | None = Field(default=None, ge=1, le=10)
    """How often the customer is asked for the same thing before a person takes over."""
    errors: ErrorTexts = Field(default_factory=dict)
    """What the customer is told where a call fails, by error code; goes before the file's."""

    @property
    def has_plan(self) -> bool:
        """Whether it says what is done: an intent with examples alone does not."""
        acting = (self.steps, self.pre, self.post, self.reply, self.replies, self.opening)
        slots = self.slots.required or self.slots.optional
        return any(acting) or bool(slots) or self.hand_over or self.tell is not None

    def as_plan(self) -> PlanSection:
        """The same as it would stand under `plans`."""
        asked = {
            name: slot.ask for name, slot in self.slots.texts().items() if slot.ask is not None
        }
        return PlanSection.model_construct(
            needs=list(_texts(self.slots.required)),
            wants=list(_texts(self.slots.optional)),
            ask=asked,
            steps=self.steps,
            tell=self.tell,
            reply=self.reply,
            replies=self.replies,
            hand_over=self.hand_over,
            opening=self.opening,
            pre=self.pre,
            post=self.post,
        )

    def compile(
        self,
        name: str,
        at_most: int,
        texts: TextsByName,
        errors: ErrorTexts | None = None,
        labels: Mapping[str, ReplyText] | None = None,
        questions: Mapping[str, FailureQuestionSection] | None = None,
    ) -> "IntentSpec":
        """The intent with its texts; those written by name are taken from `texts`. `errors` are
        the file's words for failed calls, `questions` which of them ask something, `labels` its
        names of slots."""
        slots = self.slots.texts()
        plan = None
        most = self.clarify_at_most or at_most
        if self.has_plan:
            expects = {slot: by_language(section.expects, texts) for slot, section in slots.items()}
            why = {slot: by_language(section.why, texts) for slot, section in slots.items()}
            plan = self.as_plan().compile(texts)
            error_words = {**(errors or {}), **self.errors}
            failures = {code: by_language(words, texts) for code, words in error_words.items()}
            named = {slot: by_language(words, texts) for slot, words in (labels or {}).items()}
            plan = plan.changed(expects=expects, why=why, clarify_at_most=most, errors=failures)
            asked = {
                code: question.compile(error_words.get(code), texts)
                for code, question in (questions or {}).items()
            }
            plan = plan.changed(labels=named, failure_questions=asked)
        return IntentSpec(
            name=name,
            plan=plan,
            channels=tuple(self.channels),
            rollout=self.rollout,
            tier=self.tier,
            redact=frozenset(self.redact),
            model=self.model,
            clarify_at_most=most,
        )


class IntentsFile(Section):
    """A file of intents, without its examples."""

    tiers: list[Name] | None = None
    """The customers' tiers, the lowest first: `[free, pro, enterprise]`."""
    clarify_at_most: int = Field(default=CLARIFY_AT_MOST, ge=1, le=10)
    """How often the customer is asked for the same thing before a person takes over."""
    errors: ErrorTexts = Field(default_factory=dict)
    """What the customer is told where a call fails, by error code: `{already_shipped: {en: It
    has left already.}}`. Without words for its code, a failed call goes to a person."""
    failure_questions: dict[ErrorName, FailureQuestionSection] = Field(default_factory=dict)
    """Which of these words are questions, and what answers them: `{amount_too_high: {asks:
    amount}}`. The call is made again with the answer."""
    labels: dict[SlotName, ReplyText] = Field(default_factory=dict)
    """What a slot is called where the customer is asked whether a value is right, one text or one a
    language: `{order: {en: order, cs: objednávka}}`. A tool may have one too: what is done with the
    values, as `{cancel_order: {en: cancel it}}`."""
    intents: dict[str, IntentSection] = Field(default_factory=dict)
    """The intents by name."""


EXAMPLE_KEYS = ("description", "examples")
"""The keys of an intent from which it is learned."""
OUT_OF_SCOPE = "out_of_scope"


class IntentSpec(Frozen):
    """An intent that was checked: for whom it counts, and what is done about it."""

    name: str
    plan: DeclaredPlan | None = None
    channels: tuple[str, ...] = ()
    rollout: float = 100
    tier: str | None = None
    redact: frozenset[str] = frozenset()
    model: str | None = None
    clarify_at_most: int = CLARIFY_AT_MOST
