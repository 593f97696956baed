"""Declared plans at work: slots filled in, what is missing asked for, what nobody declared
handed over."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from deskhand.brain.appointments import wish_in
from deskhand.brain.embedded_desk import EmbeddedDesk
from deskhand.brain.task_inputs import (
    Fields,
    conversation_language,
    message_of,
    newest,
    received_at,
    with_subject,
)
from deskhand.config.sections.plans import (
    OPTIONAL,
    REFERENCE,
    RESULTS,
    DeclaredPlan,
    references_in,
)
from deskhand.config.sections.reply_text import ANY_LANGUAGE
from deskhand.language.slots import SlotValue
from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.turn_amounts import wants_some
from deskhand.mail.reply import visible_reply
from deskhand.model.plan import TURN
from deskhand.model.tasks import Task
from deskhand.model.understanding import LANGUAGE
from deskhand.model.value_readings import READ, Reading, readings_in

UNSURE_INTENT = "unsure_intent"
"""The field of a stage's output that says that the customer is asked before anything is changed."""
REFUSED = "refused"
"""The field of a stage's output with the slots whose values the customer said are wrong."""


class Unresolved(Exception):
    """A reference that leads to nothing that is known."""


def read_slots(
    desk: EmbeddedDesk, task: Task, only: tuple[str, ...] | None
) -> dict[str, SlotValue]:
    if desk.slots is None:
        return {}
    text = with_subject(task)
    language = conversation_language(task, task.text, desk.languages)
    return desk.slots.extract(
        text, language=language, now=received_at(task), time_zone=desk.time_zone, only=only
    )


def unsure(task: Task) -> Task:
    """The same task, for which the customer is asked before anything is changed."""
    return task.changed(inputs={**task.inputs, UNSURE_INTENT: True})


def extract(desk: EmbeddedDesk, task: Task) -> Fields:
    """Values that are certain, values that could be several, and slots without one."""
    slots = read_slots(desk, task, task.choices or None)
    values = {name: slot.value for name, slot in slots.items() if slot.found and not slot.ambiguous}
    ambiguous = {name: list(slot.candidates) for name, slot in slots.items() if slot.ambiguous}
    missing = [
        name for name in task.choices or slots if name not in values and name not in ambiguous
    ]
    sure = min((slot.confidence for name, slot in slots.items() if name in values), default=0.5)
    if ambiguous or (task.choices and missing):
        sure = 0.0
    read = {name: slots[name].read for name in values}
    return {
        "values": values,
        READ: read,
        "ambiguous": ambiguous,
        "missing": missing,
        "confidence": sure,
    }


def decide(desk: EmbeddedDesk, task: Task, intent: str | None, confidence: float) -> Fields:
    """The plan of the message's intent with its slots filled, or a question, or a hand-over with
    the reason."""
    plan = (desk.plans or {}).get(intent or "")
    if plan is None:
        words = (
            "the message's intent is not clear"
            if intent is None
            else f"no plan is declared for {intent!r}"
        )
        return _handed_over(words, intent)
    values, ambiguous, sure, read = _filled(desk, task, plan)
    if newest(task, UNSURE_INTENT):
        read = read | dict.fromkeys(desk.naming_slots & set(values), "guessed")
    missing = [name for name in plan.needs if name not in values]
    missing += [name for name in _unsaid_amounts(desk, task, plan) if name not in values]
    if missing:
        asking = _asking(desk, task, plan, intent, values, missing, ambiguous)
        return asking | {READ: read} | _spoken_in(desk, task)
    facts = {"slots": values, **_plan_facts(task)}
    if speaks_of(plan, "wish"):
        facts["wish"] = wish_in(desk, task)
    try:
        steps = _spoken(desk, task, plan, list(_steps(plan, facts)))
    except Unresolved as unknown:
        return _handed_over(f"the plan for {intent!r} needs {unknown}, which is not known", intent)
    reasoning = f"the declared plan for {intent}"
    more = {READ: read, "confidence": min(confidence, sure)} | _spoken_in(desk, task)
    person = facts.get("wish", {}).get("person")
    if person and _says_when(plan):  # the steps give a person something to look at
        more |= {"hand_over": True, "reason": person}
    return _plan(intent, steps, reasoning, values) | more


def _unsaid_amounts(desk: EmbeddedDesk, task: Task, plan: DeclaredPlan) -> list[str]:
    """The amounts, otherwise optional, that are asked for: the customer wants some of the money
    back, and all of it would go back without one."""
    asked_before = newest(task, "missing") or ()
    some = wants_some(FoldedText(visible_reply(task.text)).folded)
    amounts = [name for name in plan.wants if name in desk.money_slots and plan.ask.get(name)]
    return [name for name in amounts if some or name in asked_before]


def _steps(plan: DeclaredPlan, facts: Mapping[str, Any]) -> Iterator[Fields]:
    """The calls whose condition is met; Unresolved where one lacks a parameter."""
    for place, (tool, parameters) in enumerate(plan.steps):
        if place in plan.given and not is_known(plan.given[place], facts):
            continue
        step: Fields = {
            "type": "tool_call",
            "tool": tool,
            "parameters": called_with(parameters, facts),
        }
        if tool in plan.optional:
            step["optional"] = True
        yield step


def _spoken(
    desk: EmbeddedDesk, task: Task, plan: DeclaredPlan, calls: list[Fields]
) -> list[Fields]:
    """The calls with what the plan says before and after them."""
    if not (plan.pre or plan.post):
        return calls
    language = conversation_language(task, task.text, desk.languages)
    before = words_in(plan.pre, language, desk.languages)
    after = words_in(plan.post, language, desk.languages)
    steps = list(calls)
    if before is not None:
        steps.insert(0, {"type": "respond", "when": "pre", "message": before})
    if after is not None:
        steps.append({"type": "respond", "when": "post", "message": after})
    return steps


def _spoken_in(desk: EmbeddedDesk, task: Task) -> Fields:
    """The language of the conversation, for turns that have none of their own."""
    language = conversation_language(task, task.text, desk.languages)
    return {} if language is None else {LANGUAGE: language}


def _filled(
    desk: EmbeddedDesk, task: Task, plan: DeclaredPlan
) -> tuple[dict[str, Any], dict[str, list[Any]], float, dict[str, Reading]]:
    """What this message says comes first, then what an earlier stage or an earlier message said;
    with how each value was read."""
    named = (*plan.needs, *plan.wants)
    fresh = read_slots(desk, task, named)
    stated = _stated(desk, task, named)
    earlier_readings = readings_in({READ: newest(task, READ)})
    refused = newest(task, REFUSED) or ()
    earlier = _said_before(task, refused)
    is_turn = newest(task, TURN) is not None
    remembered = _remembered(desk, task, refused)
    values: dict[str, Any] = {}
    ambiguous: dict[str, list[Any]] = {}
    read: dict[str, Reading] = {}
    sure = 1.0
    for name in named:
        slot = fresh.get(name)
        settled = earlier.get(name) in (slot.candidates if slot is not None else ())
        settled = settled and slot is not None and slot.ambiguous
        if settled or (is_turn and earlier.get(name) is not None):
            values[name] = earlier[name]  # the customer said which one
            read[name] = earlier_readings.get(name, "exact")
        elif name in stated and (slot is None or slot.ambiguous or not slot.found):
            values[name] = stated[name]
            read[name] = _reading_of(stated[name])
        elif slot is not None and slot.ambiguous:
            ambiguous[name] = list(slot.candidates)
        elif slot is not None and slot.found:
            values[name], sure = slot.value, min(sure, slot.confidence)
            read[name] = slot.read
        elif earlier.get(name) is not None:
            values[name] = earlier[name]
            read[name] = earlier_readings.get(name, "exact")
        elif name in remembered:
            values[name] = remembered[name]
            read[name] = "guessed"
    return values, ambiguous, sure, read


def _reading_of(stated: Any) -> Reading:
    """How a value was read that the message states: what a share of the whole comes to, the
    customer has not said."""
    is_share = isinstance(stated, Mapping) and "share" in stated
    return "guessed" if is_share else "exact"


def _said_before(task: Task, refused: Collection[str]) -> dict[str, Any]:
    """The values that earlier stages and messages gave, without those the customer refused."""
    earlier: dict[str, Any] = {}
    for field in ("slots", "values"):
        said = newest(task, field)
        earlier |= said if isinstance(said, dict) else {}
    return {name: value for name, value in earlier.items() if name not in refused}


def _remembered(desk: EmbeddedDesk, task: Task, refused: Collection[str]) -> dict[str, Any]:
    """What was said earlier in the conversation and names a thing: "and when does it arrive?"
    means the order of before. Nobody has said so: it is read as a guess, and no effect runs on it.
    """
    values = newest(task, "remembered")
    if not isinstance(values, Mapping):
        return {}
    return {
        name: value
        for name, value in values.items()
        if name in desk.naming_slots and name not in refused
    }


def _stated(desk: EmbeddedDesk, task: Task, names: Sequence[str]) -> dict[str, Any]:
    """What the message says for slots beyond plain values: its own words for a reason or an
    address, a number without its letters, the one of two that is meant."""
    if desk.states is None or not names:
        return {}
    return desk.states(visible_reply(task.text), names, received_at(task))


def _asking(
    desk: EmbeddedDesk,
    task: Task,
    plan: DeclaredPlan,
    intent: str | None,
    values: dict[str, Any],
    missing: list[str],
    ambiguous: dict[str, list[Any]],
) -> Fields:
    language = conversation_language(task, task.text, desk.languages)
    questions = {
        name: words_in(plan.ask.get(name, {}), language, desk.languages) for name in missing
    }
    unasked = [name for name, question in questions.items() if question is None]
    if unasked:
        return _handed_over(
            f"{', '.join(unasked)} is missing and the plan asks no question for it", intent
        )
    steps = [
        _question(plan, name, str(question), language, desk.languages)
        for name, question in questions.items()
    ]
    ask = "\n".join(str(question) for question in questions.values())
    reasoning = f"the plan for {intent} needs {', '.join(missing)}"
    more = {"missing": missing, "ambiguous": ambiguous, "ask": ask, "confidence": 0.9}
    return _plan(intent, steps, reasoning, values) | more


def _question(
    plan: DeclaredPlan, slot: str, prompt: str, language: str | None, spoken: tuple[str, ...]
) -> Fields:
    """The step that asks for a slot, with what is said to those who do not answer it."""
    step: Fields = {"type": "ask_user", "param": slot, "prompt": prompt}
    for key, texts in (("expects", plan.expects), ("why", plan.why)):
        words = words_in(texts.get(slot, {}), language, spoken)
        if words:
            step[key] = words
    if plan.clarify_at_most is not None:
        step["at_most"] = plan.clarify_at_most
    return step


def _plan(
    intent: str | None, steps: list[Fields], reasoning: str, values: dict[str, Any]
) -> Fields:
    return {"intent_id": intent, "steps": steps, "reasoning": reasoning, "slots": values}


def _handed_over(reason: str, intent: str | None) -> Fields:
    return _plan(intent, [], reason, {}) | {"hand_over": True, "reason": reason, "confidence": 0.0}


def _plan_facts(task: Task) -> Fields:
    outputs, metadata = task.inputs.get("outputs"), task.inputs.get("metadata")
    return {"message": message_of(task), "outputs": outputs or {}, "metadata": metadata or {}}


# --- words and references


def words_in(
    words: Mapping[str, str], language: str | None, desk: tuple[str, ...] = ()
) -> str | None:
    """The text in this language, else the one for all, else in the desk's first language that
    has one."""
    own = [code.partition("-")[0] for code in desk]
    for code in (language or ANY_LANGUAGE, ANY_LANGUAGE, *own):
        if code in words:
            return words[code]
    return next(iter(words.values()), None)


def in_words(words: str, facts: Mapping[str, Any]) -> str:
    """A text for a customer with every reference replaced; values of several lines keep them."""
    return REFERENCE.sub(
        lambda reference: _shown(_at(reference[1], facts), lines=True), words.rstrip()
    )


def called_with(parameters: Mapping[str, Any], facts: Mapping[str, Any]) -> Fields:
    """A call's parameters without those that may be absent and are; what an earlier call finds
    is filled in later."""
    filled: Fields = {}
    for name, value in parameters.items():
        wanted = OPTIONAL.fullmatch(value) if isinstance(value, str) else None
        later = REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if later is not None and later[1].startswith(f"{RESULTS}."):
            filled[name] = value
        elif wanted is None:
            filled[name] = resolved(value, facts)
        elif is_known(wanted[1], facts):
            filled[name] = _at(wanted[1], facts)
    return filled


def is_known(path: str, facts: Mapping[str, Any]) -> bool:
    """Whether there is something at this path, and it is not just a no."""
    try:
        return _at(path, facts) is not False
    except Unresolved:
        return False


def _says_when(plan: DeclaredPlan) -> bool:
    """Does a call get a time from the message? Other plans may leave times unread."""
    paths = references_in([parameters for _, parameters in plan.steps])
    return any(path.startswith("wish.") for path in paths)


def speaks_of(plan: DeclaredPlan, root: str) -> bool:
    paths = [*references_in([parameters for _, parameters in plan.steps]), *plan.given.values()]
    return any(f"{path}.".startswith(f"{root}.") for path in paths)


def resolved(value: Any, facts: Mapping[str, Any]) -> Any:
    """The value with every reference replaced; one that stands alone keeps its type."""
    if isinstance(value, str):
        alone = REFERENCE.fullmatch(value)
        if alone is not None:
            return _at(alone[1], facts)
        return REFERENCE.sub(lambda reference: _shown(_at(reference[1], facts)), value)
    if isinstance(value, Mapping):
        return {key: resolved(item, facts) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [resolved(item, facts) for item in value]
    return value


def _at(path: str, facts: Mapping[str, Any]) -> Any:
    here: Any = facts
    for part in path.split("."):
        if isinstance(here, Mapping):
            here = here.get(part)
        elif isinstance(here, list) and part.isdecimal() and int(part) < len(here):
            here = here[int(part)]
        else:
            here = None
        if here is None:
            raise Unresolved(path)
    return here


def _shown(value: Any, *, lines: bool = False) -> str:
    if isinstance(value, Mapping | list):
        raise Unresolved("a single value instead of a list or mapping")
    if isinstance(value, bool):
        return str(value).lower()
    pieces = str(value).splitlines() if lines else [str(value)]
    return "\n".join(" ".join(piece.split()) for piece in pieces)
