"""Which category makes appointments, and when a message whose words leave its category open is of
it: its words likely are about an appointment, and it names a time."""

from collections.abc import Collection

from deskhand.brain.appointments import wish_in
from deskhand.brain.declared_plans import speaks_of
from deskhand.brain.embedded_desk import EmbeddedDesk, IntentPrediction
from deskhand.model.tasks import Task

TIMED = "it is likely about an appointment, and names a time"
"""The reason for such a category."""
_LIKELY = 0.8
_TIMES = frozenset({"on", "until", "or_on", "at", "after", "before", "within", "change"})
"""What of a wish says a time."""


def category_for_appointments(desk: EmbeddedDesk, choices: Collection[str]) -> str | None:
    """The category whose plan makes appointments; None where the desk or the task has none."""
    for name, plan in (desk.plans or {}).items():
        if name in (choices or (name,)) and speaks_of(plan, "wish.on"):
            return name
    return None


def is_likely_about_a_time(desk: EmbeddedDesk, task: Task, likely: IntentPrediction) -> bool:
    """Whether two things that know nothing of each other speak for an appointment: the words of
    the message, and a time or a change of one that it names."""
    if likely.confidence < _LIKELY:
        return False
    if likely.best != category_for_appointments(desk, task.choices):
        return False
    return not _TIMES.isdisjoint(wish_in(desk, task))
