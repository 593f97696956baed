"""The category of a message whose words leave it open, where something else speaks for one: an
appointment names a time, and who tells a long story of what went wrong complains."""

from collections.abc import Collection

from deskhand.brain.appointments import wish_in
from deskhand.brain.declared_plans import speaks_of
from deskhand.brain.embedded_desk import EmbeddedDesk, IntentPrediction
from deskhand.brain.task_inputs import Fields
from deskhand.language.concerns import Concern, concern_of_all
from deskhand.model.tasks import Task

TIMED = "it is likely about an appointment, and names a time"
HOLDS_CONCERN = "it likely holds what a person must see"
"""The reasons for such categories."""
_LIKELY_APPOINTMENT = 0.8
_LIKELY_CONCERN = 0.5
_DOUBTED = 0.49
"""How sure the category of a concern is said to be: a person looks at it in any case."""
_TIMES = frozenset({"on", "until", "or_on", "at", "after", "before", "within", "change"})
"""What of a wish says a time."""


def category_for_appointments(desk: EmbeddedDesk, choices: Collection[str]) -> str | None:
    """The category whose plan makes appointments; None where the desk or the task has none."""
    for name, plan in (desk.plans or {}).items():
        if name in (choices or (name,)) and speaks_of(plan, "wish.on"):
            return name
    return None


def as_appointment(desk: EmbeddedDesk, task: Task, likely: IntentPrediction) -> Fields | None:
    """An appointment, where two things that know nothing of each other speak for one: the words of
    the message, and a time or a change of one that it names. None where one of them does not."""
    if likely.confidence < _LIKELY_APPOINTMENT:
        return None
    if likely.best != category_for_appointments(desk, task.choices):
        return None
    if _TIMES.isdisjoint(wish_in(desk, task)):
        return None
    sure = min(1.0, likely.confidence)
    return {"category": likely.best, "confidence": sure, "reason": TIMED}


def as_concern(desk: EmbeddedDesk, choices: Collection[str], text: str) -> Fields | None:
    """A category that is always looked at and named as a concern, which the text as a whole likely
    holds; None where it holds none."""
    for concern in Concern:
        is_category = concern in desk.always_asked and concern in (choices or (concern,))
        if is_category and concern_of_all(text, concern, _LIKELY_CONCERN) is not None:
            return {"category": str(concern), "confidence": _DOUBTED, "reason": HOLDS_CONCERN}
    return None
