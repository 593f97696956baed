"""The check of a whole desk before anything runs: all problems at once, each with file, line and
what to write."""

import re
from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from deskhand.config.rules.brain_rules import brain_findings, second_reader_findings
from deskhand.config.rules.calendar_rules import calendar_findings
from deskhand.config.rules.channel_rules import channel_findings, mode_findings
from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft, FlowDraft
from deskhand.config.rules.flow_rules import flow_findings
from deskhand.config.rules.intent_plan_rules import intent_plan_findings
from deskhand.config.rules.intent_rules import intent_findings
from deskhand.config.rules.language_rules import language_findings
from deskhand.config.rules.mcp_rules import mcp_findings
from deskhand.config.rules.plan_rules import plan_findings
from deskhand.config.rules.policy_rules import policy_findings
from deskhand.config.rules.profile_rules import profile_findings
from deskhand.config.rules.reply_text_rules import reply_text_findings
from deskhand.config.rules.review_rules import review_findings, trust_findings
from deskhand.config.rules.routing_rules import routing_findings
from deskhand.config.rules.slot_rules import slot_findings
from deskhand.config.rules.stage_route_rules import route_findings
from deskhand.config.rules.stage_rules import stage_findings
from deskhand.config.rules.ticket_rules import ticket_findings
from deskhand.config.rules.triage_rules import triage_findings
from deskhand.config.sections.desk_file import as_list
from deskhand.config.suggestions import did_you_mean
from deskhand.errors import ConfigError

_USUAL_ZONE = re.compile(
    "UTC|(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Z][A-Za-z_]+"
)


def check_desk(draft: DeskDraft) -> list[ConfigError]:
    """Every problem of the desk; echoes of what could not be read in the first place are left
    out."""
    return [
        finding.error(draft.source)
        for rule in RULES
        for finding in rule(draft)
        if finding.echo_of is None or not draft.is_damaged(finding.echo_of)
    ]


def _flows(draft: DeskDraft) -> ConfigFindings:
    names, chosen = draft.names_at("flows"), draft.desk.default_flow
    agents = [name for name in draft.names_at("agent", "profiles") if name not in names]
    names = names or agents
    if not names:
        place = ("flows",) if "flows" in draft.source.data else ()
        yield ConfigFinding(
            place, "the desk has no flow", "add `flows: {NAME: {stages: {...}}}`", echo_of=place
        )
    elif chosen is None and len(names) > 1:
        fix = f"add `default_flow: {names[0]}` (or another)"
        problem = "there are several flows and nothing says which is the usual one"
        yield ConfigFinding(("flows",), problem, fix, echo_of=("default_flow",))
    elif chosen is not None and chosen not in (*names, *agents):
        fix = did_you_mean(chosen, (*names, *agents), otherwise="add this flow")
        yield ConfigFinding(("default_flow",), f"there is no flow `{chosen}`", fix)


def _each_flow(draft: DeskDraft) -> ConfigFindings:
    for name, section in draft.desk.flows.items():
        flow = FlowDraft(draft, name, section)
        yield from flow_findings(flow)
        for stage_name, stage in section.stages.items():
            yield from stage_findings(flow, stage_name, stage)
            for index, route in enumerate(stage.routes):
                yield from route_findings(
                    (*flow.place, "stages", stage_name, "routes", index), stage, route
                )


_WRITTEN_BY_US = frozenset(
    ("model", "messages", "input", "system", "instructions", "tools", "stream", "response_format")
)
"""Fields of a request that a desk's `params` may not write."""


def _providers(draft: DeskDraft) -> ConfigFindings:
    for name, provider in draft.desk.providers.items():
        if provider.key_env is not None and provider.key_file is not None:
            problem = f"provider `{name}` has both `key_env` and `key_file`"
            yield ConfigFinding(("providers", name, "key_file"), problem, "keep one of the two")
        for model, fields in provider.params.items():
            for field in sorted(_WRITTEN_BY_US & fields.keys()):
                place = ("providers", name, "params", model, field)
                yield ConfigFinding(place, f"Deskhand writes `{field}` itself", "remove it")


def _models(draft: DeskDraft) -> ConfigFindings:
    """Fall-backs belong to a model: a desk says once what is asked in its place."""
    fallbacks: dict[str, tuple[str, ...]] = {}
    for role, names in draft.desk.models.items():
        first, *others = as_list(names)
        if not others:
            continue
        if len({first, *others}) <= len(others):
            yield ConfigFinding(
                ("models", role), f"`models.{role}` names a model twice", "name each once"
            )
        if fallbacks.setdefault(first, tuple(others)) != tuple(others):
            problem = f"`models.{role}` and another role have different fall-backs for `{first}`"
            yield ConfigFinding(("models", role), problem, "write the same list for both")


def _time_zone(draft: DeskDraft) -> ConfigFindings:
    zone = draft.desk.time_zone
    if not _is_usual_zone(zone) and zone not in available_timezones():
        fix = did_you_mean(zone, available_timezones(), otherwise="remove it")
        yield ConfigFinding(("time_zone",), f"there is no time zone `{zone}`", fix)


def _is_usual_zone(name: str) -> bool:
    """Whether it is a city's zone or UTC: the list of all is a walk through 600 files."""
    if _USUAL_ZONE.fullmatch(name) is None:
        return False
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError):
        return False
    return True


RULES: tuple[Callable[[DeskDraft], ConfigFindings], ...] = (
    _flows,
    _each_flow,
    brain_findings,
    second_reader_findings,
    _providers,
    _models,
    slot_findings,
    plan_findings,
    reply_text_findings,
    routing_findings,
    mcp_findings,
    policy_findings,
    profile_findings,
    _time_zone,
    language_findings,
    intent_findings,
    intent_plan_findings,
    channel_findings,
    mode_findings,
    calendar_findings,
    review_findings,
    trust_findings,
    triage_findings,
    ticket_findings,
)
"""A new section brings its own rule."""
