"""What makes a route wrong: a condition that cannot be read, two forms mixed, nowhere to go."""

from deskhand.conditions import ConditionError, compile_condition
from deskhand.config.prompts import template_error
from deskhand.config.rules.finding import ConfigFinding, ConfigFindings
from deskhand.config.sections.stage import StageSection
from deskhand.config.sections.stage_route import RouteSection
from deskhand.config.yaml import YamlPlace
from deskhand.model.outcome import Outcome

_FORM = "write `{when: {...}, to: STAGE}` or `{when: {...}, outcome: ...}`"


def route_findings(place: YamlPlace, stage: StageSection, route: RouteSection) -> ConfigFindings:
    yield from _form(place, route)
    yield from _condition(place, route)
    yield from _outcome(place, stage, route)
    yield from _question(place, route)


def _form(place: YamlPlace, route: RouteSection) -> ConfigFindings:
    if route.test is None:
        fix = f"{_FORM}; what always follows is the stage's `next`"
        yield ConfigFinding(place, "the route has no condition", fix, echo_of=place)
    allowed_with = {"when": False, "to": False, "value": True, "target": True}
    for key, short in allowed_with.items():
        if key in route.model_fields_set and short is not route.is_short and route.test is not None:
            other = "condition" if route.is_short else "when"
            fix = "write `{when, to}` or `{condition, value, target}`"
            yield ConfigFinding((*place, key), f"`{key}` does not go together with `{other}`", fix)
    if route.goes_to is None and route.outcome is None:
        yield ConfigFinding(
            place,
            "the route leads nowhere",
            "add `to: STAGE`, `to: end` or `outcome: ...`",
            echo_of=place,
        )


def _condition(place: YamlPlace, route: RouteSection) -> ConfigFindings:
    if route.test is None:
        return
    try:
        compile_condition(route.test)
    except ConditionError as error:
        inside: YamlPlace = ("condition",) if route.is_short else ("when", *error.path)
        yield ConfigFinding(
            (*place, *inside), f"the condition is wrong: {error.problem}", error.fix
        )


def _outcome(place: YamlPlace, stage: StageSection, route: RouteSection) -> ConfigFindings:
    outcome, here = route.outcome, (*place, "outcome")
    if outcome is None:
        return
    if outcome.requires_loop and stage.loop_to is None:
        problem = f"`outcome: {outcome}` goes back, but the stage does not say where to"
        yield ConfigFinding(
            here, problem, "add `loop_to: STAGE` to the stage", echo_of=(*place[:-2], "loop_to")
        )
    if route.goes_to is not None and not outcome.is_success:
        problem = f"`outcome: {outcome}` and a stage to go to contradict each other"
        yield ConfigFinding(
            here,
            problem,
            "keep one of the two; where to go on later is the stage's `resume_at` or `loop_to`",
        )


def _question(place: YamlPlace, route: RouteSection) -> ConfigFindings:
    asks = route.outcome in (Outcome.CLARIFY, Outcome.CONFIRM)
    if route.outcome is Outcome.CLARIFY and not (route.ask or "").strip():
        problem = "`outcome: clarify` asks the customer nothing"
        yield ConfigFinding((*place, "outcome"), problem, "add `ask: the question`", echo_of=place)
    if route.ask is None:
        return
    if not asks:
        fix = "use it with `outcome: clarify` or `outcome: confirm`, or remove it"
        yield ConfigFinding((*place, "ask"), "`ask` has no effect here", fix, echo_of=place)
    if wrong := template_error(route.ask):
        yield ConfigFinding(
            (*place, "ask"),
            f"the question's template is wrong: {wrong[1]}",
            "close every `{{ }}` and `{% %}`",
        )
