"""`agent` of desk.yaml: profiles of tool-using agents, and the flow that each becomes by itself."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import Field

from deskhand.config.sections.section import Section
from deskhand.config.yaml import read_text
from deskhand.model.profile import ProfileSpec
from deskhand.model.spec import AgentSpec

ProfileName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=60)]
Model = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*/\S+$")]

LARGEST_PROMPT = 1_000_000
TEMPLATE = ".j2"
"""Prompt files with this ending are Jinja2 templates; all others are sent as they stand."""
AGENT = "agent"
"""The stage, and its output, in a flow that a profile becomes by itself."""
LONGEST = 600.0
"""Seconds one attempt at a profile's stage may take, unless the stage says otherwise; finished
turns are kept."""


class BudgetSection(Section):
    """What one run of the agent may use before a person looks: `{tokens: 50000, money: 0.50}`."""

    tokens: int | None = Field(default=None, gt=0)
    """Tokens in and out, over all turns of a run."""
    money: float | None = Field(default=None, gt=0)
    """Money over all turns of a run, in the currency of the `prices` of its provider."""


class ProfileSection(Section):
    """An agent: a model that works a message with tools, turn by turn."""

    name: ProfileName | None = None
    """The profile's name; it is the key above, so it need not be written."""
    model: Model | None = None
    """The model, as `gemini/gemini-3.8-flash`; if absent the stage's role, then the desk's
    default."""
    model_for: dict[str, Model] = Field(default_factory=dict)
    """Another model for messages of an intent or category: `{complaint: openai/gpt-6-sol}`."""
    max_tokens: int = Field(default=8192, gt=0)
    """The longest answer of the model, in tokens; its thoughts count."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """How freely the model words its answers, 0 to 2; if absent, it is up to the model."""
    max_iterations: int = Field(default=10, gt=0, le=100)
    """How many turns the model may take before a person looks, 1 to 100."""
    system_prompt_file: str = Field(min_length=1)
    """The file with the system prompt, relative to the desk's folder; Jinja2 if it ends in
    `.j2`."""
    tools: list[str] = Field(min_length=1)
    """The exact names of the tools the agent may call; what is absent is denied."""
    budget: BudgetSection = Field(default_factory=BudgetSection.model_construct)
    """What one run may use before a person looks: `{tokens: 50000, money: 0.50}`."""
    context_tokens: int = Field(default=100_000, ge=1000)
    """How much the model can read at once; old tool results are shortened before it is too much."""
    without_model: str | None = None
    """The flow that works the messages of this profile when its model cannot be asked: no key,
    or a brain without."""
    preprocess: str | None = Field(default=None, min_length=1)
    """What reads a message before the agent does, as `crisp`; a routing rule's own comes first."""


class AgentSection(Section):
    """Agents that work with tools."""

    profiles: dict[ProfileName, ProfileSection] = Field(default_factory=dict)
    """The profiles by name; `route: agent` and the stages' `profile:` name them."""


def profile_spec(name: str, profile: ProfileSection, folder: Path) -> ProfileSpec:
    """The profile with its prompt read; it must have passed the checks."""
    file = folder / profile.system_prompt_file
    return ProfileSpec(
        name=name,
        system_prompt=read_text(file, largest=LARGEST_PROMPT),
        is_template=file.suffix == TEMPLATE,
        **profile.model_dump(exclude={"name", "system_prompt_file"}),
    )


def own_stages(profile: ProfileSpec) -> dict[str, AgentSpec]:
    """The flow of a profile that nobody wrote one for: the agent works, and its last words leave
    as the mode says."""
    agent = AgentSpec(
        name=AGENT,
        stage_order=1,
        profile=profile.name,
        tools=profile.tools,
        output_key=AGENT,
        default_next="review",
        timeout=LONGEST,
    )
    review = AgentSpec(
        name="review",
        stage_order=2,
        service="review",
        settings={"always_ask": []},
        output_key="review",
        default_next="dispatch",
    )
    return {
        AGENT: agent,
        "review": review,
        "dispatch": AgentSpec(
            name="dispatch", stage_order=3, service="dispatch", output_key="dispatch"
        ),
    }


def prompt_key(profile: str) -> str:
    """Under which a profile's template lies among the desk's prompts; no file's name can be the
    same."""
    return f"agent.profiles/{profile}"


def profiles_in(stages: Iterable[AgentSpec]) -> set[str]:
    return {stage.profile for stage in stages if stage.profile is not None}
