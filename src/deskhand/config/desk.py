"""A desk's folder to the typed DeskSpec everything else works from."""

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from deskhand.config.fact_types import Kind
from deskhand.config.intents import ReadIntents, compiled_intents, read_intent_files, tiers_in
from deskhand.config.parse import parse_desk
from deskhand.config.prompts import PromptFile, read_prompts, with_included
from deskhand.config.reply_texts import read_reply_texts, texts_in
from deskhand.config.rules.channel_rules import ELSE
from deskhand.config.rules.check import check_desk
from deskhand.config.rules.finding import DeskDraft
from deskhand.config.sections.brain import BrainSpec, away_rule, brain_spec
from deskhand.config.sections.calendar import CalendarSection, CalendarSpec, calendar_spec
from deskhand.config.sections.channels import ChannelSpec, Mode, channel_spec
from deskhand.config.sections.desk_file import (
    DeskSection,
    FlowSection,
    Limits,
    ProviderSpec,
    as_list,
)
from deskhand.config.sections.intents import IntentSpec
from deskhand.config.sections.mcp import McpSpec, accepted, mcp_shapes, mcp_spec
from deskhand.config.sections.outgoing import ClauseSpec, OutgoingSpec
from deskhand.config.sections.plans import DeclaredPlan
from deskhand.config.sections.policy import PolicySpec
from deskhand.config.sections.profiles import own_stages, profile_spec, profiles_in, prompt_key
from deskhand.config.sections.reply_text import TextsByName
from deskhand.config.sections.retention import MemorySection, RetentionSection
from deskhand.config.sections.reviews import ReviewsSpec, reviews_spec
from deskhand.config.sections.routing import MailSection, RoutingRuleSection
from deskhand.config.sections.safeguards import SafeguardSpec, safeguard_spec
from deskhand.config.sections.slots import SlotSpec
from deskhand.config.sections.telemetry import TelemetrySection
from deskhand.config.sections.tickets import TicketsSection
from deskhand.config.sections.triage import TriageSection
from deskhand.config.sections.trust import TrustSpec
from deskhand.config.sections.web_search import WebSearchSpec
from deskhand.config.tool_shape import ToolShape
from deskhand.config.yaml import YamlFile, read_yaml
from deskhand.errors import ConfigError, ConfigErrors
from deskhand.model.frozen import Frozen
from deskhand.model.message import PREPROCESSORS
from deskhand.model.plan import PLAN
from deskhand.model.profile import ProfileSpec
from deskhand.model.run import canonical_hash
from deskhand.model.spec import AgentSpec, FlowSpec
from deskhand.model.understanding import PLAN_AT, RESTART_AT, UNKNOWN_INTENT
from deskhand.model.waiting import USUAL_WAIT, AwayRule

if TYPE_CHECKING:  # its patterns take long to compile
    from deskhand.mail.authentication import MailTrust

DESK_FILE = "desk.yaml"
POLICY_FILE = "policy.yaml"
_VERSION_LENGTH = 12


class DeskSpec(Frozen):
    """A desk that was read and checked as a whole."""

    name: str
    folder: Path
    languages: tuple[str, ...]
    models: dict[str, str]
    """The model of each role."""
    fall_backs: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """By model, those that are asked in its place where it cannot be."""
    default_model: str | None
    """The `provider/model` of stages that name no role."""
    providers: dict[str, ProviderSpec]
    brain: BrainSpec
    model_away: AwayRule = USUAL_WAIT
    flows: dict[str, FlowSpec]
    default_flow: str
    prompts: dict[str, str]
    limits: Limits
    retention: RetentionSection = Field(default_factory=RetentionSection.model_construct)
    memory: MemorySection = Field(default_factory=MemorySection.model_construct)
    telemetry: TelemetrySection = Field(default_factory=TelemetrySection.model_construct)
    slots: dict[str, SlotSpec] = Field(default_factory=dict)
    """What stages with `task: extract` find in messages, by name."""
    plans: dict[str, DeclaredPlan] = Field(default_factory=dict)
    """What the embedded brain does about a category."""
    intents: dict[str, IntentSpec] = Field(default_factory=dict)
    """For whom each intent counts, by name; those with examples alone count for everybody."""
    tiers: tuple[str, ...] = ()
    """The customers' tiers, the lowest first."""
    time_zone: str = "UTC"
    policy: PolicySpec | None = None
    """The desk's own rules over tool calls; None when it has none."""
    safeguards: SafeguardSpec = Field(default_factory=SafeguardSpec.model_construct)
    outgoing: OutgoingSpec = Field(default_factory=OutgoingSpec.model_construct)
    commitments: tuple[ClauseSpec, ...] = ()
    channels: dict[str, ChannelSpec] = Field(default_factory=dict)
    mode: Mode = "draft"
    modes: dict[str, Mode] = Field(default_factory=dict)
    """By category; what is not named has `mode`."""
    trust: TrustSpec | None = None
    """How these modes are earned and lost; None where they simply hold."""
    triage: TriageSection | None = None
    tickets: TicketsSection = Field(default_factory=TicketsSection)
    undo_seconds: float = 30.0
    routing: tuple[RoutingRuleSection, ...] = ()
    """In order; the first that matches wins."""
    mail: MailSection = Field(default_factory=MailSection.model_construct)
    web_search: WebSearchSpec | None = None
    mcp: McpSpec = Field(default_factory=McpSpec.model_construct)
    profiles: dict[str, ProfileSpec] = Field(default_factory=dict)
    stand_ins: dict[str, str] = Field(default_factory=dict)
    """Flows whose agent has no model to ask, each with the flow that works its messages instead."""
    calendar: CalendarSpec = Field(
        default_factory=lambda: calendar_spec(CalendarSection(), Path(), "UTC")
    )
    reviews: ReviewsSpec = Field(default_factory=ReviewsSpec.model_construct)

    @property
    def own_addresses(self) -> tuple[str, ...]:
        """The addresses that the desk itself writes from."""
        return tuple(channel.identity.address for channel in self.channels.values())

    @property
    def mail_trust(self) -> "MailTrust":
        """Whose word about a mail's sender the desk believes."""
        from deskhand.mail.authentication import MailTrust

        return MailTrust(self.mail.trusted_servers, self.mail.forwarders, self.own_addresses)

    def mode_for(self, category: str | None) -> Mode:
        """What happens to a reply to a message of this category; with `trust`, the most that may
        ever happen."""
        return self.modes.get(category or "", self.mode)


def load_desk(
    folder: Path,
    *,
    tools: Collection[str] | Mapping[str, ToolShape] = frozenset(),
    services: AbstractSet[str] = frozenset(),
    policy: Path | None = None,
    message_facts: Mapping[str, Kind] | None = None,
    preprocessors: Collection[str] = (),
) -> DeskSpec:
    """Read and check a desk against the tools, services and facts there are; raises ConfigErrors
    with all problems.

    `policy` is a file whose rules stand in for the desk's own.
    """
    try:
        source = _with_policy(read_yaml(_desk_file(folder)), folder, policy)
    except ConfigError as error:
        raise ConfigErrors([error]) from None
    parsed = parse_desk(source)
    prompts, broken = read_prompts(folder / "prompts")
    reply_files, unusable = read_reply_texts(folder)
    intents, unread = read_intent_files(folder)
    problems = [*parsed.problems, *broken, *unusable, *unread]
    if parsed.read is not None:
        brought = mcp_shapes(parsed.read.mcp, accepted(folder))
        shapes = {**brought, **tools} if isinstance(tools, Mapping) else {}
        all_preprocessors = (*PREPROCESSORS, *preprocessors)
        draft = DeskDraft(
            source,
            folder,
            parsed.read,
            prompts,
            {*brought, *tools},
            services,
            parsed.damaged,
            shapes,
            message_facts or {},
            all_preprocessors,
            reply_files=reply_files,
            own_tools=tools,
            intents=intents,
        )
        problems += check_desk(draft)
    if problems or parsed.read is None:
        raise ConfigErrors(
            sorted(problems, key=lambda problem: (str(problem.file), problem.line or 0))
        )
    texts = texts_in(reply_files, parsed.read.languages)
    spec = _desk_spec(folder, parsed.read, prompts, texts)
    return _with_intents(spec, intents, texts)


def _with_intents(spec: DeskSpec, files: Sequence[ReadIntents], texts: TextsByName) -> DeskSpec:
    """The desk with what its intents say: their plans stand beside those of desk.yaml."""
    intents = compiled_intents(files, texts)
    plans = {name: intent.plan for name, intent in intents.items() if intent.plan is not None}
    return spec.changed(intents=intents, tiers=tiers_in(files), plans={**spec.plans, **plans})


def _with_policy(source: YamlFile, folder: Path, other: Path | None) -> YamlFile:
    """The desk's rules from the file they stand in."""
    beside = folder / POLICY_FILE
    if other is None and not beside.is_file():
        return source
    if other is None and "policy" in source.data:
        problem = f"there is a `policy` here and a file {POLICY_FILE} beside it"
        raise source.problem(("policy",), problem, "keep one of the two")
    rules = read_yaml(other or beside)
    if "policy" not in rules.data:
        raise rules.problem(
            (), "there are no rules in the file", "begin with a line `policy:` and list the rules"
        )
    strangers = [key for key in rules.data if key != "policy"]
    if strangers and "desk" not in rules.data:
        problem = f"`{strangers[0]}` has no place among the rules"
        raise rules.problem(strangers, problem, f"move it to {DESK_FILE}, or remove it")
    return source.with_part("policy", rules)


def _desk_file(folder: Path) -> Path:
    path = folder / DESK_FILE
    if path.is_file():
        return path
    if not folder.is_dir():
        raise ConfigError(
            "there is no such folder", file=folder, fix=f"name a folder that holds a {DESK_FILE}"
        )
    other = folder / "desk.yml"
    fix = (
        f"rename {other.name} to {DESK_FILE}"
        if other.is_file()
        else f"create {DESK_FILE}, or name another folder"
    )
    raise ConfigError(f"there is no {DESK_FILE} in this folder", file=folder, fix=fix)


def _desk_spec(
    folder: Path, desk: DeskSection, prompt_files: Mapping[str, PromptFile], texts: TextsByName
) -> DeskSpec:
    profiles = {
        name: profile_spec(name, profile, folder) for name, profile in desk.agent.profiles.items()
    }
    templates = {
        prompt_key(name): profile.system_prompt
        for name, profile in profiles.items()
        if profile.is_template
    }
    prompts = {key: prompt.text for key, prompt in prompt_files.items()} | templates
    slots = {name: slot.compile(name, folder) for name, slot in desk.slots.items()}
    shaping = _Shaping(prompts, slots, profiles)
    flows = {name: _flow_spec(name, flow, shaping) for name, flow in desk.flows.items()}
    for name, profile in profiles.items():
        flows.setdefault(name, _own_flow(profile, shaping))
    lists = {role: as_list(names) for role, names in desk.models.items()}
    models = {role: names[0] for role, names in lists.items()}
    fall_backs = {names[0]: names[1:] for names in lists.values() if len(names) > 1}
    providers = {name: provider.beside(folder) for name, provider in desk.providers.items()}
    plans = {name: plan.compile(texts) for name, plan in desk.plans.items()}
    channels = {
        name: channel_spec(name, channel, folder) for name, channel in desk.channels.items()
    }
    brain = brain_spec(desk.brain, folder, has_models=bool(desk.models))
    return DeskSpec.model_construct(  # every part was checked when it was read
        name=desk.desk,
        folder=folder,
        languages=tuple(desk.languages),
        models=models,
        fall_backs=fall_backs,
        default_model=models.get("default", next(iter(models.values()), None)),
        providers=providers,
        brain=brain,
        model_away=away_rule(desk.model_away, brain),
        flows=flows,
        default_flow=desk.default_flow or next(iter(flows)),
        prompts=prompts,
        limits=desk.limits,
        retention=desk.retention,
        memory=desk.memory,
        telemetry=desk.telemetry,
        slots=slots,
        plans=plans,
        time_zone=desk.time_zone,
        policy=None if desk.policy is None else PolicySpec(rules=tuple(desk.policy)),
        safeguards=safeguard_spec(desk.caps, desk.approvals, desk.recipients),
        outgoing=desk.outgoing,
        commitments=tuple(desk.commitments),
        channels=channels,
        mode=_usual_mode(desk),
        modes=desk.modes,
        trust=desk.trust,
        triage=desk.triage,
        tickets=desk.tickets,
        routing=tuple(desk.routing.rules),
        mail=desk.mail,
        calendar=calendar_spec(desk.calendar, folder, desk.time_zone),
        reviews=reviews_spec(desk.reviews, folder, texts),
        undo_seconds=desk.undo_seconds,
        web_search=desk.web_search,
        mcp=mcp_spec(desk.mcp, folder),
        profiles=profiles,
    )


def _usual_mode(desk: DeskSection) -> Mode:
    """The mode of categories that `modes` does not name.

    Nothing leaves by itself unless desk.yaml says so. With `trust` this is the most that can be
    earned, and every category begins with `trust.start`.
    """
    if desk.modes:
        return desk.modes.get(ELSE, "draft")
    if desk.mode is not None:
        return desk.mode
    return "draft" if desk.trust is None else "auto"


class _Shaping(NamedTuple):
    """What shapes a flow's behaviour beside its stages."""

    prompts: Mapping[str, str]
    slots: Mapping[str, SlotSpec]
    profiles: Mapping[str, ProfileSpec]


def _flow_spec(name: str, flow: FlowSection, shaping: _Shaping) -> FlowSpec:
    stages = with_planner(
        {
            key: stage.compile(key, order, shaping.profiles)
            for order, (key, stage) in enumerate(flow.stages.items(), start=1)
        },
        flow.start,
    )
    start = flow.start or next(iter(stages))
    return _versioned(
        FlowSpec(name=name, start=start, stages=stages, max_hops=flow.max_hops), shaping
    )


def _own_flow(profile: ProfileSpec, shaping: _Shaping) -> FlowSpec:
    stages = own_stages(profile)
    return _versioned(FlowSpec(name=profile.name, start=next(iter(stages)), stages=stages), shaping)


def _versioned(flow: FlowSpec, shaping: _Shaping) -> FlowSpec:
    return flow.model_copy(update={"version": flow_version(flow, *shaping)})


def with_planner(stages: dict[str, AgentSpec], start: str | None = None) -> dict[str, AgentSpec]:
    """The stages with what planner and walkers of a plan know of each other.

    The planner knows the tools. A walker knows who can make the rest of its plan.
    """
    begin, planned = start or next(iter(stages)), dict(stages)
    planner = next((name for name, stage in stages.items() if stage.output_key == PLAN), None)
    for name, stage in stages.items():
        if stage.service == UNKNOWN_INTENT:
            places = {RESTART_AT: begin, PLAN_AT: planner}
            planned[name] = stage.changed(settings={**stage.settings, **places})
    if planner is None:
        return planned
    offered: list[str] = []
    for name, stage in stages.items():
        if not stage.has_tools:
            continue
        offered += [*stage.tools, *stage.intends]
        planned[name] = stage.changed(replan_at=planner, restart_at=begin)
    planned[planner] = planned[planner].changed(plans_with=tuple(dict.fromkeys(offered)))
    return planned


def flow_version(
    flow: FlowSpec,
    prompts: Mapping[str, str],
    slots: Mapping[str, SlotSpec],
    profiles: Mapping[str, ProfileSpec],
) -> str:
    """A digest of all that shapes the flow's behaviour; formatting, comments and the order of
    keys do not."""
    definition = flow.model_dump(
        mode="json", exclude={"version": True, "stages": {"__all__": {"stage_order", "plans_with"}}}
    )
    agents = sorted(profiles_in(flow.stages.values()))
    keys = [stage.prompt_key for stage in flow.stages.values() if stage.prompt_key]
    used = with_included([*keys, *map(prompt_key, agents)], prompts)
    filled = {
        name
        for stage in flow.stages.values()
        if stage.task == "extract"
        for name in stage.choices or slots
    }
    read: dict[str, Any] = {}
    if filled:
        read["slots"] = {name: slots[name].model_dump(mode="json") for name in sorted(filled)}
    if agents:
        read["profiles"] = {name: profiles[name].model_dump(mode="json") for name in agents}
    return canonical_hash({"flow": definition, "prompts": used, **read})[:_VERSION_LENGTH]
