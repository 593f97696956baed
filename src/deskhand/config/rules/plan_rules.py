"""What makes a declared plan wrong: tools and slots nobody knows, references that lead nowhere."""

from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.rules.reply_text_rules import Written, texts_at
from deskhand.config.sections.plans import (
    REPLY_ROOTS,
    RESULTS,
    ROOTS,
    WISHES,
    PlanSection,
    references_in,
)
from deskhand.config.suggestions import did_you_mean
from deskhand.config.tool_shape import TIMES_IN_WORDS
from deskhand.config.yaml import YamlPlace


def plan_findings(draft: DeskDraft) -> ConfigFindings:
    """Tools and slots nobody knows, references that lead nowhere, plans for unknown categories."""
    categories = draft.categories()
    for name, plan in draft.desk.plans.items():
        place = ("plans", name)
        if categories and name not in categories:
            fix = did_you_mean(name, categories, otherwise="add it to the `categories` of a stage")
            yield ConfigFinding(place, f"no stage gives the category `{name}`", fix)
        yield from _needs(draft, place, plan)
        yield from step_findings(draft, place, plan)
        yield from reply_findings(draft, place, plan)


def _needs(draft: DeskDraft, place: YamlPlace, plan: PlanSection) -> ConfigFindings:
    slots = draft.names_at("slots")
    for index, slot in enumerate(plan.wants):
        if slot not in slots:
            fix = did_you_mean(slot, slots, otherwise=f"add `{slot}: {{type: ...}}` under `slots`")
            yield ConfigFinding((*place, "wants", index), f"there is no slot `{slot}`", fix)
    for index, slot in enumerate(plan.needs):
        if slot not in slots:
            fix = did_you_mean(slot, slots, otherwise=f"add `{slot}: {{type: ...}}` under `slots`")
            yield ConfigFinding((*place, "needs", index), f"there is no slot `{slot}`", fix)
        elif slot not in plan.ask:
            fix = f"add `ask: {{{slot}: ...}}` with the question"
            problem = f"nothing says how to ask for `{slot}`"
            yield ConfigFinding((*place, "needs", index), problem, fix, echo_of=(*place, "ask"))


def step_findings(draft: DeskDraft, place: YamlPlace, plan: PlanSection) -> ConfigFindings:
    """Calls of unknown tools, with parameters that lead nowhere."""
    tools = {*draft.tools}
    for stage in draft.stages():
        tools.update(stage.intends or ())
    for index, step in enumerate(plan.steps):
        here = (*place, "steps", index)
        if step.tool not in tools:
            fix = did_you_mean(step.tool, draft.tools, otherwise="define a tool of this name")
            yield ConfigFinding((*here, "tool"), f"there is no tool `{step.tool}`", fix)
        for reference in references_in(step.parameters):
            yield from _reference(draft, (*here, "parameters"), reference, plan, REPLY_ROOTS, index)
        if step.given is not None:
            yield from _reference(draft, (*here, "given"), step.given, plan, ROOTS, index)


def reply_findings(draft: DeskDraft, place: YamlPlace, plan: PlanSection) -> ConfigFindings:
    """Texts whose references lead nowhere."""
    for key in ("pre", "post"):
        yield from _spoken_references(draft, (*place, key), getattr(plan, key), plan)
    yield from _text_references(draft, (*place, "reply"), plan.reply, plan)
    for index, reply in enumerate(plan.replies):
        here = (*place, "replies", index)
        yield from _reference(draft, (*here, "given"), reply.given, plan, REPLY_ROOTS)
        yield from _text_references(draft, (*here, "words"), reply.words, plan)


def _spoken_references(
    draft: DeskDraft, place: YamlPlace, written: Written, plan: PlanSection
) -> ConfigFindings:
    """What the plan itself says knows slots and results alone."""
    for text in texts_at(draft, place, written):
        for reference in references_in(text.text):
            for finding in _reference(draft, text.place, reference, plan, ("slots", RESULTS)):
                yield text.finding(f"{{{reference}", finding.problem, finding.fix)


def _text_references(
    draft: DeskDraft, place: YamlPlace, written: Written, plan: PlanSection
) -> ConfigFindings:
    for text in texts_at(draft, place, written):
        for reference in references_in(text.text):
            for finding in _reference(draft, text.place, reference, plan, REPLY_ROOTS):
                yield text.finding(f"{{{reference}", finding.problem, finding.fix)


def _reference(
    draft: DeskDraft,
    place: YamlPlace,
    reference: str,
    plan: PlanSection,
    roots: tuple[str, ...],
    step: int | None = None,
) -> ConfigFindings:
    """A reference that leads nowhere, or to the result of a call that is made later."""
    root, name, *fields = reference.split(".")
    called = [earlier.tool for earlier in plan.steps[:step]]
    if root not in roots:
        problem = f"`{{{reference}}}` leads nowhere"
        yield ConfigFinding(place, problem, did_you_mean(root, roots, otherwise="remove it"))
    elif root == "slots" and name not in (*plan.needs, *plan.wants):
        problem = f"`{{{reference}}}` stands for a slot that the plan does not need"
        slots = (*plan.needs, *plan.wants)
        yield ConfigFinding(
            place, problem, did_you_mean(name, slots, otherwise=f"add `{name}` to `needs`")
        )
    elif root == "wish" and name not in WISHES:
        problem = f"`{{{reference}}}` is nothing that a message says about when"
        yield ConfigFinding(
            place,
            problem,
            did_you_mean(name, WISHES, otherwise=f"write one of {', '.join(WISHES)}"),
        )
    elif root == RESULTS and name not in called:
        problem = f"`{{{reference}}}` speaks of a call that the plan does not make"
        if step is not None:
            problem = f"`{{{reference}}}` speaks of a call that is not made before this one"
        yield ConfigFinding(
            place, problem, did_you_mean(name, called, otherwise=f"call `{name}` first")
        )
    elif root == RESULTS:
        yield from _result_field(draft, place, reference, name, fields)


def _result_field(
    draft: DeskDraft, place: YamlPlace, reference: str, tool: str, fields: list[str]
) -> ConfigFindings:
    """A field that the tool's result does not have, where its type declares them."""
    shape = draft.shapes.get(tool)
    if shape is None or shape.returns is None or not fields:
        return
    returned = shape.returns | TIMES_IN_WORDS
    if fields[0] in returned:
        return
    problem = f"`{{{reference}}}`: the result of `{tool}` has no field `{fields[0]}`"
    otherwise = f"its fields are {', '.join(sorted(shape.returns))}"
    yield ConfigFinding(place, problem, did_you_mean(fields[0], returned, otherwise=otherwise))
