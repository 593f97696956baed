"""What makes a declared plan wrong: tools and slots nobody knows, references that lead nowhere."""

from typing import Any

from deskhand.config.finding import Draft, Finding, Findings
from deskhand.config.near import did_you_mean
from deskhand.config.plans import REPLY_ROOTS, ROOTS, PlanSection, references_in


def plan_findings(draft: Draft) -> Findings:
    """Tools and slots nobody knows, references that lead nowhere, plans for intents no stage tells."""
    slots = draft.names_at("slots")
    known = {
        category
        for flow in draft.desk.flows.values()
        for stage in flow.stages.values()
        for category in stage.categories or ()
    }
    intended = {
        name for flow in draft.desk.flows.values() for stage in flow.stages.values() for name in stage.intends or ()
    }
    for name, plan in draft.desk.plans.items():
        place = ("plans", name)
        if known and name not in known:
            fix = did_you_mean(name, known, otherwise="add it to the `categories` of a stage")
            yield Finding(place, f"no stage tells the category `{name}`", fix)
        for index, slot in enumerate(plan.needs):
            if slot not in slots:
                fix = did_you_mean(slot, slots, otherwise=f"add `{slot}: {{type: ...}}` under `slots`")
                yield Finding((*place, "needs", index), f"there is no slot `{slot}`", fix)
            elif slot not in plan.ask:
                fix = f"add `ask: {{{slot}: ...}}` with the question"
                problem = f"nothing says how to ask for `{slot}`"
                yield Finding((*place, "needs", index), problem, fix, echo_of=(*place, "ask"))
        for index, step in enumerate(plan.steps):
            if step.tool not in draft.tools and step.tool not in intended:
                fix = did_you_mean(step.tool, draft.tools, otherwise="define a tool of this name")
                yield Finding((*place, "steps", index, "tool"), f"there is no tool `{step.tool}`", fix)
            yield from _references((*place, "steps", index, "parameters"), step.parameters, plan, ROOTS)
        yield from _references((*place, "reply"), plan.reply, plan, REPLY_ROOTS)


def _references(place: tuple[str | int, ...], value: Any, plan: PlanSection, roots: tuple[str, ...]) -> Findings:
    for reference in references_in(value):
        root, name = reference.split(".")[:2]
        if root not in roots:
            problem = f"`{{{reference}}}` leads nowhere"
            yield Finding(place, problem, did_you_mean(root, roots, otherwise="remove it"))
        elif root == "slots" and name not in plan.needs:
            problem = f"`{{{reference}}}` stands for a slot that the plan does not need"
            yield Finding(place, problem, did_you_mean(name, plan.needs, otherwise=f"add `{name}` to `needs`"))
