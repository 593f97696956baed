"""What a plan does with a customer's turn while its question is open.

An answer lets it go on. Everything else gets what it asks for, and then the question once more: a
reason, the same words again, what a good answer looks like. A turn may also stop the plan, hand it
to a person, or begin another matter.
"""

import asyncio
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from deskhand.agents.plan_progress import PlanProgress
from deskhand.agents.plan_walk import TURN, PlanWalk
from deskhand.config.yaml import read_yaml
from deskhand.language.identify import identify
from deskhand.language.turn_kinds import CONFIRM, OpenQuestion, Turn, TurnKind
from deskhand.mail.reply import visible_reply
from deskhand.model.envelope import Delta, Envelope, StageResult
from deskhand.model.outcome import Outcome
from deskhand.model.plan import AskUser
from deskhand.model.run import RunStatus
from deskhand.model.understanding import Understanding
from deskhand.tools.services import ServiceResult

_TEXTS = Path(__file__).with_name("turn_replies.yaml")
_USUAL_LANGUAGE = "en"


class ReadsTurns(Protocol):
    """Tells what a message does while a question is open."""

    def slots_of(self, matter: str | None) -> tuple[str, ...]:
        """The slots of an intent."""
        ...

    def read(self, text: str, question: OpenQuestion, received_at: Any = None) -> Turn: ...


class Taken(NamedTuple):
    """What came of a turn."""

    is_answer: bool = False
    stopped: ServiceResult | None = None
    """What the stage ends with, where the turn ends it."""
    says: str = ""
    """What the stage ends with as its reply, where the turn drops the matter."""


async def take_turn(
    walk: PlanWalk, envelope: Envelope, progress: PlanProgress, turns: ReadsTurns
) -> Taken:
    """Read the turn, record it, and bring the walk to where it goes on."""
    step = walk.plan.steps[walk.place]
    assert isinstance(step, AskUser)
    turn = await _recorded(walk, envelope, progress, turns, step)
    words = _words(step.prompt)
    if progress.pending and turn.values.get(CONFIRM) is not None:
        return _confirmed(walk, progress, bool(turn.values[CONFIRM]))
    match turn.kind:
        case TurnKind.ANSWER | TurnKind.ANSWERS_SEVERAL:
            walk.answers |= turn.values
            return Taken(is_answer=True)
        case TurnKind.CORRECTION if turn.values:
            return _ask_whether(walk, turn, words)
        case TurnKind.CANCEL:
            return Taken(says=words["stopped"])
        case TurnKind.PERSON:
            return Taken(stopped=_handed_over(walk, turn))
        case TurnKind.OTHER_MATTER if walk.spec.restart_at is not None:
            return Taken(stopped=_begun_anew(walk))
        case _:
            walk.answers |= turn.values
            _ask_again(walk, turn, step, words)
            return Taken()


def _ask_again(walk: PlanWalk, turn: Turn, step: AskUser, words: Mapping[str, str]) -> None:
    """The same question, after what this turn wanted to hear."""
    leads = {
        TurnKind.WHY: step.why or words["why"],
        TurnKind.ASIDE: words["aside"],
        TurnKind.CORRECTION: words["which"],
        TurnKind.INVALID: step.expects or words["invalid"],
    }
    walk.lead = leads.get(turn.kind, "")
    walk.counts_question = turn.kind in (TurnKind.INVALID, TurnKind.CORRECTION)


def _ask_whether(walk: PlanWalk, turn: Turn, words: Mapping[str, str]) -> Taken:
    """A value that was changed is confirmed before anything is done with it."""
    walk.answers |= {
        name: value for name, value in turn.values.items() if name in walk.waits_at(walk.place)
    }
    values = {name: value for name, value in turn.values.items() if name != CONFIRM}
    shown = ", ".join(f"{name} {_shown(value)}" for name, value in values.items())
    question = words["confirm"].format(values=shown)
    return Taken(stopped=walk.ask_whether(question, values))


def _confirmed(walk: PlanWalk, progress: PlanProgress, is_right: bool) -> Taken:
    if is_right:
        walk.answers |= progress.pending
        walk.confirmed |= set(progress.pending)
    walk.counts_question = False
    return Taken(is_answer=True)


def _handed_over(walk: PlanWalk, turn: Turn) -> ServiceResult:
    walk.answers |= turn.values
    return walk.ended(
        ServiceResult(
            output=walk.output,
            outcome=Outcome.TERMINATE,
            status=RunStatus.NEEDS_REVIEW,
            reason="the customer asks for a person",
        )
    )


def _begun_anew(walk: PlanWalk) -> ServiceResult:
    """The message begins another matter: the flow starts with it, and knows nothing of this
    one."""
    anew = ServiceResult(
        outcome=Outcome.REPLAN,
        next=walk.spec.restart_at,
        reason="the customer begins another matter",
        starts_anew=True,
    )
    return walk.ended(anew)


async def _recorded(
    walk: PlanWalk,
    envelope: Envelope,
    progress: PlanProgress,
    turns: ReadsTurns,
    step: AskUser,
) -> Turn:
    """The turn as it was read the first time: another reader would not change it."""
    message = envelope.message
    assert message is not None
    question = _question(walk, envelope, progress, turns, step)
    text = visible_reply(message.words)
    key = walk.spec.output_key

    async def read() -> StageResult:
        turn = await asyncio.to_thread(turns.read, text, question, message.received_at)
        fields = {
            "kind": str(turn.kind),
            "values": turn.values,
            "matter": turn.matter,
            "other_one": turn.other_one,
        }
        return StageResult(delta=Delta(merge={key: {TURN: fields}}))

    made = await walk.ctx.step(TURN, read, at_once=False)
    fields: dict[str, Any] = made.delta.merge[key][TURN]
    walk.turn = fields
    return Turn(
        TurnKind(fields["kind"]), dict(fields["values"]), fields["matter"], fields["other_one"]
    )


def _question(
    walk: PlanWalk,
    envelope: Envelope,
    progress: PlanProgress,
    turns: ReadsTurns,
    step: AskUser,
) -> OpenQuestion:
    understanding = Understanding.of(envelope)
    questions = [one.param for one in walk.plan.steps if isinstance(one, AskUser)]
    slots = dict.fromkeys((*questions, *turns.slots_of(understanding.topic)))
    return OpenQuestion(
        asked=(CONFIRM,) if progress.pending else tuple(progress.waits_for),
        slots=tuple(slots),
        known={**understanding.slots, **walk.answers, **progress.pending},
        matter=understanding.topic,
        prompt=step.prompt,
    )


def _words(prompt: str) -> Mapping[str, str]:
    """What is said in the language of the question."""
    texts = turn_texts()
    return texts.get(identify(prompt).code or "", texts[_USUAL_LANGUAGE])


@cache
def turn_texts() -> Mapping[str, Mapping[str, str]]:
    return read_yaml(_TEXTS).data


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(str(part) for part in value.values())
    return str(value)
