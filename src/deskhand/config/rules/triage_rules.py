"""What makes a triage desk wrong: conditions that cannot be read or speak of unknown facts,
stages without the section that they judge by."""

from collections.abc import Iterator, Mapping
from typing import Any

from deskhand.conditions import ConditionError, compile_condition
from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.sections.triage import FACTS, TriageSection
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlPlace

_JUDGING = ("supervise", "specialise", "escalate", "file")
_GROUPING = ("all", "any", "not")


def triage_findings(draft: DeskDraft) -> ConfigFindings:
    section = draft.desk.triage
    if section is None:
        yield from _stages_without_section(draft)
        return
    for place, condition in _conditions(section):
        yield from _condition(place, condition)
    yield from _unknown_concerns(section)


def _stages_without_section(draft: DeskDraft) -> ConfigFindings:
    for name, flow in draft.desk.flows.items():
        for stage_name, stage in flow.stages.items():
            if stage.service in _JUDGING:
                place = ("flows", name, "stages", stage_name, "service")
                problem = f"`service: {stage.service}` judges by `triage:`, which is missing"
                fix = "add `triage: {issues: {...}, urgency: [...]}`"
                yield ConfigFinding(place, problem, fix, echo_of=("triage",))


def _conditions(section: TriageSection) -> Iterator[tuple[YamlPlace, Mapping[str, Any]]]:
    for name in ("urgency", "escalate", "for_people"):
        for number, rule in enumerate(getattr(section, name)):
            yield ("triage", name, number, "when"), rule.when


def _condition(place: YamlPlace, condition: Mapping[str, Any]) -> ConfigFindings:
    try:
        compile_condition(condition)
    except ConditionError as error:
        yield ConfigFinding(
            (*place, *error.path), f"the condition is wrong: {error.problem}", error.fix
        )
        return
    for fact, _ in _facts_in(condition):
        if fact not in FACTS:
            fix = did_you_mean(fact, FACTS, otherwise=f"write one of {', '.join(FACTS)}")
            yield ConfigFinding(place, f"nothing is known of `{fact}` in triage", fix)


def _facts_in(condition: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The facts that a condition asks for, each with what it must be."""
    for key, value in condition.items():
        if key == "not":
            yield from _facts_in(value)
        elif key in _GROUPING:
            for part in value:
                yield from _facts_in(part)
        else:
            yield str(key), value


def _unknown_concerns(section: TriageSection) -> ConfigFindings:
    """A condition that asks for a concern which no issue brings would never hold."""
    brought = {issue.concern for issue in section.issues.values() if issue.concern}
    for place, condition in _conditions(section):
        for asked in _asked_concerns(condition):
            if asked not in brought:
                fix = did_you_mean(asked, sorted(brought), otherwise="give it to an issue")
                yield ConfigFinding(place, f"no issue brings the concern `{asked}`", fix)


def _asked_concerns(condition: Mapping[str, Any]) -> Iterator[str]:
    for fact, wanted in _facts_in(condition):
        if fact == "concerns" and isinstance(wanted, Mapping):
            asked = wanted.get("contains")
            if isinstance(asked, str):
                yield asked
