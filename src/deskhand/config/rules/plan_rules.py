"""What makes a declared plan wrong: tools and slots nobody knows, references that lead nowhere."""

from typing import Any

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
from deskhand.config.yaml import YamlPlace


def plan_findings(draft: DeskDraft) -> ConfigFindings:
    """Tools and slots nobody knows, references that lead nowhere, plans for intents no stage
    tells."""
    slots = draft.names_at("slots")
    known = {
        category
        for flow in draft.desk.flows.values()
        for stage in flow.stages.values()
        for category in stage.categories or ()
    }
    intended = {
        name
        for flow in draft.desk.flows.values()
        for stage in flow.stages.values()
        for name in stage.intends or ()
    }
    for name, plan in draft.desk.plans.items():
        place = ("plans", name)
        if known and name not in known:
            fix = did_you_mean(name, known, otherwise="add it to the `categories` of a stage")
            yield ConfigFinding(place, f"no stage tells the category `{name}`", fix)
        for index, slot in enumerate(plan.needs):
            if slot not in slots:
                fix = did_you_mean(
                    slot, slots, otherwise=f"add `{slot}: {{type: ...}}` under `slots`"
                )
                yield ConfigFinding((*place, "needs", index), f"there is no slot `{slot}`", fix)
            elif slot not in plan.ask:
                fix = f"add `ask: {{{slot}: ...}}` with the question"
                problem = f"nothing says how to ask for `{slot}`"
                yield ConfigFinding((*place, "needs", index), problem, fix, echo_of=(*place, "ask"))
        for index, step in enumerate(plan.steps):
            if step.tool not in draft.tools and step.tool not in intended:
                fix = did_you_mean(step.tool, draft.tools, otherwise="define a tool of this name")
                yield ConfigFinding(
                    (*place, "steps", index, "tool"), f"there is no tool `{step.tool}`", fix
                )
            yield from _references(
                (*place, "steps", index, "parameters"), step.parameters, plan, REPLY_ROOTS, index
            )
            if step.given is not None:
                yield from _known((*place, "steps", index, "given"), step.given, plan, ROOTS, index)
        yield from _text_references(draft, (*place, "reply"), plan.reply, plan)
        for index, reply in enumerate(plan.replies):
            yield from _known((*place, "replies", index, "given"), reply.given, plan, REPLY_ROOTS)
            words_place = (*place, "replies", index, "words")
            yield from _text_references(draft, words_place, reply.words, plan)


def _text_references(
    draft: DeskDraft, place: YamlPlace, written: Written, plan: PlanSection
) -> ConfigFindings:
    for text in texts_at(draft, place, written):
        for reference in references_in(text.text):
            for finding in _known(text.place, reference, plan, REPLY_ROOTS):
                yield text.finding(f"{{{reference}", finding.problem, finding.fix)


def _references(
    place: tuple[str | int, ...],
    value: Any,
    plan: PlanSection,
    roots: tuple[str, ...],
    step: int | None = None,
) -> ConfigFindings:
    for reference in references_in(value):
        yield from _known(place, reference, plan, roots, step)


def _known(
    place: tuple[str | int, ...],
    reference: str,
    plan: PlanSection,
    roots: tuple[str, ...],
    step: int | None = None,
) -> ConfigFindings:
    """Whether a reference leads anywhere; what a call uses of another's results must come before
    it."""
    root, name = reference.split(".")[:2]
    called = [one.tool for one in (plan.steps if step is None else plan.steps[:step])]
    if root not in roots:
        problem = f"`{{{reference}}}` leads nowhere"
        yield ConfigFinding(place, problem, did_you_mean(root, roots, otherwise="remove it"))
    elif root == "slots" and name not in plan.needs:
        problem = f"`{{{reference}}}` stands for a slot that the plan does not need"
        yield ConfigFinding(
            place, problem, did_you_mean(name, plan.needs, otherwise=f"add `{name}` to `needs`")
        )
    elif root == "wish" and name not in WISHES:
        problem = f"`{{{reference}}}` is nothing that a message says about when"
        yield ConfigFinding(
            place,
            problem,
            did_you_mean(name, WISHES, otherwise=f"write one of {', '.join(WISHES)}"),
        )
    elif root == RESULTS and step is not None and name not in called:
        problem = f"`{{{reference}}}` speaks of a call that is not made before this one"
        yield ConfigFinding(
            place, problem, did_you_mean(name, called, otherwise=f"call `{name}` first")
        )
