"""Who answers a desk's questions, as written in desk.yaml, and what is wrong about it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from deskhand.config.sections.expiry import seconds_of
from deskhand.config.sections.section import Section
from deskhand.model.frozen import Frozen
from deskhand.model.waiting import AwayRule, TakesOver

BrainName = Literal["embedded", "llm", "cascade"]
EMBEDDED_ALWAYS, LLM_ALWAYS = 0.0, 2.0
"""Thresholds that no confidence is below, or all are."""


WaitText = Annotated[str, Field(pattern=r"^[0-9]{1,5} (seconds?|minutes?|hours?|days?)$")]


class ScriptedSection(Section):
    """A brain that answers from a file of rules: for tests, demos and evals."""

    scripted: str = Field(min_length=1)
    """The YAML file of rules, relative to the desk's folder."""


def _threshold_form(value: Any) -> str:
    return "brain" if isinstance(value, str) else "threshold"


Threshold = Annotated[
    Annotated[Annotated[float, Field(ge=0, le=1)], Tag("threshold")]
    | Annotated[Literal["embedded", "llm"], Tag("brain")],
    Discriminator(_threshold_form),
]


def _redact_form(value: Any) -> str:
    return "patterns" if isinstance(value, Mapping) else "yes or no"


Pattern = Annotated[str, Field(min_length=1, max_length=2000)]
Redact = Annotated[
    Annotated[bool, Tag("yes or no")]
    | Annotated[
        dict[Annotated[str, Field(pattern=r"^[a-z]+$", max_length=30)], Pattern], Tag("patterns")
    ],
    Discriminator(_redact_form),
]


class CascadeSection(Section):
    """Below which confidence of the embedded brain the LLM is asked, by task; or `llm` or
    `embedded` for always."""

    classify: Threshold | None = None
    """For categories; 0.7 if absent."""
    extract: Threshold | None = None
    """For slots; 0.6 if absent."""
    translate: Threshold | None = None
    """For translations, which the embedded brain cannot make; 0.5 if absent."""
    decide: Threshold | None = None
    """For plans; 0.5 if absent."""
    draft: Threshold | None = None
    """For replies; 0.6 if absent."""
    match: Threshold | None = None
    """For which candidate a message belongs to; 0.6 if absent."""
    summarise: Threshold | None = None
    """For summaries, which the embedded brain makes of the message's own sentences; 0.3 if
    absent."""
    judge: Threshold | None = None
    """For criteria; 0.5 if absent."""


class BrainSettingsSection(Section):
    """A brain with settings: `{cascade: {classify: 0.7}, redact: true}`."""

    use: BrainName | None = None
    """`embedded`, `llm` or `cascade`; if absent, what the other keys and `models` suggest."""
    cascade: CascadeSection | None = None
    """Below which confidence of the embedded brain the LLM is asked, by task: `{classify: 0.7,
    draft: llm}`."""
    redact: Redact = False
    """Hide personal data from the LLM; with patterns of your own by name: `{order:
    'P-[0-9]{4}'}`."""
    answer_at: float = Field(default=0.75, ge=0, le=1)
    """How sure the embedded brain must be of an article before it quotes it to a customer, 0 to
    1."""
    foreign_articles: Literal["quote", "ask"] = "quote"
    """An article in another language than the customer's: `quote` it like any other, or let a
    person look (`ask`)."""
    error_budget: float = Field(default=0.05, gt=0, le=0.5)
    """The share of categories the embedded brain may get wrong, at most 0.5; what it is less
    sure of is `other`."""
    signature: str = Field(default="", max_length=500)
    """The line under replies of the embedded brain: `Your parcel shop`."""


def _brain_form(value: Any) -> str:
    if not isinstance(value, Mapping):
        return "scripted" if isinstance(value, ScriptedSection) else "name"
    return "scripted" if "scripted" in value or ("script" in value) else "settings"


BrainSection = Annotated[
    Annotated[BrainName, Tag("name")]
    | Annotated[ScriptedSection, Tag("scripted")]
    | Annotated[BrainSettingsSection, Tag("settings")],
    Discriminator(_brain_form),
]


class BrainSpec(Frozen):
    """Who answers tasks: the embedded brain, an LLM, both in a cascade, or rules from `file`."""

    kind: Literal["embedded", "llm", "cascade", "scripted"] = "llm"
    file: Path | None = None
    thresholds: dict[str, float] = Field(default_factory=dict)
    """By task; what is absent is up to the cascade."""
    redact: bool = False
    patterns: dict[str, str] = Field(default_factory=dict)
    answer_at: float = 0.75
    foreign_articles: Literal["quote", "ask"] = "quote"
    error_budget: float = 0.05
    signature: str = ""
    agents: bool = True
    """Whether agents may ask the models of their profiles: not on a desk that says `embedded`,
    which needs no key."""

    @property
    def reads(self) -> bool:
        """Whether the embedded brain is part of it."""
        return self.kind in ("embedded", "cascade")


def brain_spec(brain: BrainSection | None, folder: Path, *, has_models: bool) -> BrainSpec:
    """The brain a desk asks for; where it names none, an LLM if there are models."""
    usual: BrainName = "llm" if has_models else "embedded"
    if isinstance(brain, ScriptedSection):
        return BrainSpec(kind="scripted", file=folder / brain.scripted)
    if not isinstance(brain, BrainSettingsSection):
        return BrainSpec(kind=brain or usual, agents=brain != "embedded")
    cascade = brain.cascade
    thresholds: dict[str, float] = {}
    if cascade is not None:
        usual = "cascade"
        written = cascade.model_dump(exclude_none=True)
        thresholds = {task: _threshold(value) for task, value in written.items()}
    return BrainSpec(
        kind=brain.use or usual,
        thresholds=thresholds,
        redact=brain.redact is not False,
        patterns=dict(brain.redact) if isinstance(brain.redact, dict) else {},
        answer_at=brain.answer_at,
        foreign_articles=brain.foreign_articles,
        error_budget=brain.error_budget,
        signature=brain.signature,
        agents=brain.use != "embedded",
    )


def _threshold(value: float | str) -> float:
    """The confidence below which the LLM is asked."""
    if isinstance(value, float | int):
        return value
    return LLM_ALWAYS if value == "llm" else EMBEDDED_ALWAYS


class ModelAwaySection(Section):
    """How long messages wait for a model that is away: `{wait: 15 minutes, then: person}`."""

    wait: WaitText = "15 minutes"
    """How long a message waits for the model to come back, as `15 minutes`; `0 minutes` for not
    at all."""
    then: TakesOver | None = None
    """Who takes over: a `person`, or the `embedded` brain, whose reply a person looks at. If
    absent, `embedded` with `brain: cascade`, else `person`."""


def away_rule(section: ModelAwaySection, brain: BrainSpec) -> AwayRule:
    usual: TakesOver = "embedded" if brain.kind == "cascade" else "person"
    return AwayRule(wait=seconds_of(section.wait), then=section.then or usual)
