"""What makes an agent profile wrong: a prompt that is not there, tools and flows nobody knows,
idle settings."""

from deskhand.config.prompts import template_error
from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.rules.routing_rules import preprocess_findings
from deskhand.config.sections.profiles import LARGEST_PROMPT, TEMPLATE, ProfileSection
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlPlace, read_text
from deskhand.errors import ConfigError


def profile_findings(draft: DeskDraft) -> ConfigFindings:
    for name, profile in draft.desk.agent.profiles.items():
        place: YamlPlace = ("agent", "profiles", name)
        if profile.name is not None and profile.name != name:
            fix = f"write `name: {name}`, or leave it out"
            yield ConfigFinding(
                (*place, "name"), f"the profile `{name}` calls itself `{profile.name}`", fix
            )
        yield from _prompt(draft, place, profile)
        yield from _tools(draft, place, profile)
        yield from _stand_in(draft, place, name, profile)
        yield from preprocess_findings(draft, (*place, "preprocess"), profile.preprocess)


def _prompt(draft: DeskDraft, place: YamlPlace, profile: ProfileSection) -> ConfigFindings:
    file = draft.folder / profile.system_prompt_file
    where = (*place, "system_prompt_file")
    if not file.is_file():
        fix = "create it, or correct the name (it is relative to the desk's folder)"
        yield ConfigFinding(where, f"there is no file `{profile.system_prompt_file}`", fix)
        return
    try:
        text = read_text(file, largest=LARGEST_PROMPT)
    except ConfigError as error:
        yield ConfigFinding(
            where, f"`{profile.system_prompt_file}`: {error.problem}", error.fix or "mend the file"
        )
        return
    if not text.strip():
        yield ConfigFinding(
            where,
            f"`{profile.system_prompt_file}` is empty",
            "say in it who the agent is and what it does",
        )
    if file.suffix == TEMPLATE and (wrong := template_error(text)) is not None:
        line, problem = wrong
        fix = (
            "correct the Jinja2 template, or give the file the ending .txt to send it as it stands"
        )
        yield ConfigFinding(where, f"`{profile.system_prompt_file}`, line {line}: {problem}", fix)


def _tools(draft: DeskDraft, place: YamlPlace, profile: ProfileSection) -> ConfigFindings:
    for index, tool in enumerate(profile.tools):
        if tool not in draft.tools:
            fix = did_you_mean(tool, draft.tools, otherwise="define a tool of this name")
            yield ConfigFinding((*place, "tools", index), f"there is no tool `{tool}`", fix)


def _stand_in(
    draft: DeskDraft, place: YamlPlace, name: str, profile: ProfileSection
) -> ConfigFindings:
    flow = profile.without_model
    if flow is None:
        return
    flows = draft.names_at("flows")
    if flow not in flows:
        fix = did_you_mean(flow, flows, otherwise="add this flow")
        yield ConfigFinding(
            (*place, "without_model"), f"there is no flow `{flow}`", fix, ("flows",)
        )
        return
    section = draft.desk.flows.get(flow)
    if section is None:
        return
    agents = [key for key, stage in section.stages.items() if stage.profile is not None]
    if agents:
        problem = (
            f"the flow `{flow}` cannot stand in for a model: its stage `{agents[0]}` needs one"
            " itself"
        )
        yield ConfigFinding(
            (*place, "without_model"), problem, "name a flow without a `profile:` stage"
        )
