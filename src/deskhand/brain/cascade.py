"""Two brains as one: the embedded brain first, the LLM where it is unsure."""

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from deskhand.config.sections.brain import LLM_ALWAYS
from deskhand.errors import (
    DeskhandError,
    ModelAnswerInvalid,
    ModelAway,
    ModelNotUsable,
    ModelRefused,
    ModelUnavailable,
)
from deskhand.model.tasks import Answer, Task, TaskKind
from deskhand.ports import Brain, Clock

log = logging.getLogger("deskhand.brain")

THRESHOLDS: Mapping[TaskKind, float] = MappingProxyType(
    {
        TaskKind.CLASSIFY: 0.7,
        TaskKind.EXTRACT: 0.6,
        TaskKind.TRANSLATE: 0.5,
        TaskKind.DECIDE: 0.5,
        TaskKind.DRAFT: 0.6,
        TaskKind.MATCH: 0.6,
        TaskKind.SUMMARISE: 0.3,
        TaskKind.JUDGE: 0.5,
        TaskKind.VERIFY: LLM_ALWAYS,
        TaskKind.PROMPT: LLM_ALWAYS,
    }
)
"""Below these confidences the LLM is asked, where a desk says nothing else."""
REST = 30.0
"""Seconds for which an LLM that could not be reached is not asked again."""
HELD = "held"
_EVERY_FAULT: tuple[type[DeskhandError], ...] = (
    ModelUnavailable,
    ModelRefused,
    ModelAnswerInvalid,
)


class CascadeBrain:
    """Each answer says who gave it. Where the LLM cannot be had, embedded answers are marked as
    held for a person; while it may come back, ModelAway passes through."""

    def __init__(
        self,
        embedded: Brain,
        llm: Brain,
        thresholds: Mapping[TaskKind, float] | None = None,
        *,
        clock: Clock,
        rest: float = REST,
        stands_in_for: tuple[type[DeskhandError], ...] = _EVERY_FAULT,
        name: str = "cascade",
    ) -> None:
        """`stands_in_for` are the LLM's faults for which the embedded brain answers; other faults
        stay faults."""
        self.name = name
        self._stands_in_for = stands_in_for
        self._embedded, self._llm, self._clock, self._rest = embedded, llm, clock, rest
        self._thresholds = {**THRESHOLDS, **(thresholds or {})}
        self._down_until = 0.0

    def learn(self) -> None:
        """Learn beforehand what may be needed any time; a key that is missing is seldom lost."""
        if self._stands_in_for == (ModelNotUsable,):
            return
        learn = getattr(self._embedded, "learn", None)
        if learn is not None:
            learn()

    async def answer(self, task: Task) -> Answer:
        threshold = self._thresholds[task.kind]
        first = None
        if threshold < LLM_ALWAYS:
            first = await self._ask_embedded(task)
            if first is not None and confidence_of(first) >= threshold:
                return first.changed(note={**first.note, "spared": str(task.kind)})
        try:
            second = await self._ask_llm(task)
        except (ModelUnavailable, ModelRefused, ModelAnswerInvalid) as error:
            if not self._does_without(task, error):
                raise
            first = first or await self._ask_embedded(task)
            if first is None:
                raise
            return _held(first, _reason(error))
        unsure = None if first is None else round(confidence_of(first), 4)
        return second.changed(note={**second.note, "embedded_confidence": unsure})

    def _does_without(self, task: Task, error: DeskhandError) -> bool:
        """Whether the embedded brain may answer although the LLM was to be asked."""
        if not isinstance(error, self._stands_in_for):
            return False
        return task.without_model if isinstance(error, ModelAway) else True

    async def _ask_embedded(self, task: Task) -> Answer | None:
        """None when the task is beyond it."""
        try:
            return await self._embedded.answer(task)
        except ModelAnswerInvalid:
            return None

    async def _ask_llm(self, task: Task) -> Answer:
        now = self._clock.now()
        if now < self._down_until:
            raise ModelUnavailable(
                "the model could not be reached; it is asked again in"
                f" {self._down_until - now:.0f} s"
            )
        try:
            answer = await self._llm.answer(task)
        except ModelAway:
            raise  # whoever says so knows when to ask again
        except ModelUnavailable as error:
            self._down_until = self._clock.now() + self._rest
            log.warning("the LLM cannot be reached, the embedded brain goes on alone: %s", error)
            raise
        self._down_until = 0.0
        return answer


def embedded_instead(
    llm: Brain, embedded: Brain, clock: Clock, *, while_away: bool = True
) -> CascadeBrain:
    """The LLM, and the embedded brain at once where the LLM cannot be asked at all: no key, no
    credit. With `while_away` also where the LLM has been away for too long."""
    thresholds = dict.fromkeys(TaskKind, LLM_ALWAYS)
    faults: tuple[type[DeskhandError], ...] = (ModelNotUsable,)
    if while_away:
        faults += (ModelAway,)
    return CascadeBrain(embedded, llm, thresholds, clock=clock, stands_in_for=faults, name=llm.name)


def confidence_of(answer: Answer) -> float:
    """0 to 1. What says nothing about its confidence is sure; what hands over is not."""
    fields: dict[str, Any] = answer.result.model_extra or {}
    if fields.get("hand_over"):
        return 0.0
    confidence = fields.get("confidence", getattr(answer.result, "confidence", 1.0))
    is_share = isinstance(confidence, int | float) and 0 <= confidence <= 1
    return float(confidence) if is_share else 0.0


def _reason(error: DeskhandError) -> str:
    match error:
        case ModelNotUsable():
            return f"llm_not_usable: {str(error).partition(chr(10))[0]}"
        case ModelRefused():
            return "llm_refused"
        case ModelAnswerInvalid():
            return "llm_answer_invalid"
        case _:
            return "llm_unavailable"


def _held(answer: Answer, reason: str) -> Answer:
    """The same answer, marked so that a person looks before anything leaves."""
    result = type(answer.result).model_validate({**answer.data, HELD: reason})
    return answer.changed(result=result, note={**answer.note, HELD: reason})
