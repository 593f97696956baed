"""What configuration compiles to: one AgentSpec a stage, one FlowSpec a flow."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field, model_validator

from deskhand.model.frozen import Frozen
from deskhand.model.outcome import Outcome

END = "end"
"""The target that ends a run."""


REVIEW = "review"
"""The service whose stage says which replies a person must approve."""


class RoutingRule(Frozen):
    """When `when` holds for a stage's output, the run goes to `target` or ends with `outcome`."""

    when: dict[str, Any] = Field(min_length=1)
    """A condition of the condition language: `{category: spam, confidence: {at_least: 0.95}}`."""
    target: str | None = None
    outcome: Outcome | None = None
    ask: str | None = None
    """With `clarify` or `confirm`: the question, a Jinja2 template over the envelope."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        """`{condition: needs_clarification, value: true, target: clarification}` is one
        comparison."""
        if isinstance(data, Mapping) and "condition" in data:
            rest = {key: value for key, value in data.items() if key not in ("condition", "value")}
            return {"when": {data["condition"]: data.get("value", True)}, **rest}
        return data

    @model_validator(mode="after")
    def _goes_somewhere(self) -> Self:
        if self.target is None and self.outcome is None:
            raise ValueError("a route needs `to: STAGE` (or `end`) or `outcome:`")
        return self


class AgentSpec(Frozen):
    """Everything that makes one agent what it is."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)
    stage_order: int = Field(default=0, ge=0)
    has_llm: bool = False
    has_tools: bool = False
    has_policies: bool = False
    """The stage's tool calls must pass a policy as well as its own tool list; without one the
    agent is refused."""
    model_role: str | None = None
    """Which of the desk's models answers: `fast`, `good`, ..."""
    prompt_key: str | None = None
    task: str | None = None
    """The kind of task a brain is given: classify, extract, translate, decide, draft, match,
    summarise, judge."""
    choices: tuple[str, ...] = ()
    tone: dict[str, str] = Field(default_factory=dict)
    knowledge_category: str | None = None
    """The only category of articles that the stage looks at; None for all."""
    service: str | None = None
    profile: str | None = None
    """The agent profile that works this stage in a tool loop."""
    settings: dict[str, Any] = Field(default_factory=dict)
    tools: tuple[str, ...] = ()
    """Exact names; what is absent is denied."""
    plans_with: tuple[str, ...] = ()
    """The tools of the stages that walk this stage's plan; they follow from those stages."""
    intends: tuple[str, ...] = ()
    """What a plan may choose here without it being done here: the dispatching stage does it,
    once."""
    output_key: str
    required_output_fields: tuple[str, ...] = ()
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, gt=0)
    routing_rules: tuple[RoutingRule, ...] = ()
    default_next: str | None = None
    """None or `end`: the run ends here."""
    error_next: str | None = None
    """Where the run goes when the stage has failed for good, instead of `needs_review`."""
    loop_to: str | None = None
    """Where `loop_back` and `replan` lead."""
    resume_at: str | None = None
    """Where the customer's answer to a clarification goes on; this stage by default."""
    replan_at: str | None = None
    """The stage that made the plan which this one walks: where the plan goes on whose questions
    are answered and which has nothing left to do."""
    restart_at: str | None = None
    """Where the flow starts, for a stage whose customer begins another matter."""
    max_visits: int | None = Field(default=None, gt=0)
    attempts: int = Field(default=3, gt=0, le=10)
    timeout: float = Field(default=120, gt=0)
    """Seconds one attempt may take."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.has_llm and not (self.prompt_key or self.task):
            raise ValueError(
                f"stage {self.name!r} has_llm but neither prompt_key nor task; write `prompt:` or"
                " `task:`"
            )
        if self.has_tools and not self.tools:
            raise ValueError(
                f"stage {self.name!r} has_tools but names none; write `tools: [name, ...]`"
            )
        if self.has_llm and self.service:
            raise ValueError(
                f"stage {self.name!r} is both an LLM stage and a service; keep one of them"
            )
        if self.profile and (self.has_llm or self.has_tools or self.service):
            raise ValueError(
                f"stage {self.name!r} has a profile and other work beside it; make it two stages"
            )
        return self

    @property
    def always_ask(self) -> frozenset[str]:
        """Topics whose replies a person must approve, as a review stage lists them."""
        return always_ask_in(self.settings) or frozenset()

    @property
    def targets(self) -> tuple[str, ...]:
        """Every stage a run may go to from here."""
        named = (rule.target for rule in self.routing_rules)
        own = (self.default_next, self.error_next, self.loop_to, self.resume_at, self.replan_at)
        every = (*named, *own)
        return tuple(dict.fromkeys(target for target in every if target and target != END))


class FlowSpec(Frozen):
    """A flow: its stages by name, where it starts, and how far a run may go."""

    name: str
    start: str
    stages: dict[str, AgentSpec]
    max_hops: int = Field(default=50, gt=0)
    version: str = ""
    """A digest of everything that shapes behaviour: stages and prompts."""

    @property
    def always_asked(self) -> frozenset[str]:
        """Topics whose replies a person must approve, by the flow's review stages."""
        reviewing = [stage.always_ask for stage in self.stages.values() if stage.service == REVIEW]
        return frozenset[str]().union(*reviewing)


def always_ask_in(settings: Mapping[str, Any]) -> frozenset[str] | None:
    """The topics in a review stage's `always_ask`; None where the stage has no such list."""
    listed = settings.get("always_ask")
    return None if listed is None else frozenset(listed)
