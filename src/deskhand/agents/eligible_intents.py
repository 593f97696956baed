"""Which intents count for the sender of a message, with all that the company knows of him."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from deskhand.model.message import Message
from deskhand.model.principal import Principal
from deskhand.model.spec import AgentSpec
from deskhand.model.tasks import TaskKind
from deskhand.routing.intents_registry import IntentContext, IntentsRegistry

ELIGIBLE = "eligible"
"""The field of a row with the intents that a stage could choose from."""


class StageChoices(NamedTuple):
    """What a stage may choose from."""

    choices: tuple[str, ...]
    eligible: list[str] | None = None
    """The intents that count, for the row; None where the stage chooses none."""


class EligibleIntents:
    """Limits what stages choose from to the intents that count for the customer."""

    def __init__(
        self,
        registry: IntentsRegistry,
        acquainted: Callable[[Principal], Awaitable[Principal]] | None = None,
    ) -> None:
        """`acquainted` adds what contacts say about a principal, as the tier."""
        self.registry = registry
        self._acquainted = acquainted

    async def choices_of(self, spec: AgentSpec, message: Message | None) -> StageChoices:
        """The stage's choices without those intents that do not count here."""
        if spec.task not in (TaskKind.CLASSIFY, TaskKind.DECIDE) or message is None:
            return StageChoices(spec.choices)
        context = await self._context(message)
        eligible = self.registry.eligible(context)
        others = self.registry.not_eligible(context) if self.registry.has_limits else ()
        if not others:
            return StageChoices(spec.choices, eligible)
        offered = spec.choices or tuple(eligible)
        return StageChoices(tuple(name for name in offered if name not in others), eligible)

    async def eligible_for(self, message: Message) -> list[str]:
        """The intents that count for the sender of a message."""
        return self.registry.eligible(await self._context(message))

    def model_for(self, intent: str | None) -> str | None:
        """The role of the model that works on an intent; None where nothing is written."""
        intent_spec = self.registry.get(intent)
        return None if intent_spec is None else intent_spec.model

    async def _context(self, message: Message) -> IntentContext:
        principal = message.principal
        if self._acquainted is not None and self.registry.has_limits:
            principal = await self._acquainted(principal)
        return IntentContext.of(message, principal)
