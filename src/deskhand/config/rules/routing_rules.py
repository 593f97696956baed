"""What makes a routing rule wrong: a pattern that is none, a flow or profile that is not there,
half an address."""

from collections.abc import Iterator

import re2

from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.rules.intent_rules import intent_labels
from deskhand.config.rules.language_rules import language_problem
from deskhand.config.sections.routing import MatchSection, RoutingRuleSection
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlPlace

BUILT_IN_CHANNELS = ("mail", "api", "chat")


def routing_findings(draft: DeskDraft) -> ConfigFindings:
    seen: set[str] = set()
    for index, rule in enumerate(draft.desk.routing.rules):
        place: YamlPlace = ("routing", "rules", index)
        if rule.name in seen:
            yield ConfigFinding(
                (*place, "name"),
                f"there are two rules `{rule.name}`",
                "give each a name of its own",
            )
        seen.add(rule.name)
        yield from _target(draft, place, rule)
        yield from preprocess_findings(draft, (*place, "preprocess"), rule.preprocess)
        for inner, match in _matches((*place, "match"), rule.match):
            yield from _match(draft, inner, match)
    for index, address in enumerate(draft.desk.mail.forwarders):
        if "@" not in address:
            fix = "write the whole address, as `notifications@helpdesk.example`"
            yield ConfigFinding(("mail", "forwarders", index), f"`{address}` is no address", fix)


def preprocess_findings(draft: DeskDraft, place: YamlPlace, name: str | None) -> ConfigFindings:
    """A preprocessor nobody knows, at a rule or a profile."""
    if name is None or name in draft.preprocessors:
        return
    fix = did_you_mean(
        name, draft.preprocessors, otherwise=f'write `@preprocessor("{name}")` in tools.py'
    )
    yield ConfigFinding(place, f"there is no preprocessor `{name}`", fix)


def _target(draft: DeskDraft, place: YamlPlace, rule: RoutingRuleSection) -> ConfigFindings:
    flows, profiles = draft.names_at("flows"), draft.names_at("agent", "profiles")
    if rule.route == "agent":
        if rule.profile is None:
            fix = "add `profile: NAME`, or write `route: pipeline`"
            yield ConfigFinding(
                place,
                f"rule `{rule.name}` goes to an agent without saying which",
                fix,
                (*place, "profile"),
            )
        elif rule.profile not in (*profiles, *flows):
            fix = did_you_mean(
                rule.profile,
                profiles or flows,
                otherwise=f"add `{rule.profile}` under `agent: profiles:`",
            )
            yield ConfigFinding(
                (*place, "profile"), f"there is no profile `{rule.profile}`", fix, ("agent",)
            )
        if rule.flow is not None:
            fix = "remove it, or write `route: pipeline`"
            yield ConfigFinding((*place, "flow"), "`flow` has no effect beside `route: agent`", fix)
        return
    if rule.profile is not None:
        fix = "write `route: agent`, or remove the profile"
        yield ConfigFinding(
            (*place, "profile"), "`profile` has no effect without `route: agent`", fix
        )
    if rule.flow is not None and rule.flow not in (*flows, *profiles):
        others = [flow for flow in flows if flow not in profiles]
        fix = did_you_mean(rule.flow, others, otherwise="add this flow")
        yield ConfigFinding((*place, "flow"), f"there is no flow `{rule.flow}`", fix, ("flows",))
    yield from _goes_to_an_agent(draft, place, rule)


def _goes_to_an_agent(
    draft: DeskDraft, place: YamlPlace, rule: RoutingRuleSection
) -> ConfigFindings:
    """A rule that says pipeline, or nothing, while an agent would answer its messages."""
    flows, profiles = draft.names_at("flows"), draft.names_at("agent", "profiles")
    default = draft.desk.default_flow or next(iter((*flows, *profiles)), None)
    target = rule.flow or default
    if target not in profiles:
        return
    plain = [flow for flow in flows if flow not in profiles]
    named = f"`flow: {plain[0]}`" if plain else "a flow under `flows:` and `flow: NAME`"
    fix = f"write `route: agent` and `profile: {target}`, or {named}"
    if rule.flow is not None:
        problem = f"rule `{rule.name}` says pipeline, and `{target}` is an agent"
        yield ConfigFinding((*place, "flow"), problem, fix)
        return
    problem = f"rule `{rule.name}` says pipeline without a flow, and the default is the agent"
    route = (*place, "route") if "route" in rule.model_fields_set else place
    yield ConfigFinding(route, f"{problem} `{target}`", fix, (*place, "flow"))


def _matches(place: YamlPlace, match: MatchSection) -> Iterator[tuple[YamlPlace, MatchSection]]:
    yield place, match
    for index, inner in enumerate(match.any or ()):
        yield from _matches((*place, "any", index), inner)
    if match.not_ is not None:
        yield from _matches((*place, "not"), match.not_)


def _match(draft: DeskDraft, place: YamlPlace, match: MatchSection) -> ConfigFindings:
    if match.all is False:
        yield ConfigFinding(
            (*place, "all"), "`all` can only be true", "write `all: true`, or remove it"
        )
    for key, value in (
        ("sender_email", match.sender_email),
        ("forwarded_from", match.forwarded_from),
    ):
        if value is not None and "@" not in value:
            yield ConfigFinding(
                (*place, key),
                f"`{value}` is no address",
                "write the whole address, as `ann@example.com`",
            )
    if match.sender_domain is not None and "@" in match.sender_domain:
        fix = f"write `{match.sender_domain.rpartition('@')[2]}`"
        yield ConfigFinding((*place, "sender_domain"), "a domain has no @", fix)
    yield from _header_patterns(place, match)
    yield from _names(draft, place, match)


def _header_patterns(place: YamlPlace, match: MatchSection) -> ConfigFindings:
    for header, pattern in (match.header_match or {}).items():
        if (problem := pattern_problem(pattern)) is not None:
            fix = "correct the pattern (RE2: no look-around, no back-references)"
            yield ConfigFinding(
                (*place, "header_match", header),
                f"the pattern of `{header}` is none: {problem}",
                fix,
            )


def _names(draft: DeskDraft, place: YamlPlace, match: MatchSection) -> ConfigFindings:
    """A channel or an intent that the desk does not have."""
    channels = [*draft.names_at("channels"), *BUILT_IN_CHANNELS]
    if match.channel is not None and match.channel not in channels:
        fix = did_you_mean(match.channel, channels, otherwise="name one of the desk's channels")
        yield ConfigFinding(
            (*place, "channel"), f"there is no channel `{match.channel}`", fix, ("channels",)
        )
    if match.language is not None and (wrong := language_problem(match.language)) is not None:
        yield ConfigFinding((*place, "language"), *wrong)
    if match.intent is None:
        return
    labels = {label for label, _, _ in intent_labels(draft.folder)}
    if not labels:
        fix = "add intents.yaml with examples of each intent, or remove the condition"
        yield ConfigFinding((*place, "intent"), "the desk has learned no intents", fix)
    elif match.intent not in labels:
        fix = did_you_mean(match.intent, labels, otherwise="give examples of it in intents.yaml")
        yield ConfigFinding((*place, "intent"), f"there is no intent `{match.intent}`", fix)


def pattern_problem(pattern: str) -> str | None:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        said = error.args[0] if error.args else ""
        return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    return None
