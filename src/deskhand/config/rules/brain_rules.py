"""What makes a brain wrong: a missing file, no model for an LLM, prompts nobody can answer, idle
settings."""

import re2

from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.sections.brain import (
    BrainSettingsSection,
    BrainSpec,
    ScriptedSection,
    brain_spec,
)
from deskhand.config.suggestions import did_you_mean


def second_reader_findings(draft: DeskDraft) -> ConfigFindings:
    """A second reader without a model of its role, or at a desk where no model writes."""
    role = draft.desk.outgoing.second_reader
    if role is None:
        return
    place = ("outgoing", "second_reader")
    roles = draft.names_at("models")
    if role not in roles:
        fix = did_you_mean(role, roles, otherwise=f"add `{role}: provider/model` under `models`")
        yield ConfigFinding(place, f"there is no model for the role `{role}`", fix)
        return
    brain = draft.desk.brain
    if isinstance(brain, ScriptedSection):
        problem = "`second_reader` has no effect: rules from a file write the replies"
        yield ConfigFinding(place, problem, "remove it, or name another `brain`")
        return
    spec = brain_spec(brain, draft.folder, has_models=bool(draft.desk.models))
    if spec.kind == "embedded":
        problem = "`second_reader` has no effect: the embedded brain writes nothing of its own"
        fix = "remove it, or let a model write: `brain: llm` or `brain: {use: cascade}`"
        yield ConfigFinding(place, problem, fix)


def brain_findings(draft: DeskDraft) -> ConfigFindings:
    """A missing file, an LLM without a model, prompts nobody can answer, settings without
    effect."""
    desk = draft.desk
    if isinstance(desk.brain, ScriptedSection):
        if not (draft.folder / desk.brain.scripted).is_file():
            fix = "create it, or correct the name (it is relative to the desk's folder)"
            yield ConfigFinding(
                ("brain", "scripted"), f"there is no file `{desk.brain.scripted}`", fix
            )
        return
    spec = brain_spec(desk.brain, draft.folder, has_models=bool(desk.models))
    named = draft.names_at("models")
    if "model_away" in draft.source.data and spec.kind == "embedded" and not desk.agent.profiles:
        problem = "`model_away` has no effect: the desk asks no model"
        yield ConfigFinding(("model_away",), problem, "remove it, or name a model under `models`")
    if spec.kind != "embedded" and not named:
        fix = "add `models: {fast: provider/model}`, or write `brain: embedded`, which needs none"
        yield ConfigFinding(
            ("brain",), f"`brain` asks an LLM ({spec.kind}), but the desk names no model", fix
        )
    if spec.kind == "embedded" and not (named and "brain" not in draft.source.data):
        yield from _own_prompts(draft)
    if isinstance(desk.brain, BrainSettingsSection):
        yield from _idle_settings(desk.brain, spec)


def _own_prompts(draft: DeskDraft) -> ConfigFindings:
    for name, flow in draft.desk.flows.items():
        for key, stage in flow.stages.items():
            if stage.prompt is not None and stage.task is None:
                place = ("flows", name, "stages", key, "prompt")
                problem = (
                    f"stage `{key}` asks with a prompt of its own: that needs an LLM, and the desk"
                    " names no model"
                )
                fix = (
                    "add `models: {fast: provider/model}`, give the stage a `task:`, or use `brain:"
                    " {scripted: FILE}`"
                )
                yield ConfigFinding(place, problem, fix, echo_of=("brain",))


def _idle_settings(brain: BrainSettingsSection, spec: BrainSpec) -> ConfigFindings:
    if spec.kind != "cascade" and brain.cascade is not None:
        yield ConfigFinding(
            ("brain", "cascade"),
            f"`cascade` has no effect with `use: {spec.kind}`",
            "remove one of the two",
        )
    if spec.kind == "embedded" and spec.redact:
        problem = "`redact` has no effect: the embedded brain sends nothing anywhere"
        yield ConfigFinding(
            ("brain", "redact"), problem, "remove it, or name a model under `models`"
        )
    options = re2.Options()
    options.log_errors = False
    for name, pattern in spec.patterns.items():
        place = ("brain", "redact", name)
        try:
            compiled = re2.compile(pattern, options)
        except (re2.error, UnicodeEncodeError):
            fix = "correct it; in YAML put patterns in single quotes: `'P-[0-9]{4}'`"
            yield ConfigFinding(place, "this is not an RE2 pattern", fix)
            continue
        if compiled.search("") is not None:
            yield ConfigFinding(
                place, "the pattern matches nothing at all as well", "use `+` where it has `*`"
            )
