"""What makes an intent wrong beside its examples: slots, tools, tiers, channels and models that
nobody knows."""

from functools import cache

from deskhand.config.intents import ReadIntents, tiers_in
from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.rules.plan_rules import reply_findings, step_findings
from deskhand.config.rules.routing_rules import BUILT_IN_CHANNELS
from deskhand.config.sections.intents import IntentSection
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlPlace

_TIERS = ("tiers",)


def intent_plan_findings(draft: DeskDraft) -> ConfigFindings:
    """Every problem of the desk's intents, with the file and the line that it stands on."""
    for file in draft.intents:
        for finding in _in_file(draft, file):
            if finding.file is not None:  # in a text of its own
                yield finding
            elif finding.echo_of is None or not _is_damaged(file, finding.echo_of):
                line = file.source.line(finding.place)
                yield finding._replace(file=file.path, line=line, echo_of=None)


def _in_file(draft: DeskDraft, file: ReadIntents) -> ConfigFindings:
    yield from _tier_lists(draft, file)
    yield from _labels(draft, file)
    yield from _failure_questions(draft, file)
    for name, intent in file.section.intents.items():
        place: YamlPlace = ("intents", name)
        yield from _declared_twice(draft, file, name, intent)
        yield from _slots(draft, place, intent)
        plan = intent.as_plan()
        yield from step_findings(draft, place, plan)
        yield from reply_findings(draft, place, plan)
        yield from _redacted(place, intent)
        yield from _counts_for(draft, place, intent)
        yield from _model(draft, place, intent)


def _labels(draft: DeskDraft, file: ReadIntents) -> ConfigFindings:
    slots = draft.names_at("slots")
    tools = {step.tool for intent in file.section.intents.values() for step in intent.steps}
    for slot in file.section.labels:
        if slot not in (*slots, *tools):
            otherwise = f"add `{slot}: {{type: ...}}` under `slots` in desk.yaml"
            fix = did_you_mean(slot, slots, otherwise=otherwise)
            yield ConfigFinding(("labels", slot), f"there is no slot `{slot}`", fix)


def _failure_questions(draft: DeskDraft, file: ReadIntents) -> ConfigFindings:
    """Questions after failed calls that have no words, or lead to a slot or intent which nobody
    knows."""
    slots = draft.names_at("slots")
    intents = [name for other in draft.intents for name in other.section.intents]
    worded = {code for other in draft.intents for code in other.section.errors}
    for code, question in file.section.failure_questions.items():
        place: YamlPlace = ("failure_questions", code)
        if code not in worded:
            fix = did_you_mean(code, worded, otherwise=f"write `errors: {{{code}: {{en: ...}}}}`")
            yield ConfigFinding(place, f"`errors` has no words for `{code}`", fix)
        if question.slot is not None and question.slot not in slots:
            fix = did_you_mean(question.slot, slots, otherwise="name a slot of desk.yaml")
            yield ConfigFinding((*place, "slot"), f"there is no slot `{question.slot}`", fix)
        if question.then is not None and question.then not in intents:
            fix = did_you_mean(question.then, intents, otherwise="name an intent")
            yield ConfigFinding((*place, "then"), f"there is no intent `{question.then}`", fix)


def _declared_twice(
    draft: DeskDraft, file: ReadIntents, name: str, intent: IntentSection
) -> ConfigFindings:
    place = ("intents", name)
    if intent.has_plan and name in draft.names_at("plans"):
        problem = f"intent `{name}` says here what is done, and `plans` in desk.yaml does too"
        yield ConfigFinding(place, problem, f"keep one: here, or `plans.{name}`")
    for other in draft.intents:
        if other.path == file.path:
            return
        before = other.section.intents.get(name)
        if before is not None and _says_something(before) and _says_something(intent):
            problem = f"intent `{name}` is described here and in {other.path.name}"
            yield ConfigFinding(place, problem, "keep all but its examples in one file")


def _says_something(intent: IntentSection) -> bool:
    return intent != _silent_intent()


@cache
def _silent_intent() -> IntentSection:
    return IntentSection.model_construct()


def _slots(draft: DeskDraft, place: YamlPlace, intent: IntentSection) -> ConfigFindings:
    slots = draft.names_at("slots")
    required = list(intent.slots.required)
    for slot, texts in intent.slots.texts().items():
        here = _slot_place(place, intent, slot)
        if slot not in slots:
            otherwise = f"add `{slot}: {{type: ...}}` under `slots` in desk.yaml"
            fix = did_you_mean(slot, slots, otherwise=otherwise)
            yield ConfigFinding(here, f"there is no slot `{slot}`", fix)
        elif slot in required and texts.ask is None:
            fix = f"write `{slot}: {{ask: {{en: ...}}}}` with the question"
            problem = f"nothing says how to ask for `{slot}`"
            yield ConfigFinding(here, problem, fix, echo_of=here)
    for slot in sorted({*required} & {*intent.slots.optional}):
        problem = f"`{slot}` is required and optional"
        yield ConfigFinding((*place, "slots", "optional"), problem, "keep it in one of the two")


def _slot_place(place: YamlPlace, intent: IntentSection, slot: str) -> YamlPlace:
    for key in ("required", "optional"):
        written = getattr(intent.slots, key)
        if slot in written:
            inside = written.index(slot) if isinstance(written, list) else slot
            return (*place, "slots", key, inside)
    return (*place, "slots")


def _redacted(place: YamlPlace, intent: IntentSection) -> ConfigFindings:
    slots = list(intent.slots.texts())
    for index, slot in enumerate(intent.redact):
        if slot not in slots:
            fix = did_you_mean(slot, slots, otherwise="add it to the intent's slots, or remove it")
            problem = f"`redact` names `{slot}`, which is no slot of this intent"
            yield ConfigFinding((*place, "redact", index), problem, fix, echo_of=(*place, "slots"))


def _counts_for(draft: DeskDraft, place: YamlPlace, intent: IntentSection) -> ConfigFindings:
    channels = [*draft.names_at("channels"), *BUILT_IN_CHANNELS]
    for index, channel in enumerate(intent.channels):
        if channel not in channels:
            fix = did_you_mean(channel, channels, otherwise="name one of the desk's channels")
            yield ConfigFinding(
                (*place, "channels", index), f"there is no channel `{channel}`", fix
            )
    tiers = tiers_in(draft.intents)
    if intent.tier is not None and intent.tier not in tiers:
        otherwise = f"list the tiers, the lowest first: `tiers: [..., {intent.tier}]`"
        fix = did_you_mean(intent.tier, tiers, otherwise=otherwise)
        yield ConfigFinding((*place, "tier"), f"there is no tier `{intent.tier}`", fix, _TIERS)


def _model(draft: DeskDraft, place: YamlPlace, intent: IntentSection) -> ConfigFindings:
    roles = draft.names_at("models")
    if intent.model is not None and intent.model not in roles:
        fix = did_you_mean(intent.model, roles, otherwise="name a role under `models` in desk.yaml")
        yield ConfigFinding((*place, "model"), f"there is no model role `{intent.model}`", fix)


def _tier_lists(draft: DeskDraft, file: ReadIntents) -> ConfigFindings:
    tiers = file.section.tiers
    if tiers is None:
        return
    if len({*tiers}) < len(tiers):
        yield ConfigFinding(_TIERS, "`tiers` names one twice", "name each once, the lowest first")
    first = next(other for other in draft.intents if other.section.tiers is not None)
    if first.path != file.path:
        problem = f"`tiers` stand here and in {first.path.name}"
        yield ConfigFinding(_TIERS, problem, "keep one of the two")


def _is_damaged(file: ReadIntents, place: YamlPlace) -> bool:
    return any(hurt[: len(place)] == place or place[: len(hurt)] == hurt for hurt in file.damaged)
