"""The matters of a message that speaks of several things: "where is O-1, and cancel O-2".

A sentence or a clause that plainly says what is wanted counts for the intent that it says. Matters
are worked apart only where each of them names a thing of its own: who names one order for two
wishes, or two orders for one wish that needs more than their numbers, is asked.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from deskhand.brain.declared_plans import decide
from deskhand.brain.embedded_desk import EmbeddedDesk, IntentPrediction, IntentPredictor
from deskhand.brain.task_inputs import Fields
from deskhand.config.sections.plans import DeclaredPlan
from deskhand.language.slots import SlotMatch
from deskhand.language.slots.folded_text import fold
from deskhand.language.told_parts import says_only_which, tells_how_it_came
from deskhand.language.turn_addresses import ABBREVIATED
from deskhand.language.turn_cues import puts_in_place, turn_cues
from deskhand.model.tasks import Task
from deskhand.model.value_readings import READ

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_CLAUSE = re.compile(r"(?<=[,:])\s+|\s+[-–—]\s+")
_PARTS_WAYS = re.compile(
    r",\s+(?:(?:and|und|a|i|y|e)\s+)?|\s+(?:and|und|a|i|y|e|sowie|plus|while)\s+|;\s+|\s+[-–—]\s+",
    re.IGNORECASE,
)
"""Where a sentence may go on with another wish."""
_JOINS = re.compile(r"[\s,&+]*(?:and|as well as|plus|a|i|und|sowie|y|e)?[\s,]*", re.IGNORECASE)
"""All that stands between two things that are named together."""
_MOST_PARTS = 24
_MOST_CUTS = 6
_LIKELY_HALF = 0.8
"""How likely a wish must be that stands beside a plain one, about a thing of its own."""
_MOST_MATTERS = 3


class StatedIntent(NamedTuple):
    """What a part of a message plainly says."""

    intent: str
    confidence: float
    start: int
    end: int


class Matter(NamedTuple):
    """One of several things that a message is about, in its own words."""

    intent: str
    confidence: float
    text: str
    is_joined: bool = False
    """Whether one wish names it together with others: "cancel O-1 and O-2"."""


def wishes_in(
    model: IntentPredictor, text: str, idle: frozenset[str], named: Sequence[SlotMatch] = ()
) -> list[StatedIntent]:
    """What the sentences say, and the clauses of those that say nothing plainly. Intents that are
    `idle`, such as greetings, are no wishes.

    A sentence that speaks of two things, which `named` has, may say something else of each.
    """
    sentences = _spans(_SENTENCE, text, 0, len(text))
    wishes: list[StatedIntent] = []
    for (start, end), said in zip(sentences, _said(model, text, sentences), strict=True):
        halves = _different_halves(model, text, (start, end), named)
        if halves:
            wishes += halves
            continue
        if says_only_which(text[start:end]):
            continue
        if said.label is not None:
            wishes.append(StatedIntent(said.label, said.confidence, start, end))
            continue
        clauses = _spans(_CLAUSE, text, start, end)
        if len(clauses) > 1:
            wishes += _plain_clauses(model, text, clauses)
    return [wish for wish in wishes if wish.intent not in idle]


def _different_halves(
    model: IntentPredictor, text: str, sentence: tuple[int, int], named: Sequence[SlotMatch]
) -> list[StatedIntent]:
    """The two wishes of a sentence that plainly says one thing of what it names first, and another
    of what it names next; none where it does not."""
    start, end = sentence
    here = [match for match in named if start <= match.start < end]
    different = list({repr(match.value): match for match in here}.values())
    if len(different) != 2:
        return []
    first, second = different
    best: list[StatedIntent] = []
    for cut in list(_PARTS_WAYS.finditer(text, first.end, second.start))[:_MOST_CUTS]:
        spans = [(start, cut.start()), (cut.end(), end)]
        if any(len(text[slice(*span)].split()) < 2 for span in spans):
            continue
        halves = _likely_halves(model, text, spans)
        if len(halves) == 2 and halves[0].intent != halves[1].intent:
            best = max(best, halves, key=_least_sure)
    return best


def _likely_halves(
    model: IntentPredictor, text: str, spans: Sequence[tuple[int, int]]
) -> list[StatedIntent]:
    """What the halves say, where one says it plainly and the other likely."""
    read = _said(model, text, spans)
    if all(said.label is None for said in read):
        return []
    tells = [
        said.label is None and tells_how_it_came(text[slice(*span)])
        for span, said in zip(spans, read, strict=True)
    ]
    if any(tells):
        return []
    likely = [said for said in read if said.label is not None or said.confidence >= _LIKELY_HALF]
    if len(likely) < len(spans):
        return []
    wishes = zip(spans, read, strict=True)
    return [StatedIntent(said.best, said.confidence, start, end) for (start, end), said in wishes]


def _least_sure(wishes: Sequence[StatedIntent]) -> float:
    return min((wish.confidence for wish in wishes), default=0.0)


def _plain_clauses(
    model: IntentPredictor, text: str, clauses: Sequence[tuple[int, int]]
) -> list[StatedIntent]:
    read = zip(clauses, _said(model, text, clauses), strict=True)
    return [
        StatedIntent(said.label, said.confidence, start, end)
        for (start, end), said in read
        if said.label is not None and not says_only_which(text[start:end])
    ]


def _said(
    model: IntentPredictor, text: str, spans: Sequence[tuple[int, int]]
) -> Sequence[IntentPrediction]:
    return model.predict([text[start:end] for start, end in spans])


def _spans(pattern: re.Pattern[str], text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The parts between a pattern that have more than one word."""
    spans: list[tuple[int, int]] = []
    begin = start
    for match in pattern.finditer(text, start, end):
        if ABBREVIATED.search(text[: match.start()]):
            continue
        spans.append((begin, match.start()))
        begin = match.end()
    spans.append((begin, end))
    spoken = [span for span in spans if len(text[slice(*span)].split()) > 1]
    return spoken[:_MOST_PARTS]


def matters_in(
    text: str,
    wishes: Sequence[StatedIntent],
    named: Sequence[SlotMatch],
    plans: Mapping[str, DeclaredPlan],
    naming_slots: frozenset[str],
) -> list[Matter]:
    """The matters of a text that names several things; none where they cannot be told apart.

    `named` are the places where things are named, `wishes` what the text says of them.
    """
    if len({repr(match.value) for match in named}) < 2:
        return []
    acting = [wish for wish in wishes if wish.intent in plans and plans[wish.intent].steps]
    matters: list[Matter] = []
    for wish, end in zip(acting, _ends(text, acting), strict=True):
        start = wish.start if matters else 0
        here = [match for match in named if start <= match.start < end]
        parts = _parts(text, start, end, here)
        if len(parts) > 1 and not _means_all(text, wish, here):
            return []
        plan = plans[wish.intent]
        if len(parts) > 1 and not naming_slots.issuperset((*plan.needs, *plan.wants)):
            return []
        is_joined = len(parts) > 1
        matters += [Matter(wish.intent, wish.confidence, part, is_joined) for part in parts]
    covered = {matter.text for matter in matters}
    if not 1 < len(matters) <= _MOST_MATTERS or len(covered) < len(matters):
        return []
    return matters


def _means_all(text: str, wish: StatedIntent, named: Sequence[SlotMatch]) -> bool:
    """Whether a wish is about all things that are named before it: it names them itself, or says
    so. "I have two orders, O-1 and O-2. Cancel the second" does not."""
    if all(wish.start <= match.start < wish.end for match in named):
        return True
    folded = fold(text[wish.start : wish.end])
    return _ALL.search(folded) is not None and _ONE.search(folded) is None


_ALL = re.compile(
    r"\b(?:both|(?<!\bat )(?<!\bis )(?<!'s )all|them|these|those|they|beide\w*|alle[mnrs]?|"
    r"sie sie|\w{3,}[et] sie|obe|oba|obou|obema|vsechny|\w{2,}(?:te|it|at) je|jich|"
    r"ambos|ambas|todos|todas|l[oa]s dos|\w{3,}[aer]l[oa]s)\b"
)
"""Words for more than one thing. German `Sie`, Czech `je` and Spanish `los` are mostly other words:
they count behind a verb alone."""
_ONE = re.compile(
    r"\b(?:first|second|third|last|latter|former|other|one|1st|2nd|erste\w*|zweite\w*|letzte\w*|"
    r"andere\w*|prvni\w*|druh\w+|posledni\w*|jednu|jeden|primer\w*|segund\w*|ultim\w*|otr[oa])\b"
)
"""Words for one of several things."""


def _ends(text: str, wishes: Sequence[StatedIntent]) -> list[int]:
    """Where each wish ends: what says nothing by itself belongs to the wish before it."""
    ends = [wish.start for wish in wishes[1:]]
    return [*ends, len(text)][: len(wishes)]


def _parts(text: str, start: int, end: int, named: Sequence[SlotMatch]) -> list[str]:
    """The words of a wish, once for each thing that it names; none where it names none, or where
    it is not plain that all of them are meant."""
    different = list({repr(match.value): match for match in named}.values())
    if len(different) < 2:
        return [text[start:end]] if different else []
    between = pairwise(named)
    if not all(_JOINS.fullmatch(text[match.end : other.start]) for match, other in between):
        return []
    return [_with_only(text, start, end, named, match) for match in different]


def _with_only(text: str, start: int, end: int, named: Sequence[SlotMatch], kept: SlotMatch) -> str:
    """The words with one of the things that they name, and none of the others."""
    before, after = text[start : named[0].start], text[named[-1].end : end]
    return f"{before}{text[kept.start : kept.end]}{after}"


# --- what a desk makes of them


def named_things(desk: EmbeddedDesk, text: str, now: datetime) -> list[SlotMatch]:
    """The places where a text names things that the desk acts on, in their order."""
    if desk.slots is None or not desk.naming_slots:
        return []
    values_by_slot = desk.slots.extract(
        text, now=now, time_zone=desk.time_zone, only=tuple(desk.naming_slots)
    )
    matches = [match for slot in values_by_slot.values() for match in slot.matches]
    return sorted(matches, key=lambda match: match.start)


def several_matters(
    desk: EmbeddedDesk, model: IntentPredictor, text: str, now: datetime
) -> list[Matter]:
    """The matters of a text that has several; none where it has one."""
    named = named_things(desk, text, now)
    if len({repr(match.value) for match in named}) < 2 or _takes_back(text, named):
        return []
    plans = desk.plans or {}
    wishes = wishes_in(model, text, idle_intents(plans), named)
    return matters_in(text, wishes, named, plans, desk.naming_slots)


def _takes_back(text: str, named: Sequence[SlotMatch]) -> bool:
    """Whether a text puts one thing in the place of another: "cancel O-1, no wait, O-2"."""
    cues = turn_cues()
    after = fold(text[named[-1].end :])
    between = [fold(text[match.end : other.start]) for match, other in pairwise(named)]
    return any(puts_in_place(words, after, cues) for words in between)


def idle_intents(plans: Mapping[str, DeclaredPlan]) -> frozenset[str]:
    """The intents that nothing is done for but answering."""
    return frozenset(name for name, plan in plans.items() if not plan.steps)


def decide_several(desk: EmbeddedDesk, task: Task, matters: Sequence[Matter]) -> Fields | None:
    """One plan for all matters; None where one of them cannot be planned beside the others.

    What changes something comes last, and is confirmed first: a message of several things may
    only tell of one of them ("I cancelled O-1, where is O-2?"). Of two different changes a person
    decides.
    """
    made = [
        decide(desk, task.changed(text=matter.text), matter.intent, matter.confidence)
        for matter in matters
    ]
    if any(fields.get("hand_over") for fields in made):
        return None
    changing = [
        place for place, matter in enumerate(matters) if changes_something(desk, matter.intent)
    ]
    asking = [place for place, fields in enumerate(made) if fields.get("missing")]
    last = [*dict.fromkeys((*changing, *asking))]
    is_joined = matters[0].is_joined
    if len(last) > 1 and not (is_joined and not asking):
        reason = "the message asks for several changes at once"
        return made[0] | {"steps": [], "hand_over": True, "reason": reason, "confidence": 0.0}
    first = [fields for place, fields in enumerate(made) if place not in last[-1:]]
    main = made[last[-1]] if last else made[-1]
    if not last:
        first = made[:-1]
    steps = [step for fields in (*first, main) for step in fields["steps"]]
    read = main.get(READ) or {}
    if changing and not is_joined:
        read = read | dict.fromkeys(desk.naming_slots & set(main["slots"]), "guessed")
    confidence = min(float(fields["confidence"]) for fields in made)
    return main | {"steps": steps, READ: read, "confidence": confidence}


def changes_something(desk: EmbeddedDesk, intent: str) -> bool:
    """Whether something is changed for an intent: the customer can be asked whether that is
    right."""
    plan = (desk.plans or {})[intent]
    return any(tool in plan.labels for tool, _ in plan.steps)
