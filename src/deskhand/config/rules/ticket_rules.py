"""What makes deadlines and macros wrong: rules that say nothing or are never reached, deadlines in
the wrong order, macros that do nothing."""

from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.sections.tickets import TARGETS, MacroSection, SlaSection, working_seconds
from deskhand.config.suggestions import did_you_mean
from deskhand.model.ticket_state import TicketState

_PLACE = ("tickets",)


def ticket_findings(draft: DeskDraft) -> ConfigFindings:
    section = draft.desk.tickets
    for number, rule in enumerate(section.sla):
        yield from _targets(number, rule)
    yield from _hidden(section.sla)
    for name, macro in section.macros.items():
        yield from _macro(name, macro)
    yield from _satisfaction(draft)


def _satisfaction(draft: DeskDraft) -> ConfigFindings:
    asked = draft.desk.tickets.satisfaction
    channels = draft.names_at("channels")
    if asked is None or asked.channel is None or asked.channel in channels:
        return
    fix = did_you_mean(asked.channel, channels, otherwise="add this channel")
    place = (*_PLACE, "satisfaction", "channel")
    yield ConfigFinding(place, f"there is no channel `{asked.channel}`", fix)


def _targets(number: int, rule: SlaSection) -> ConfigFindings:
    place = (*_PLACE, "sla", number)
    named = [target for target in TARGETS if getattr(rule, target) is not None]
    if not named:
        yield ConfigFinding(
            place, "the rule sets no deadline", "add `first_response: 4 hours` or another"
        )
    for target in named:
        if working_seconds(getattr(rule, target)) <= 0:
            yield ConfigFinding(
                (*place, target), f"`{target}` leaves no time at all", "write `30 min` or more"
            )
    first, resolution = rule.seconds("first_response"), rule.seconds("resolution")
    if first is not None and resolution is not None and resolution < first:
        problem = "a ticket would have to be solved before it has to be answered"
        yield ConfigFinding((*place, "resolution"), problem, "make it longer than `first_response`")


def _hidden(rules: tuple[SlaSection, ...]) -> ConfigFindings:
    """A rule behind one that takes every ticket is never reached."""
    for number, rule in enumerate(rules[:-1]):
        if rule.urgency is None and rule.plan is None:
            place = (*_PLACE, "sla", number + 1)
            problem = f"no ticket reaches this rule: rule {number + 1} takes them all"
            yield ConfigFinding(place, problem, "move the rule without conditions to the end")
            return


def _macro(name: str, macro: MacroSection) -> ConfigFindings:
    place = (*_PLACE, "macros", name)
    if not macro.model_fields_set:
        yield ConfigFinding(place, f"`{name}` does nothing", "add `tags: [...]` or another step")
    if macro.state is TicketState.MERGED:
        yield ConfigFinding(
            (*place, "state"), "a ticket is merged with another one", "write `solved` or `closed`"
        )
