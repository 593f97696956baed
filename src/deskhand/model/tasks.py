"""The typed questions a brain answers, and the typed answers it gives."""

from enum import StrEnum
from typing import Any

from pydantic import ConfigDict, Field

from deskhand.model.frozen import Frozen

OTHER = "other"
"""The category of what fits no other; it needs no examples."""

_BYTES_PER_TOKEN = 3
"""Few enough that a budget also holds for languages that take more tokens a word than English."""


class TaskKind(StrEnum):
    CLASSIFY = "classify"
    EXTRACT = "extract"
    TRANSLATE = "translate"
    DECIDE = "decide"
    DRAFT = "draft"
    MATCH = "match"
    SUMMARISE = "summarise"
    JUDGE = "judge"
    VERIFY = "verify"
    """Whether sentences of a reply stand in the articles that it quotes."""
    PROMPT = "prompt"
    """A stage that brings its own prompt and names its own fields."""


WORDLESS = (TaskKind.CLASSIFY, TaskKind.MATCH, TaskKind.JUDGE, TaskKind.VERIFY)
"""Tasks whose answers hold nothing that could reach a customer."""


class Task(Frozen):
    """One question to a brain. `inputs` is what the stage knows; `prompt` its own words for an
    LLM, if it has any."""

    kind: TaskKind
    stage: str
    run_id: str | None = None
    text: str = ""
    sender_name: str = ""
    """What the writer calls himself, proven or not: to recognise it in the text, not to say it."""
    inputs: dict[str, Any] = Field(default_factory=dict)
    private: tuple[str, ...] = ()
    """What names the customer, beside what the message among the inputs says: a desk that redacts
    hides it from models."""
    choices: tuple[str, ...] = ()
    tools: tuple[dict[str, Any], ...] = ()
    """What a plan may call, each in the OpenAI function-calling format."""
    prompt: str | None = None
    required: tuple[str, ...] = ()
    model_role: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    knowledge_category: str | None = None
    """The only category of articles that may be looked at; None for all."""
    also_categories: tuple[str, ...] = ()
    """Further ones: a message may ask for several departments' matters."""
    without_model: bool = False
    """The model has been away for too long: answer without it, where that is possible."""


class TaskResult(Frozen):
    """Fields beyond the typed ones are kept: a prompt may ask for more."""

    model_config = ConfigDict(frozen=True, extra="allow")


class Classified(TaskResult):
    category: str
    confidence: float = Field(ge=0, le=1)


class Extracted(TaskResult):
    values: dict[str, Any]


class Translated(TaskResult):
    text: str
    language: str


class Decided(TaskResult):
    steps: list[Any]
    reasoning: str = ""


class Drafted(TaskResult):
    text: str
    language: str | None = None


class Matched(TaskResult):
    match: str | None
    confidence: float = Field(ge=0, le=1)


class Summarised(TaskResult):
    text: str


class JudgedReply(TaskResult):
    passed: bool
    reason: str


class VerifiedReply(TaskResult):
    verdicts: list[Any]
    """For each sentence its `number`, the `quote` that states it, what is `missing` there, and
    whether it is `supported`."""


class Prompted(TaskResult):
    """Whatever the prompt asked for."""


RESULT_TYPES: dict[TaskKind, type[TaskResult]] = {
    TaskKind.CLASSIFY: Classified,
    TaskKind.EXTRACT: Extracted,
    TaskKind.TRANSLATE: Translated,
    TaskKind.DECIDE: Decided,
    TaskKind.DRAFT: Drafted,
    TaskKind.MATCH: Matched,
    TaskKind.SUMMARISE: Summarised,
    TaskKind.JUDGE: JudgedReply,
    TaskKind.VERIFY: VerifiedReply,
    TaskKind.PROMPT: Prompted,
}


class Answer(Frozen):
    """A brain's answer: the typed result and which brain gave it."""

    result: TaskResult
    brain: str
    model: str | None = None
    cost: float = 0.0
    note: dict[str, Any] = Field(default_factory=dict)
    """What a cascade has to say about it: whom it did not have to ask, or who could not be
    asked."""

    @property
    def answered(self) -> dict[str, Any]:
        """Who gave it and what it cost, for the step's row."""
        fields = {"brain": self.brain, "model": self.model, "cost": self.cost or None, **self.note}
        return {name: value for name, value in fields.items() if value is not None}

    @property
    def data(self) -> dict[str, Any]:
        return self.result.model_dump(mode="json")


def tokens_of(text: str) -> int:
    """How many tokens a text is at most likely to be."""
    return len(text.encode()) // _BYTES_PER_TOKEN + 1
