"""What makes a single stage wrong: no work, two kinds of work, names nobody knows, settings
without effect."""

from collections.abc import Callable

from deskhand.config.prompts import ENDINGS
from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, FlowDraft
from deskhand.config.rules.review_rules import expiry_findings
from deskhand.config.sections.stage import StageSection
from deskhand.config.suggestions import did_you_mean, near
from deskhand.config.yaml import YamlPlace
from deskhand.model.spec import END

_KIND_KEYS = ("task", "prompt", "tools", "service", "profile")
_ANY_KIND = "write `task:` or `prompt:` (a brain), `tools:`, `service:` or `profile:` (an agent)"
_NEEDS: dict[str, tuple[Callable[[StageSection], bool], str]] = {
    "categories": (lambda stage: stage.task == "classify", "`task: classify`"),
    "slots": (lambda stage: stage.task == "extract", "`task: extract`"),
    "model": (
        lambda stage: stage.is_llm or stage.profile is not None,
        "`task:`, `prompt:` or `profile:`",
    ),
    "temperature": (lambda stage: stage.is_llm, "`task:` or `prompt:`"),
    "max_tokens": (lambda stage: stage.is_llm, "`task:` or `prompt:`"),
    "tone": (lambda stage: stage.is_llm, "`task:` or `prompt:`"),
    "auto_send_at": (lambda stage: stage.service == "review", "`service: review`"),
    "always_ask": (lambda stage: stage.service == "review", "`service: review`"),
    "concerns": (lambda stage: stage.service == "review", "`service: review`"),
    "wary": (lambda stage: stage.service == "review", "`service: review`"),
    "intends": (lambda stage: bool(stage.tools), "`tools:`"),
    "ask_first_contact": (lambda stage: stage.service == "review", "`service: review`"),
    "expire": (
        lambda stage: stage.service in ("review", "dispatch"),
        "`service: review` or `service: dispatch`",
    ),
    "settings": (lambda stage: stage.service is not None, "`service:`"),
}


def stage_findings(flow: FlowDraft, name: str, stage: StageSection) -> ConfigFindings:
    place = (*flow.place, "stages", name)
    yield from _kind(place, name, stage)
    if not any(near(str(key), _KIND_KEYS) for key in flow.draft.damaged_keys(place)):
        yield from _idle_keys(place, stage)
    yield from _names(flow, place, stage)
    yield from _listed_names(flow, place, stage)
    yield from _targets(flow, place, stage)
    yield from _categories(flow, place, stage)
    if stage.expire is not None:
        yield from expiry_findings((*place, "expire"), stage.expire)


def _kind(place: YamlPlace, name: str, stage: StageSection) -> ConfigFindings:
    if name == END:
        yield ConfigFinding(
            place,
            f"a stage cannot be called `{END}`: that is where a run ends",
            "give it another name",
        )
    if not (stage.is_llm or stage.tools or stage.service or stage.profile):
        yield ConfigFinding(place, f"stage `{name}` does nothing", _ANY_KIND, echo_of=place)
    if stage.service and (stage.is_llm or stage.tools):
        kinds = {"task": stage.task, "prompt": stage.prompt, "tools": stage.tools}
        other = next(key for key, value in kinds.items() if value)
        problem = f"stage `{name}` has both `service` and `{other}`"
        yield ConfigFinding((*place, "service"), problem, "keep one of them, or make it two stages")
    others = {
        "task": stage.task,
        "prompt": stage.prompt,
        "tools": stage.tools,
        "service": stage.service,
    }
    beside = [key for key, value in others.items() if value]
    if stage.profile and beside:
        problem = f"stage `{name}` has both `profile` and `{beside[0]}`"
        fix = "keep one of them: the profile names the agent's tools, prompt and model itself"
        yield ConfigFinding((*place, "profile"), problem, fix)
    if stage.task == "classify" and not (stage.categories or stage.prompt):
        problem = f"stage `{name}` classifies, but into what?"
        yield ConfigFinding(
            (*place, "task"), problem, "add `categories: [one, two, ...]`", echo_of=place
        )


def _idle_keys(place: YamlPlace, stage: StageSection) -> ConfigFindings:
    for field, (holds, wanted) in _NEEDS.items():
        if field in stage.model_fields_set and not holds(stage):
            key = type(stage).model_fields[field].alias or field
            yield ConfigFinding(
                (*place, key), f"`{key}` has no effect here", f"use it with {wanted}, or remove it"
            )


def _names(flow: FlowDraft, place: YamlPlace, stage: StageSection) -> ConfigFindings:
    draft = flow.draft
    if stage.prompt is not None and stage.prompt not in draft.prompts:
        otherwise = f"create prompts/{stage.prompt}{ENDINGS[0]}"
        fix = did_you_mean(stage.prompt, draft.prompts, otherwise=otherwise)
        yield ConfigFinding((*place, "prompt"), f"there is no prompt `{stage.prompt}`", fix)
    if stage.service is not None and stage.service not in draft.services:
        fix = did_you_mean(
            stage.service, draft.services, otherwise="register a service of this name"
        )
        yield ConfigFinding((*place, "service"), f"there is no service `{stage.service}`", fix)
    profiles = draft.names_at("agent", "profiles")
    if stage.profile is not None and stage.profile not in profiles:
        fix = did_you_mean(
            stage.profile, profiles, otherwise=f"add `{stage.profile}` under `agent: profiles:`"
        )
        yield ConfigFinding(
            (*place, "profile"), f"there is no profile `{stage.profile}`", fix, ("agent",)
        )
    roles = draft.names_at("models")
    if stage.model is not None and stage.model not in roles:
        fix = did_you_mean(
            stage.model, roles, otherwise=f"add `{stage.model}: provider/model` under `models`"
        )
        yield ConfigFinding(
            (*place, "model"), f"there is no model for the role `{stage.model}`", fix
        )


def _listed_names(flow: FlowDraft, place: YamlPlace, stage: StageSection) -> ConfigFindings:
    """Tools and slots that the stage lists and nobody knows."""
    draft = flow.draft
    for index, tool in enumerate(stage.tools or ()):
        if tool not in draft.tools:
            fix = did_you_mean(tool, draft.tools, otherwise="define a tool of this name")
            yield ConfigFinding((*place, "tools", index), f"there is no tool `{tool}`", fix)
    slots = draft.names_at("slots")
    for index, slot in enumerate(stage.slots or ()):
        if slot not in slots:
            fix = did_you_mean(slot, slots, otherwise=f"add `{slot}: {{type: ...}}` under `slots`")
            yield ConfigFinding((*place, "slots", index), f"there is no slot `{slot}`", fix)


def _targets(flow: FlowDraft, place: YamlPlace, stage: StageSection) -> ConfigFindings:
    stages = flow.stage_names
    named: list[tuple[YamlPlace, str | None, bool]] = [
        (("next",), stage.next, True),
        (("on_error",), stage.on_error, True),
        (("loop_to",), stage.loop_to, False),
        (("resume_at",), stage.resume_at, False),
    ]
    for index, route in enumerate(stage.routes):
        named += [
            (("routes", index, "to"), route.to, True),
            (("routes", index, "target"), route.target, True),
        ]
    for key, target, may_end in named:
        if target is None or target in stages or (target == END and may_end):
            continue
        choices = [*stages, END] if may_end else stages
        problem = f"`{key[-1]}` leads to `{target}`, and there is no such stage"
        yield ConfigFinding(
            (*place, *key), problem, did_you_mean(target, choices, otherwise="add this stage")
        )


def _categories(flow: FlowDraft, place: YamlPlace, stage: StageSection) -> ConfigFindings:
    """A category twice, or one that no stage gives: a misspelt one in `always_ask` would let
    through what a person wanted to see."""
    listed = stage.categories or []
    for index, category in enumerate(listed):
        if category in listed[:index]:
            problem = f"the category `{category}` is listed twice"
            yield ConfigFinding((*place, "categories", index), problem, "remove one of the two")
    categories = {
        category for other in flow.flow.stages.values() for category in other.categories or ()
    }
    if not categories:
        return
    used: list[tuple[YamlPlace, str]] = [
        (("always_ask", index), name) for index, name in enumerate(stage.always_ask or ())
    ]
    used += [(("tone", name), name) for name in stage.tone or () if name != "else"]
    for key, name in used:
        if name not in categories:
            fix = did_you_mean(
                name,
                categories,
                otherwise="add it to the `categories` of the stage that classifies",
            )
            yield ConfigFinding(
                (*place, *key), f"no stage of this flow gives the category `{name}`", fix
            )
