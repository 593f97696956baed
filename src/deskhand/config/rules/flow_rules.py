"""What makes a flow wrong as a whole: where it starts, what it never reaches, where it never
stops."""

from collections.abc import Set as AbstractSet

from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, FlowDraft
from deskhand.config.rules.flow_graph import endless_loops, reachable
from deskhand.config.sections.stage import StageSection
from deskhand.config.suggestions import did_you_mean, near
from deskhand.config.yaml import YamlPlace
from deskhand.model.spec import END

_EDGE_KEYS = {"next", "on_error", "loop_to", "resume_at", "routes"}


def flow_findings(flow: FlowDraft) -> ConfigFindings:
    stages, names = flow.flow.stages, flow.stage_names
    start = flow.flow.start if flow.flow.start is not None else next(iter(stages))
    if start not in names:
        fix = did_you_mean(start, names, otherwise="add this stage")
        yield ConfigFinding(
            (*flow.place, "start"),
            f"the flow starts with `{start}`, and there is no such stage",
            fix,
        )
    yield from _unreachable(flow, near(start, names) if start not in names else start)
    yield from _endless(flow)


def _endless(flow: FlowDraft) -> ConfigFindings:
    if _is_damaged(flow, {"max_visits"}):  # missing ways can hide a loop but not make one up
        return
    stages = flow.flow.stages
    edges = {
        name: [*_targets(flow, stage), *_meant(flow, [stage.loop_to])]
        for name, stage in stages.items()
    }
    limited = {name for name, stage in stages.items() if stage.max_visits is not None}
    for loop in endless_loops(edges, limited):
        way = " → ".join(loop)
        fix = (
            "add `max_visits: 3` (or another number) to"
            f" {' or '.join(f'`{name}`' for name in dict.fromkeys(loop))}"
        )
        yield ConfigFinding((*flow.place, "stages", loop[0]), f"the loop {way} has no limit", fix)


def _unreachable(flow: FlowDraft, start: str | None) -> ConfigFindings:
    stages: YamlPlace = (*flow.place, "stages")
    whole = {stages, *((*stages, name) for name in flow.stage_names)}
    if start is None or whole & flow.draft.damaged or _is_damaged(flow, _EDGE_KEYS):
        return
    edges = {
        name: [*_targets(flow, stage), *_meant(flow, [stage.loop_to, stage.resume_at])]
        for name, stage in flow.flow.stages.items()
    }
    reached = reachable(edges, start)
    for name in flow.flow.stages:
        if name not in reached and name != END:
            fix = "point a `next` or a route at it, or delete it"
            yield ConfigFinding(
                (*flow.place, "stages", name), f"no run ever reaches stage `{name}`", fix
            )


def _targets(flow: FlowDraft, stage: StageSection) -> list[str]:
    return _meant(flow, [stage.next, stage.on_error, *(route.goes_to for route in stage.routes)])


def _meant(flow: FlowDraft, targets: list[str | None]) -> list[str]:
    """The stages these names stand for: a slip of the pen, reported elsewhere, counts as the
    stage it meant."""
    named = [target for target in targets if target is not None and target != END]
    return [name for target in named if (name := _stage_meant(target, flow.stage_names))]


def _stage_meant(target: str, stages: list[str]) -> str | None:
    return target if target in stages else near(target, stages)


def _is_damaged(flow: FlowDraft, keys: AbstractSet[str]) -> bool:
    """Whether one of these keys could not be read in any stage."""
    places = [(*flow.place, "stages", name) for name in flow.stage_names]
    return any(near(str(key), keys) for place in places for key in flow.draft.damaged_keys(place))
