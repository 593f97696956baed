"""What a plan does with a customer's turn after it asked because of a failed call."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from deskhand.agents.plan_failures import answering_slot
from deskhand.agents.plan_progress import PlanProgress
from deskhand.agents.plan_walk import PlanWalk
from deskhand.agents.turn_endings import Taken, begun_anew
from deskhand.brain.declared_plans import words_in
from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.turn_cues import turn_cues
from deskhand.language.turn_kinds import CONFIRM, Turn, TurnKind
from deskhand.mail.reply import visible_reply
from deskhand.model.envelope import Envelope

NamedIn = Callable[[str, datetime], Mapping[str, Any]]
"""The things that a text names, by slot."""


_SAYS_NOTHING = (TurnKind.INVALID, TurnKind.WHY, TurnKind.ASIDE, TurnKind.REPEAT)
"""Turns that do not answer; only a question among them wants to hear something."""


def _asks_something(text: str) -> bool:
    folded, cues = FoldedText(text).folded, turn_cues()
    return "?" in text or cues.has("why", folded) or cues.is_all("repeat", folded)


def settled_failure(
    walk: PlanWalk,
    envelope: Envelope,
    progress: PlanProgress,
    named_in: NamedIn,
    turn: Turn,
    words: Mapping[str, str],
) -> Taken | None:
    """What comes of a turn that answers the question after a failed call, says that it will not,
    or comes from a customer who has shown who he is; None where it does something else."""
    question = walk.failure_questions[progress.failed]
    slot = answering_slot(question)
    message = envelope.message
    assert message is not None
    if turn.kind in (TurnKind.OTHER_MATTER, TurnKind.PERSON) or walk.spec.restart_at is None:
        return None
    if progress.author != message.author:
        return Taken(stopped=begun_anew(walk))
    says_no = turn.kind is TurnKind.CANCEL
    text = visible_reply(message.words)
    if turn.kind in _SAYS_NOTHING and not _asks_something(text):
        says_no = bool(question.otherwise)
    if slot in turn.values or says_no:
        return _after_failure(walk, turn, progress, words)
    names_another = slot in named_in(text, message.received_at)
    return Taken(stopped=begun_anew(walk)) if names_another else None


def _after_failure(
    walk: PlanWalk, turn: Turn, progress: PlanProgress, words: Mapping[str, str]
) -> Taken:
    """Try again with what the customer answered, or end with what is said to those who do not."""
    question = walk.failure_questions[progress.failed]
    said = turn.values.get(answering_slot(question))
    if said is None or said is False:
        return Taken(says=words_in(question.otherwise, walk.language) or words["stopped"])
    walk.answers |= {name: value for name, value in turn.values.items() if name != CONFIRM}
    if not turn.unsure:
        walk.confirmed |= set(turn.values) - {CONFIRM}
    if question.then is not None:
        walk.begins = question.then
    return Taken(stopped=walk.replan())
