"""What a plan does with a customer's turn while its question is open.

An answer lets it go on. Everything else gets what it asks for, and then the question once more: a
reason, the same words again, what a good answer looks like. A turn may also stop the plan, hand it
to a person, or begin another matter.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from deskhand.agents.eligible_intents import ELIGIBLE, EligibleIntents
from deskhand.agents.failure_turns import settled_failure
from deskhand.agents.plan_failures import (
    FailureQuestions,
    TellResults,
    answering_slot,
    open_question,
)
from deskhand.agents.plan_progress import PlanProgress
from deskhand.agents.plan_walk import PlanWalk
from deskhand.agents.turn_endings import Taken, begun_anew, handed_over
from deskhand.agents.turn_words import SlotLabels, confirming, noted, which_of, words_for
from deskhand.errors import DeskhandError
from deskhand.language.turn_kinds import CONFIRM, OpenQuestion, Turn, TurnKind, same_value
from deskhand.mail.reply import visible_reply
from deskhand.model.envelope import Delta, Envelope, StageResult
from deskhand.model.plan import TURN, AskUser, ToolCall
from deskhand.model.remembered import Remembered
from deskhand.model.understanding import Understanding

log = logging.getLogger("deskhand.agent")

_MAY_CHANGE = (
    TurnKind.ANSWER,
    TurnKind.ANSWERS_SEVERAL,
    TurnKind.ASIDE,
    TurnKind.CORRECTION,
)
"""Turns whose values count for the plan that waits."""
_MOST_SAID = 20_000
"""Characters in which the other one is looked for."""


class ReadsTurns(Protocol):
    """Tells what a message does while a question is open."""

    def slots_of(self, matter: str | None) -> tuple[str, ...]:
        """The slots of an intent."""
        ...

    def read(self, text: str, question: OpenQuestion, received_at: Any = None) -> Turn: ...

    def named_in(self, text: str, received_at: datetime) -> Mapping[str, Sequence[Any]]:
        """The things that a text names, by slot."""
        ...


class AnswersAsides(Protocol):
    """Answers what customers ask beside the desk's own question."""

    async def answer(self, text: str, run_id: str) -> str | None:
        """What is known for certain; None where nothing is."""
        ...


class TurnParts(NamedTuple):
    """What turns are read and answered with."""

    reader: ReadsTurns
    intents: EligibleIntents | None = None
    asides: AnswersAsides | None = None
    labels: SlotLabels = MappingProxyType({})
    """What customers read as the names of slots."""
    failure_questions: FailureQuestions = MappingProxyType({})
    """What customers are asked where a call fails."""
    tell: TellResults | None = None
    """Says what calls found, where the customer is asked before the reply."""


async def take_turn(
    walk: PlanWalk,
    envelope: Envelope,
    progress: PlanProgress,
    parts: TurnParts,
) -> Taken:
    """Read the turn, record it, and bring the walk to where it goes on."""
    step = _open_step(walk, envelope, progress)
    turn = await _recorded(walk, envelope, progress, parts.reader, step, parts.intents)
    words = words_for(step.prompt, parts.labels)
    if progress.failed:
        settled = settled_failure(walk, envelope, progress, parts.reader.named_in, turn, words)
        if settled is not None:
            return settled
    to_confirm = _to_confirm(turn, _known_so_far(walk, envelope, progress))
    asks_here = isinstance(walk.plan.steps[walk.place], AskUser)
    if to_confirm and asks_here and not progress.pending:
        return await _note_changes(
            walk, turn, _known_so_far(walk, envelope, progress), to_confirm, words
        )
    if to_confirm:
        return _ask_whether(walk, turn.values, words, {**_still_open(turn, progress), **to_confirm})
    return await _taken(walk, envelope, progress, parts, turn)


async def _taken(
    walk: PlanWalk, envelope: Envelope, progress: PlanProgress, parts: TurnParts, turn: Turn
) -> Taken:
    """What comes of a turn that leaves nothing to be confirmed."""
    turns = parts.reader
    step = _open_step(walk, envelope, progress)
    words = words_for(step.prompt, parts.labels)
    if progress.pending and turn.values.get(CONFIRM) is not None:
        return await _confirmed(walk, progress, bool(turn.values[CONFIRM]))
    match turn.kind:
        case TurnKind.ANSWER | TurnKind.ANSWERS_SEVERAL:
            walk.answers |= turn.values
            return Taken(is_answer=True)
        case TurnKind.CORRECTION if turn.values:
            return _ask_whether(walk, {}, words, turn.values)
        case TurnKind.CORRECTION if turn.other_one:
            return _take_other(walk, envelope, progress, turns, words)
        case TurnKind.CANCEL:
            return Taken(says=words["stopped"])
        case TurnKind.PERSON:
            return Taken(stopped=handed_over(walk, turn))
        case TurnKind.OTHER_MATTER if walk.spec.restart_at is not None:
            return Taken(stopped=begun_anew(walk))
        case _:
            walk.answers |= turn.values
            words = await _with_aside(turn, envelope, words, parts.asides)
            return _ask_again(walk, turn, step, words, progress)


async def _with_aside(
    turn: Turn, envelope: Envelope, words: Mapping[str, str], asides: AnswersAsides | None
) -> Mapping[str, str]:
    """The words with the answer to a question aside, where there is one."""
    message = envelope.message
    if turn.kind is not TurnKind.ASIDE or asides is None or message is None:
        return words
    try:
        answer = await asides.answer(visible_reply(message.words), envelope.run_id)
    except DeskhandError as error:
        log.warning("a question aside could not be looked up: %s", error)
        return words
    return words if answer is None else {**words, "aside": answer}


def _ask_again(
    walk: PlanWalk, turn: Turn, step: AskUser, words: Mapping[str, str], progress: PlanProgress
) -> Taken:
    """The same question, after what this turn wanted to hear."""
    leads = {
        TurnKind.WHY: step.why or words["why"],
        TurnKind.ASIDE: words["aside"],
        TurnKind.CORRECTION: words["which"],
        TurnKind.INVALID: step.expects or words["invalid"],
    }
    walk.lead = leads.get(turn.kind, "")
    walk.counts_question = turn.kind in (TurnKind.INVALID, TurnKind.CORRECTION)
    if progress.failed:
        again = walk.ask_again_after_failure(step.prompt, step.param, progress.failed)
        return Taken(stopped=again)
    if step.param != CONFIRM:
        return Taken()
    question = f"{walk.lead}\n{confirming(progress.pending, words)}".strip()
    return Taken(stopped=walk.ask_whether(question, progress.pending))


def _open_step(walk: PlanWalk, envelope: Envelope, progress: PlanProgress) -> AskUser:
    """The question that is open: the plan's own, whether the values of its next call are right,
    or what would let a failed call succeed."""
    step = walk.plan.steps[walk.place]
    if isinstance(step, AskUser):
        return step
    asked = envelope.metadata.get("asked") or {}
    prompt = str(asked.get("text") or CONFIRM)
    question = walk.failure_questions.get(progress.failed)
    if question is not None:
        return open_question(question, prompt, walk.language)
    return AskUser(param=CONFIRM, prompt=prompt)


def _to_confirm(turn: Turn, known_values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a turn that are used only once the customer says that they are right: what
    differs from what was known, and what the message names beside others of its kind."""
    values: dict[str, Any] = {}
    if turn.kind not in _MAY_CHANGE:
        return values
    for name, value in turn.values.items():
        changes = name in known_values and not same_value(known_values[name], value)
        if name != CONFIRM and (changes or name in turn.unsure):
            values[name] = value
    return values


def _still_open(turn: Turn, progress: PlanProgress) -> dict[str, Any]:
    """What was to be confirmed before, unless the customer says that it is wrong."""
    return {} if turn.values.get(CONFIRM) is False else dict(progress.pending)


def _ask_whether(
    walk: PlanWalk, given: Mapping[str, Any], words: Mapping[str, str], unsure: Mapping[str, Any]
) -> Taken:
    """What is unsure is confirmed before anything is done with it. The rest that was given
    counts."""
    pending = {name: value for name, value in unsure.items() if name != CONFIRM}
    for name, value in given.items():
        if name != CONFIRM and name not in pending:
            walk.answers[name] = value
    return Taken(stopped=walk.ask_whether(confirming(pending, words), pending))


async def _note_changes(
    walk: PlanWalk,
    turn: Turn,
    known_values: Mapping[str, Any],
    changed: Mapping[str, Any],
    words: Mapping[str, str],
) -> Taken:
    """Go on with what the customer put right, and confirm it before anything is changed with it.

    A plan that would call something with what was said before is made anew.
    """
    given = {name: value for name, value in turn.values.items() if name != CONFIRM}
    for name in _said_of_the_old(given, changed, walk.ctx.envelope.raw_input):
        del given[name]
    walk.answers |= given
    walk.unsure |= set(changed)
    walk.confirmed -= set(changed)
    await walk.write_readings()
    old = [known_values[name] for name in changed if name in known_values]
    if walk.spec.replan_at is not None and _calls_with(walk, old):
        return Taken(stopped=walk.replan())
    if walk.waits_at(walk.place)[0] in given:
        return Taken(is_answer=True)
    walk.lead = noted(changed, words)
    walk.counts_question = False
    return Taken()


def _said_of_the_old(given: Mapping[str, Any], changed: Mapping[str, Any], text: str) -> list[str]:
    """The answers in a customer's own words that stand before the value which he puts right: "that
    was the cat tree, I mean O-2" says what the old one was."""
    texts = [value for value in changed.values() if isinstance(value, str)]
    places = [place for value in texts for place in _places_of(value, text)]
    first = min((place for place in places if place >= 0), default=-1)
    others = {name: str(value) for name, value in given.items() if name not in changed}
    return [name for name, words in others.items() if 0 <= text.find(words) < first]


def _places_of(value: str, text: str) -> list[int]:
    """Where a value stands as it is, or an order's number without its letters."""
    number = value.rpartition("-")[2]
    written = [value, number] if number.isdecimal() else [value]
    return [text.find(words) for words in written]


def _calls_with(walk: PlanWalk, values: Sequence[Any]) -> bool:
    """Whether a call that is left to make is planned with one of these values."""
    left = [step for step in walk.plan.steps[walk.place :] if isinstance(step, ToolCall)]
    return any(value in step.parameters.values() for step in left for value in values)


def _take_other(
    walk: PlanWalk,
    envelope: Envelope,
    progress: PlanProgress,
    turns: ReadsTurns,
    words: Mapping[str, str],
) -> Taken:
    """ "No, the other one": where the conversation named two, the other of them, once the customer
    says that it is."""
    known_values = _known_so_far(walk, envelope, progress)
    message = envelope.message
    assert message is not None
    others: dict[str, list[Any]] = {}
    for name, values in turns.named_in(_said_so_far(envelope), message.received_at).items():
        left = [value for value in values if value != known_values.get(name)]
        if name in known_values and left:
            others[name] = left
    if len(others) == 1:
        ((name, values),) = others.items()
        if len(values) == 1:
            other = {name: values[0]}
            return _ask_whether(walk, {}, words, other)
    everything = [value for values in others.values() for value in values]
    walk.lead = which_of(everything, words)
    walk.counts_question = True
    if not isinstance(walk.plan.steps[walk.place], AskUser):
        return Taken(stopped=walk.ask_whether(walk.lead, progress.pending))
    return Taken()


def _known_so_far(walk: PlanWalk, envelope: Envelope, progress: PlanProgress) -> dict[str, Any]:
    return {**Understanding.of(envelope).slots, **walk.answers, **progress.pending}


def _said_so_far(envelope: Envelope) -> str:
    """All that was said in the conversation, and what the desk's tools found."""
    memory = Remembered.of(envelope)
    texts = [str((envelope.metadata.get("asked") or {}).get("text") or "")]
    for turn in () if memory is None else memory.turns:
        texts += [turn.said, turn.answered]
    results = [str(result.get("data") or "") for result in Understanding.of(envelope).results]
    return "\n".join((*texts, *results))[:_MOST_SAID]


async def _confirmed(walk: PlanWalk, progress: PlanProgress, is_right: bool) -> Taken:
    """Go on with what the customer confirmed. A plan that was made with another value, or with a
    wrong one, is made anew."""
    asks_here = isinstance(walk.plan.steps[walk.place], AskUser)
    walk.counts_question = False
    if not is_right:
        walk.refused |= set(progress.pending) - set(walk.waits_at(walk.place))
        for name in progress.pending:
            walk.answers.pop(name, None)
        return Taken(is_answer=True) if asks_here else Taken(stopped=walk.replan())
    slots = Understanding.of(walk.ctx.envelope).slots
    is_new = any(slots.get(name) != value for name, value in progress.pending.items())
    walk.answers |= progress.pending
    walk.confirmed |= set(progress.pending)
    if is_new and not asks_here:
        return Taken(stopped=walk.replan())
    await walk.write_readings()
    return Taken(is_answer=True)


async def _recorded(
    walk: PlanWalk,
    envelope: Envelope,
    progress: PlanProgress,
    turns: ReadsTurns,
    step: AskUser,
    intents: EligibleIntents | None,
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
            "unsure": list(turn.unsure),
        }
        answered = None
        if intents is not None:
            answered = {ELIGIBLE: await intents.eligible_for(message)}
        return StageResult(delta=Delta(merge={key: {TURN: fields}}), answered=answered)

    made = await walk.ctx.step(TURN, read, at_once=False)
    fields: dict[str, Any] = made.delta.merge[key][TURN]
    walk.turn = fields
    return Turn(
        TurnKind(fields["kind"]),
        dict(fields["values"]),
        fields["matter"],
        fields["other_one"],
        tuple(fields.get("unsure") or ()),
    )


def _question(
    walk: PlanWalk,
    envelope: Envelope,
    progress: PlanProgress,
    turns: ReadsTurns,
    step: AskUser,
) -> OpenQuestion:
    understanding = Understanding.of(envelope)
    questions = [asking.param for asking in walk.plan.steps if isinstance(asking, AskUser)]
    slots = dict.fromkeys((*questions, *turns.slots_of(understanding.topic)))
    known_values = _known_so_far(walk, envelope, progress)
    asked = (CONFIRM,) if progress.pending else tuple(progress.waits_for)
    failure = walk.failure_questions.get(progress.failed)
    if failure is not None:
        asked = (answering_slot(failure),)
        known_values = {name: value for name, value in known_values.items() if name not in asked}
    return OpenQuestion(
        asked=asked,
        slots=tuple(slots),
        known=known_values,
        matter=understanding.topic,
        prompt=step.prompt,
    )
