"""What a message is about that fits no intent by itself, but follows something in the conversation:
another value for what was done, the same for another order, an addition to what a colleague has."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from deskhand.agents.turn_taking import ReadsTurns
from deskhand.agents.turn_words import words_for
from deskhand.brain.declared_plans import REFUSED, UNSURE_INTENT
from deskhand.config.sections.plans import DeclaredPlan
from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.turn_cues import turn_cues
from deskhand.language.turn_kinds import OpenQuestion, Turn, TurnKind, same_value
from deskhand.mail.reply import visible_reply
from deskhand.model.envelope import Ask, Envelope
from deskhand.model.outcome import Outcome
from deskhand.model.plan import TURN
from deskhand.model.remembered import Remembered, RememberedTurn, words_before
from deskhand.model.run import RunStatus
from deskhand.model.understanding import CATEGORY, CONFIDENCE, INTENT_ID, SLOTS, Understanding
from deskhand.model.value_readings import READ
from deskhand.tools.services import ServiceResult

_LIKELIER = 0.85
"""And one for which no thing is named."""
_LIKELY = 0.75
"""How likely an intent must be that is taken for a message which follows a matter."""
SAY_IT_ANEW = "request"
"""What is waited for where nothing is open: the customer says what else he wants."""
_LIKELY_WORD = 0.7
"""How likely it must be thanks, or another word for which nothing is done but answering."""
_FEW_WORDS = 10
_RECENT = 2
"""How many messages back a matter is that a message may still belong to."""


class FollowUps(NamedTuple):
    """What messages are held against that follow a matter."""

    reader: ReadsTurns
    plans: Mapping[str, DeclaredPlan]
    naming_slots: frozenset[str]


class _Matter(NamedTuple):
    """The matter that a conversation was about last."""

    intent: str
    plan: DeclaredPlan
    turn: RememberedTurn
    known: dict[str, Any]
    memory: Remembered


def followed_up(envelope: Envelope, parts: FollowUps, plan_at: str | None) -> ServiceResult | None:
    """What comes of a message that follows something; None for one that stands alone."""
    message = envelope.message
    turns = words_before(envelope)
    memory = Remembered.of(envelope)
    if message is None or memory is None or not turns:
        return None
    if turns[-1].is_handed_over:
        return _for_a_person("it adds to what a colleague is to answer")
    text = visible_reply(message.words)
    matter = _last_matter(turns, memory, parts)
    if plan_at is None:
        return None
    if matter is None:
        return _closing_word(envelope, text, parts, plan_at)
    named = parts.reader.named_in(text, message.received_at)
    if any(_names_another(named.get(name), matter.known.get(name)) for name in parts.naming_slots):
        return _planned(plan_at, {INTENT_ID: matter.intent, UNSURE_INTENT: True})
    question = OpenQuestion(
        asked=(),
        slots=parts.reader.slots_of(matter.intent),
        known=matter.known,
        matter=matter.intent,
        prompt=matter.turn.answered,
    )
    turn = parts.reader.read(text, question, message.received_at)
    followed = _follows(envelope, turn, matter, parts, plan_at)
    if followed is None and turn.kind is not TurnKind.CORRECTION:
        followed = _closing_word(envelope, text, parts, plan_at)
    if followed is None and _likely_intent(envelope, parts) is not None:
        wish = {INTENT_ID: _likely_intent(envelope, parts), UNSURE_INTENT: True}
        return _planned(plan_at, wish)
    return followed


def _closing_word(
    envelope: Envelope, text: str, parts: FollowUps, plan_at: str
) -> ServiceResult | None:
    """The answer to a few words that likely only close a conversation, as thanks do."""
    understanding = Understanding.of(envelope)
    best, chance = understanding.newest("best"), understanding.newest("best_confidence")
    plan = parts.plans.get(str(best))
    if plan is None or plan.steps or not plan.reply or float(chance or 0) < _LIKELY_WORD:
        return None
    asks_something = re.search(r"[?\d]", text) is not None
    if asks_something or len(text.split()) > _FEW_WORDS:
        return None
    return _planned(plan_at, {INTENT_ID: str(best)})


def _likely_intent(envelope: Envelope, parts: FollowUps) -> str | None:
    """The intent that a message likely has which speaks of the thing that was named before: it is
    confirmed before anything is changed."""
    understanding = Understanding.of(envelope)
    best, chance = understanding.newest("best"), understanding.newest("best_confidence")
    plan = parts.plans.get(str(best))
    if plan is None or not (plan.steps and plan.needs):
        return None
    least = _LIKELY
    if parts.naming_slots.isdisjoint(plan.needs):  # then nothing in the message speaks for it
        least = _LIKELIER
    return str(best) if float(chance or 0) >= least else None


def _follows(
    envelope: Envelope, turn: Turn, matter: _Matter, parts: FollowUps, plan_at: str
) -> ServiceResult | None:
    why = _wants_somebody(envelope, turn, matter)
    if why is not None:
        return _for_a_person(why)
    says_so = turn_cues().has("cancel", FoldedText(envelope.raw_input).folded)
    likely = None if says_so else _likely_intent(envelope, parts)
    wants_something = likely not in (None, matter.intent)
    if turn.kind is TurnKind.CANCEL and not (matter.turn.done or wants_something):
        return _let_be(envelope)
    if turn.kind is TurnKind.REPEAT and _only_looks_up(matter.plan):
        return _planned(plan_at, _with_values(matter, {}))
    if turn.kind is TurnKind.CORRECTION and turn.other_one:
        return _planned(plan_at, _other_one(matter, parts))
    mended = _other_numbers(matter, parts, visible_reply(envelope.raw_input))
    if mended and turn.kind in (TurnKind.CORRECTION, TurnKind.INVALID, TurnKind.ANSWER):
        return _planned(plan_at, _with_values(matter, mended))
    changed = {
        name: value
        for name, value in turn.values.items()
        if name in matter.known and not same_value(matter.known[name], value)
    }
    if turn.kind is TurnKind.CORRECTION and changed:
        return _planned(plan_at, _with_values(matter, changed))
    names_nothing = parts.naming_slots.isdisjoint(matter.plan.needs)
    if names_nothing and matter.turn.done:
        return _for_a_person("it adds to what was noted for a colleague")
    return None


def _wants_somebody(envelope: Envelope, turn: Turn, matter: _Matter) -> str | None:
    """Why a person takes over, whatever else the message says; None where none does."""
    if turn.kind is TurnKind.PERSON:
        return "the customer wants a person"
    if matter.turn.done and _takes_back(visible_reply(envelope.raw_input)):
        return "it takes back what was done"
    return None


def _takes_back(text: str) -> bool:
    """Whether a message says that what was done shall not be, and names nothing instead."""
    folded = FoldedText(text).folded
    return turn_cues().first("taken_back", folded) and not re.search(r"[?\d]", text)


def _let_be(envelope: Envelope) -> ServiceResult:
    """What is said to somebody who wants no more of what he was told."""
    spoken = Understanding.of(envelope).language
    text = words_for(envelope.raw_input, spoken=spoken)["stopped"]
    reason = "the customer leaves it at that"
    ask = Ask(kind="question", reason=reason, text=text, param=SAY_IT_ANEW)
    return ServiceResult(output={"text": text}, outcome=Outcome.CLARIFY, ask=ask)


def _only_looks_up(plan: DeclaredPlan) -> bool:
    """Whether nothing is changed by it: then it may be done again."""
    return not any(tool in plan.labels for tool, _ in plan.steps)


def _last_matter(
    turns: list[RememberedTurn], memory: Remembered, parts: FollowUps
) -> _Matter | None:
    """The newest matter for which something is done, with what is known of it."""
    for turn in reversed(turns[-_RECENT:]):
        plan = parts.plans.get(turn.intent or "")
        if turn.intent is None or plan is None or not (plan.steps and plan.needs):
            continue
        slots = parts.reader.slots_of(turn.intent)
        known_values = {name: value for name, value in memory.newest.items() if name in slots}
        return _Matter(turn.intent, plan, turn, known_values, memory)
    return None


def _names_another(values: Any, old: Any) -> bool:
    return bool(values) and old is not None and old not in values


def _other_one(matter: _Matter, parts: FollowUps) -> dict[str, Any]:
    """ "No, the other one": the only other that was named, else it is asked for."""
    named = [name for name in parts.naming_slots if name in matter.known]
    for name in named:
        others = matter.memory.others(name, [matter.known[name]])
        if len(others) == 1:
            return _with_values(matter, {name: others[0]})
    slots = {name: value for name, value in matter.known.items() if name not in named}
    return {INTENT_ID: matter.intent, SLOTS: slots, REFUSED: named, TURN: _as_correction()}


def _with_values(matter: _Matter, changed: Mapping[str, Any]) -> dict[str, Any]:
    """The same matter with other values, which are confirmed before anything is changed."""
    slots = {**matter.known, **changed}
    for name, value in changed.items():
        slots[name] = _completed(matter.known.get(name), value)
    read = dict.fromkeys(slots, "guessed")
    return {INTENT_ID: matter.intent, SLOTS: slots, READ: read, TURN: _as_correction()}


def _other_numbers(matter: _Matter, parts: FollowUps, text: str) -> dict[str, Any]:
    """The words that were said before with another number in them: "not 14, 41", "number 41"."""
    if len(text.split()) > _FEW_WORDS or matter.turn.asked_for is not None:
        return {}
    mended: dict[str, Any] = {}
    for name, value in matter.known.items():
        if name in parts.naming_slots or not isinstance(value, str):
            continue
        words = with_other_number(value, text)
        if words is not None:
            mended[name] = words
    return mended


def with_other_number(old_text: str, text: str) -> str | None:
    """A text with the number that a message puts in the place of another; None where it is not
    plain which one."""
    said = list(dict.fromkeys(_NUMBER.findall(text)))
    new = [number for number in said if number not in _NUMBER.findall(old_text)]
    old = [number for number in said if number not in new]
    if not old and _HOUSE.search(text):
        numbered = (part for part in old_text.split(",") if _NUMBER.search(part))
        old = _NUMBER.findall(next(numbered, ""))
    if len(new) != 1 or len(old) != 1 or re.search(r"[A-ZÀ-Ž]-?\d{4}", text):
        return None
    return re.sub(rf"\b{old[0]}\b", new[0], old_text, count=1)


_NUMBER = re.compile(r"\b\d{1,4}[a-z]?\b")
_HOUSE = re.compile(
    r"\b(?:number|no\.?|nr\.?|hausnummer|nummer|[cč]\.|[cč]íslo|cislo|house)\s*\d", re.IGNORECASE
)
"""Words before the number of a house."""


def _completed(old: Any, new: Any) -> Any:
    """Another street or house number keeps the town, where none is named with it: the customer is
    asked before it is used."""
    if not isinstance(old, str) or not isinstance(new, str) or "," in new or "," not in old:
        return new
    has_town = re.search(r"\d{4}|\d{3} \d{2}|[A-Z]{1,2}\d", new) is not None
    town = old.partition(",")[2]
    return new if has_town or not re.search(r"\d", new) else f"{new},{town}"


def _as_correction() -> dict[str, str]:
    """Says that the message was read beside what was said before: its words are no new values."""
    return {"kind": str(TurnKind.CORRECTION)}


def _planned(plan_at: str, output: dict[str, Any]) -> ServiceResult:
    reason = "it follows what was said before"
    output |= {CATEGORY: output[INTENT_ID], CONFIDENCE: _LIKELY}
    return ServiceResult(output=output, outcome=Outcome.REPLAN, next=plan_at, reason=reason)


def _for_a_person(reason: str) -> ServiceResult:
    return ServiceResult(outcome=Outcome.TERMINATE, status=RunStatus.NEEDS_REVIEW, reason=reason)
