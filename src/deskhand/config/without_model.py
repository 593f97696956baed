"""Agents whose model cannot be asked: no key, or a brain without models.

`without_model` of a profile names the flow that works its messages then.
"""

from collections.abc import Mapping

from deskhand.config.desk import DeskSpec
from deskhand.config.sections.profiles import profiles_in
from deskhand.errors import ConfigError


def stand_ins(spec: DeskSpec, unusable: Mapping[str, str]) -> dict[str, str]:
    """The flows with an unusable profile, each with the flow that works its messages instead.

    `unusable` says by profile why its model cannot be asked. Flows whose profile names no
    `without_model` are left out.
    """
    replacements: dict[str, str] = {}
    for name in spec.flows:
        for profile in _unusable_profiles(spec, name, unusable):
            replacement = spec.profiles[profile].without_model
            if replacement is not None:
                replacements.setdefault(name, replacement)
    return replacements


def require_models(spec: DeskSpec, unusable: Mapping[str, str]) -> None:
    """Raise ConfigError where messages reach an agent without a model and without a stand-in."""
    for flow in sorted(_flows_in_use(spec) - spec.stand_ins.keys()):
        for profile in _unusable_profiles(spec, flow, unusable):
            raise ConfigError(
                f"the agent `{profile}` has no model to ask: {unusable[profile]}",
                file=spec.folder / "desk.yaml",
                fix=(
                    "mend that, name another `model:`, or name a flow that does without under"
                    " `without_model:`"
                ),
            )


def _flows_in_use(spec: DeskSpec) -> set[str]:
    """The flows that messages take: the default one and those that routing rules name."""
    flows = {spec.default_flow}
    for rule in spec.routing:
        target = rule.profile if rule.route == "agent" else rule.flow
        if target is not None:
            flows.add(target)
    return flows


def _unusable_profiles(spec: DeskSpec, flow: str, unusable: Mapping[str, str]) -> list[str]:
    return sorted(profiles_in(spec.flows[flow].stages.values()) & unusable.keys())
