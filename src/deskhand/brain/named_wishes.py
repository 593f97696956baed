"""What a message wants whose words alone are not clear, but which names a thing that the desk acts
on, as an order: nobody does who wants something that no intent covers."""

import re
from collections.abc import Mapping
from datetime import datetime

from deskhand.brain.declared_plans import UNSURE_INTENT
from deskhand.brain.embedded_desk import EmbeddedDesk, IntentPrediction, IntentPredictor
from deskhand.brain.message_matters import (
    StatedIntent,
    changes_something,
    idle_intents,
    named_things,
    wishes_in,
)
from deskhand.brain.task_inputs import (
    Fields,
    message_of,
    newest,
    own_words,
    received_at,
    said_in,
)
from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.turn_cues import turn_cues
from deskhand.model.plan import TURN
from deskhand.model.remembered import ALSO_ANSWERS
from deskhand.model.tasks import Task

_LIKELY = 0.8
"""How likely an intent must be for which more is asked than the thing's name."""
_LIKELY_READ = 0.75
"""How likely one must be for which something is only looked up, or confirmed first."""
_LIKELY_WHOLE = 0.86
"""How likely a whole text must mean what one of its clauses plainly says."""
_CLAUSE = re.compile(r"[.!?;:,\n]+\s+|\n+")
_MOST_CLAUSES = 8
_HEAD = re.compile(r"([^.!?:;\n]{8,60}):\s+\S+ \S+")
_CLAUSE_END = re.compile(r"[,.;!?\n]|$|\b(?:but|just|ale|jen|sondern|nur|sino|solo)\b")
"""Where a clause ends that says what shall not be done."""
_MOST_WORDS = 12
"""Words of a message that only puts something right."""
_FEWEST_BEFORE = 2
"""Words of a wish that is taken back."""
_FEWEST_WORDS = 3
"""Words beside a number that must say what is wanted with it."""


def by_named_thing(
    desk: EmbeddedDesk, model: IntentPredictor | None, task: Task, likely: IntentPrediction
) -> Fields | None:
    """The category of a message that names a thing; None where it stays unclear."""
    text, now = said_in(task), received_at(task)
    wish = None if model is None else plain_wish(desk, model, text, likely, now)
    if wish is not None and wish.intent in (task.choices or (wish.intent,)):
        why = "a part of it says it plainly"
        return {"category": wish.intent, "confidence": min(1.0, wish.confidence), "reason": why}
    plan = (desk.plans or {}).get(likely.best)
    is_choice = not task.choices or likely.best in task.choices
    if plan is None or not plan.steps or not is_choice or not _names(desk, text, now):
        return None
    fields: Fields = {
        "category": likely.best,
        "confidence": min(1.0, max(0.0, likely.confidence)),
        "reason": "it names what the intent is about",
    }
    needs_only_names = desk.naming_slots.issuperset(plan.needs)
    if not needs_only_names and likely.confidence >= _LIKELY:
        has_words = len(re.findall(r"[^\W\d_]{2,}", text)) >= _FEWEST_WORDS
        return fields if has_words else None
    follows = bool(newest(task, "remembered"))  # then it is read beside what was said before
    if plan.needs and needs_only_names and not follows and likely.confidence >= _LIKELY_READ:
        # nothing would be asked before something is done about it
        is_change = changes_something(desk, likely.best)
        return fields | ({UNSURE_INTENT: True} if is_change else {})
    return None


def only_corrects(desk: EmbeddedDesk, task: Task) -> bool:
    """Whether a message only names another thing than the one that was spoken of, and says that it
    is the right one: what is wanted with it was said before."""
    text = said_in(task)
    remembered = newest(task, "remembered")
    if not isinstance(remembered, Mapping) or desk.states is None:
        return False
    cues, folded = turn_cues(), FoldedText(text).folded
    wants = "?" in text or cues.has("request", folded)
    if wants or len(text.split()) > _MOST_WORDS or not cues.has("correct", folded):
        return False
    named = desk.states(text, tuple(desk.naming_slots), received_at(task))
    return any(remembered.get(name) not in (None, value) for name, value in named.items())


def _names(desk: EmbeddedDesk, text: str, now: datetime) -> bool:
    if named_things(desk, text, now):
        return True
    names = tuple(desk.naming_slots)
    return desk.states is not None and bool(desk.states(text, names, now))


def plain_wish(
    desk: EmbeddedDesk, model: IntentPredictor, text: str, likely: IntentPrediction, now: datetime
) -> StatedIntent | None:
    """The one wish of a text that names a thing, where some part of it says it plainly; None where
    parts say different things. `likely` is what the whole text may mean."""
    named = named_things(desk, text, now)
    if not named:
        return None
    wishes = wishes_in(model, text, idle_intents(desk.plans or {}))
    if len({wish.intent for wish in wishes}) != 1:
        return None
    best = max(wishes, key=lambda wish: wish.confidence)
    names_it = any(wish.start <= match.start < wish.end for wish in wishes for match in named)
    return best if names_it or best.intent == likely.best else None


def predicted(model: IntentPredictor, text: str, whole: str, asked: str) -> IntentPrediction:
    """What a text is about; of one that does not tell, what it is about with its subject, without
    its greeting, or in plainer words."""
    prediction = model.predict([text])[0]
    for wording in (whole, asked):
        if prediction.label is None and wording != text:
            prediction = model.predict([wording])[0]
    return prediction if prediction.label is not None else plainer(model, whole, prediction)


def plainer(model: IntentPredictor, text: str, prediction: IntentPrediction) -> IntentPrediction:
    """The prediction for a clause that plainly says what the whole text likely means: "Cancel it
    please, my friend bought the same". Where clauses mean different things, nothing is plain.
    What stands before a colon says what the rest is for: "Please open a ticket: ..."."""
    head = _HEAD.search(text)
    asked = None if head is None else model.predict([head.group(1)])[0]
    if asked is not None and asked.label is not None:
        return asked
    clauses = [clause.strip() for clause in _CLAUSE.split(text) if len(clause.split()) > 1]
    if prediction.confidence < _LIKELY_WHOLE or not 1 < len(clauses) <= _MOST_CLAUSES:
        return prediction
    plain = [read for read in model.predict(clauses) if read.label is not None]
    if {read.label for read in plain} != {prediction.best}:
        return prediction
    return max(plain, key=lambda read: read.confidence)


def must_ask_first(
    desk: EmbeddedDesk, model: IntentPredictor | None, task: Task, intent: str | None
) -> bool:
    """Whether a change is asked about before it is made: the message takes its wish back, or only
    messages before it had that wish, which waited for a person and are worked together with it."""
    if model is None or intent is None or newest(task, TURN) is not None:
        return False
    if intent not in (desk.plans or {}) or not changes_something(desk, intent):
        return False
    metadata = task.inputs.get("metadata")
    is_joined = isinstance(metadata, Mapping) and bool(metadata.get(ALSO_ANSWERS))
    return is_taken_back(said_in(task)) or (is_joined and not _says(model, task, intent))


def _says(model: IntentPredictor, task: Task, intent: str) -> bool:
    """Whether the newest message says this by itself."""
    message = message_of(task)
    said = own_words(str(message.get("body") or ""), str(message.get("subject") or ""))
    return model.predict([said])[0].label == intent


def is_taken_back(text: str) -> bool:
    """Whether a text takes back what it has said: "cancel it, actually no, leave it"."""
    folded = FoldedText(text).folded
    places = turn_cues().spans("taken_back", folded)
    return any(len(folded[:start].split()) >= _FEWEST_BEFORE for start, _ in places)


def without_denied(text: str) -> str:
    """The text without the clauses that say what shall not be done: "leave it, don't cancel"."""
    reading = FoldedText(text)
    kept: list[str] = []
    place = 0
    for start, end in turn_cues().spans("denied", reading.folded):
        if start < place:
            continue
        kept.append(text[place : reading.origin(start)])
        closing = _CLAUSE_END.search(reading.folded, end)
        place = reading.origin(closing.start() if closing is not None else end)
    return "".join((*kept, text[place:])).strip(" ,;") if kept else text
