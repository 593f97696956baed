"""How a customer's turn ends a plan: another matter, a person, or nothing more to do."""

from typing import NamedTuple

from deskhand.agents.plan_walk import PlanWalk
from deskhand.language.turn_kinds import Turn
from deskhand.model.outcome import Outcome
from deskhand.model.run import RunStatus
from deskhand.tools.services import ServiceResult


class Taken(NamedTuple):
    """What came of a turn."""

    is_answer: bool = False
    stopped: ServiceResult | None = None
    """What the stage ends with, where the turn ends it."""
    says: str = ""
    """What the stage ends with as its reply, where the turn drops the matter."""


def handed_over(walk: PlanWalk, turn: Turn) -> ServiceResult:
    walk.answers |= turn.values
    return walk.ended(
        ServiceResult(
            output=walk.output,
            outcome=Outcome.TERMINATE,
            status=RunStatus.NEEDS_REVIEW,
            reason="the customer asks for a person",
        )
    )


def begun_anew(walk: PlanWalk) -> ServiceResult:
    """The message begins another matter: the flow starts with it, and knows nothing of this
    one."""
    anew = ServiceResult(
        outcome=Outcome.REPLAN,
        next=walk.spec.restart_at,
        reason="the customer begins another matter",
        starts_anew=True,
    )
    return walk.ended(anew)
