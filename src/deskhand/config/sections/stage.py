"""A stage as written in desk.yaml, and the AgentSpec it becomes."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from deskhand.config.sections.expiry import ExpirySection, expiry_spec
from deskhand.config.sections.profiles import LONGEST
from deskhand.config.sections.section import Section
from deskhand.config.sections.stage_route import RouteSection
from deskhand.model.profile import ProfileSpec
from deskhand.model.spec import END, AgentSpec

StageName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
Intention = Literal["create_draft", "send_reply"]
ConcernName = Literal["complaint", "legal", "medical", "cancellation", "machine"]
TaskName = Literal[
    "classify", "extract", "translate", "decide", "draft", "match", "summarise", "judge"
]


class KnowledgeSection(Section):
    """Which articles a stage looks at: `{category: billing}`."""

    category: str = Field(min_length=1, max_length=100)
    """The category in the articles' front matter."""


class StageSection(Section):
    """One stage: a question to a brain (`task`, `prompt`), `tools` to run, an agent (`profile`)
    or a `service`."""

    task: TaskName | None = None
    """The kind of question a brain answers here."""
    prompt: str | None = None
    """The name of a file in `prompts/`, without its ending."""
    tools: list[str] | None = Field(default=None, min_length=1)
    """The exact names of the tools this stage may run; alone, it carries out a plan with them."""
    intends: list[Intention] | None = Field(default=None, min_length=1)
    """With `tools`: what a plan may choose that is only noted here, as `[create_draft]`:
    `dispatch` does it, once and with the final text."""
    service: str | None = None
    """The name of the service that does this stage's work, as `review` or `dispatch`."""
    profile: str | None = None
    """The agent profile that works here in a tool loop, a name under `agent.profiles`."""
    categories: list[str] | None = Field(default=None, min_length=1)
    """With `task: classify`: the categories to choose from."""
    slots: list[str] | None = Field(default=None, min_length=1)
    """With `task: extract`: the slots to fill, names under `slots`; all of them if absent."""
    output: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_]*$")
    """The name the result is kept under; the stage's name if absent."""
    required: list[str] = Field(default_factory=list[str])
    """Fields the result must have; without one of them the attempt has failed."""
    routes: list[RouteSection] = Field(default_factory=list[RouteSection])
    """Where to go instead of `next`; the first route whose condition holds wins."""
    next: str | None = None
    """The stage that follows, or `end`; without it the flow ends here."""
    on_error: str | None = None
    """The stage to go to when every attempt has failed, instead of handing the run to a person."""
    loop_to: str | None = None
    """The stage that `replan` and `loop_back` lead to."""
    resume_at: str | None = None
    """The stage where the customer's answer to a question goes on; if absent, the plan's maker,
    or this one."""
    max_visits: int | None = Field(default=None, gt=0)
    """How often one run may come here; every loop needs a stage with this limit."""
    attempts: int = Field(default=3, gt=0, le=10)
    """How often the stage is tried before it has failed, 1 to 10."""
    timeout: float = Field(default=120, gt=0)
    """Seconds one attempt may take."""
    model: str | None = None
    """The role of the model that answers, one of the names under `models`."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """How freely the model words its answer, 0 to 2."""
    max_tokens: int | None = Field(default=None, gt=0)
    """The longest answer of the model, in tokens."""
    tone: dict[str, str] | None = Field(default=None, min_length=1)
    """The tone of a draft by category, with `else` for the others: `{complaint: empathetic,
    else: friendly}`."""
    auto_send_at: float | None = Field(default=None, ge=0, le=1)
    """With `service: review`: the confidence from which a reply leaves without a person, 0 to 1."""
    always_ask: list[str] | None = None
    """With `service: review`: the categories a person always decides."""
    wary: bool | None = None
    """With `service: review`: whether a person looks where a message speaks to a machine
    (`ignore your rules`)."""
    concerns: list[ConcernName] | None = None
    """With `service: review`: what in a message a person must see, wherever it stands and whatever
    words say it."""
    ask_first_contact: bool | None = None
    """With `service: review`: whether a person looks at the first reply to a sender the desk has
    never answered."""
    expire: ExpirySection | None = None
    """With `service: review` or `dispatch`: how long a reply waits for a person here, and what
    happens then."""
    knowledge: KnowledgeSection | None = None
    """With `task: draft` or `service: specialise`: the articles that may answer here."""
    settings: dict[str, Any] | None = Field(default=None, alias="with")
    """Settings for the service."""

    @property
    def is_llm(self) -> bool:
        return self.task is not None or self.prompt is not None

    @property
    def article_category(self) -> str | None:
        return None if self.knowledge is None else self.knowledge.category

    def compile(self, name: str, order: int, profiles: Mapping[str, ProfileSpec]) -> AgentSpec:
        """The stage as the engine runs it; the stage must have passed the checks."""
        tools = tuple(self.tools or ())
        timeout = self.timeout
        if self.profile is not None:
            tools = profiles[self.profile].tools
            if "timeout" not in self.model_fields_set:
                timeout = LONGEST
        routing_rules = tuple(route.compile() for route in self.routes)
        return AgentSpec(
            name=name,
            stage_order=order,
            has_llm=self.is_llm,
            has_tools=bool(self.tools) and not self.is_llm,
            model_role=self.model,
            prompt_key=self.prompt,
            task=self.task,
            choices=tuple(self.categories or self.slots or ()),
            tone=self.tone or {},
            knowledge_category=self.article_category,
            service=self.service,
            profile=self.profile,
            settings=self._service_settings(),
            tools=tools,
            intends=tuple(self.intends or ()),
            output_key=self.output or name,
            required_output_fields=tuple(self.required),
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            routing_rules=routing_rules,
            default_next=None if self.next == END else self.next,
            error_next=self.on_error,
            loop_to=self.loop_to,
            resume_at=self.resume_at,
            max_visits=self.max_visits,
            attempts=self.attempts,
            timeout=timeout,
        )

    def _service_settings(self) -> dict[str, Any]:
        """`with:`, and what the stage says about reviews beside it."""
        review: dict[str, Any] = {
            "auto_send_at": self.auto_send_at,
            "always_ask": self.always_ask,
            "wary": self.wary,
            "concerns": self.concerns,
            "ask_first_contact": self.ask_first_contact,
            "expire": None if self.expire is None else expiry_spec(self.expire).model_dump(),
        }
        if self.service is not None and self.knowledge is not None:
            review["category"] = self.knowledge.category
        written = {key: value for key, value in review.items() if value is not None}
        return {**(self.settings or {}), **written}
