"""A call that the gate holds: the run stops until a person decides or, after a stop, until the
desk is resumed."""

from deskhand.model.causes import cause_of_rule
from deskhand.model.envelope import Ask
from deskhand.model.outcome import Outcome
from deskhand.model.run import EffectKey, ReviewKind
from deskhand.ports import GateAnswer
from deskhand.tools.services import ServiceResult


class Held(Exception):
    """Passes through the step that made the call, so that no row says it happened."""

    def __init__(self, answer: GateAnswer, key: EffectKey) -> None:
        self.answer, self.key = answer, key

    @property
    def ask(self) -> Ask:
        kind = ReviewKind.STOPPED if self.answer.rule == "stopped" else ReviewKind.TOOL_CALL
        payload = self.answer.review(str(self.key))
        return Ask(
            kind=kind,
            reason=self.answer.reason,
            payload=payload,
            causes=(cause_of_rule(self.answer.rule),),
        )

    def result(self, stage: str | None = None) -> ServiceResult:
        return ServiceResult(
            outcome=Outcome.CONFIRM, ask=self.ask, reason=self.answer.reason, resume=stage
        )
