"""How a desk lets replies leave: its modes, its pace, the time to stop a reply."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from deskhand.agents.replying.second_reader import SecondReader
from deskhand.model.causes import Cause
from deskhand.model.envelope import Envelope
from deskhand.model.message import CHAT, HANDED_BACK, Message
from deskhand.model.run import RunStatus
from deskhand.model.understanding import Understanding
from deskhand.ports import SpotChecks
from deskhand.trust.standing import MODES

SHADOWED = "shadow mode: written, not sent"
ASKED_IN_DRAFT = "draft mode: a person must ask the customer"

ReviewReason = tuple[Cause, str]
"""Why a person must look at a reply: the cause, and a sentence for the reviewer."""

ReviewReasonsFor = Callable[[Envelope], Awaitable[list[ReviewReason]]]
"""Why a person must look at a run's reply first, the weightiest reason first."""


LEFT = (RunStatus.SENT, RunStatus.ANSWERED)


def status_once_left(message: Message | None) -> RunStatus:
    """Where a run ends whose reply is delivered: `answered` where handing it back to the program
    that asked is the delivery, and nothing else left."""
    is_handed_back = message is not None and message.channel == HANDED_BACK
    return RunStatus.ANSWERED if is_handed_back else RunStatus.SENT


def _came_in_a_chat(message: Message | None) -> bool:
    return message is not None and message.channel == CHAT


async def _no_reason(envelope: Envelope) -> list[ReviewReason]:
    return []


async def _none_lately(conversation: str, run_id: str) -> int:
    return 0


async def _nobody(conversation: str) -> str | None:
    return None


async def _always_auto(category: str | None) -> str:
    return "auto"


@dataclass(frozen=True, slots=True)
class KeptQuestion:
    """Where a run ends instead of asking the customer by itself, and why."""

    status: RunStatus
    reason: str
    cause: Cause
    mode: str
    """The mode in force."""


@dataclass(frozen=True, slots=True)
class Sending:
    """How a desk lets replies leave."""

    mode_for: Callable[[str | None], Awaitable[str]] = _always_auto
    """The mode in force for a topic: `auto`, `draft` or `shadow`. Asked anew for every reply,
    since it may change."""
    undo_for: Callable[[Message | None], float] = lambda message: 0.0
    """Seconds a reply to this message waits before it leaves."""
    by_mail: Callable[[Message | None], bool] = lambda message: False
    """Whether the message's channel keeps drafts and has a server that may be away for a while."""
    sent_lately: Callable[[str, str], Awaitable[int]] = _none_lately
    """How many replies left in a conversation within the last hour, without those of one run."""
    replies_per_hour: int = 10
    replies_per_hour_in_chat: int | None = None
    """The same for chats, which have a pace of their own; None where they have not."""
    replies_per_run: int = 1
    """How many replies an agent may hand in."""
    confirm_times: Callable[[Sequence[str], bool], Awaitable[str | None]] | None = None
    """Books the times that these runs hold for the customer, or with False gives them back.

    Returns why that cannot be done, None where it was. None itself where no times are held."""
    always_ask: frozenset[str] = frozenset()
    """Topics whose replies a person must approve; only questions from desk.yaml are asked."""
    own_questions: frozenset[str] = frozenset()
    """What desk.yaml asks the customer, word for word."""
    review_reasons: ReviewReasonsFor = _no_reason
    """What the flow's review stage would ask about, for replies that bypass it."""
    spot_checks: SpotChecks | None = None
    """Says which replies a person looks at although they could leave by themselves."""
    taken_over_by: Callable[[str], Awaitable[str | None]] = _nobody
    """Who answers in this conversation instead of the desk; None where the desk does."""
    second_reader: SecondReader | None = None
    """The model that reads what another one wrote in words that no article has."""
    in_chat: Callable[[Message | None], bool] = _came_in_a_chat
    """Whether the message came in a chat: there a plan speaks in between, and asks one thing at a
    time."""

    async def mode_of(self, understanding: Understanding) -> str:
        """The mode in force for a message; the lowest where its intent and category differ."""
        modes = [await self.mode_for(topic) for topic in understanding.topics or (None,)]
        return min(modes, key=MODES.index)

    async def too_many(self, envelope: Envelope) -> str | None:
        """Why no further reply may leave in this conversation by itself, None where one may.

        Two machines may be talking to each other.
        """
        if envelope.message is None:
            return None
        count = await self.sent_lately(envelope.message.conversation, envelope.run_id)
        most = self.replies_per_hour
        if self.replies_per_hour_in_chat is not None and self.in_chat(envelope.message):
            most = self.replies_per_hour_in_chat
        if count < most:
            return None
        return f"{count} replies have left in this conversation within an hour"

    async def taken_over(self, message: Message | None) -> str | None:
        """Why the desk is silent in the message's chat now; None where it is not.

        In a chat a colleague may come in while the desk works on its answer.
        """
        if message is None or not self.in_chat(message):
            return None
        by = await self.taken_over_by(message.conversation)
        return None if by is None else f"{by} has taken this conversation over"

    async def keeps_question(self, envelope: Envelope, text: str) -> KeptQuestion | None:
        """What keeps a run from asking the customer by itself; None where nothing does."""
        understanding = Understanding.of(envelope)
        mode = await self.mode_of(understanding)
        silent = await self.taken_over(envelope.message)
        if silent is not None:
            return KeptQuestion(RunStatus.NEEDS_REVIEW, silent, Cause.TAKEN_OVER, mode)
        if mode == "shadow":
            return KeptQuestion(RunStatus.DONE, SHADOWED, Cause.MODE, mode)
        topic = understanding.topic_in(self.always_ask)
        if topic is not None and text.strip() not in self.own_questions:
            reason = f"{topic} is always looked at by a person, a question to the customer as well"
            return KeptQuestion(RunStatus.NEEDS_REVIEW, reason, Cause.ALWAYS_ASK, mode)
        if mode == "draft":
            return KeptQuestion(RunStatus.NEEDS_REVIEW, ASKED_IN_DRAFT, Cause.MODE, mode)
        too_many = await self.too_many(envelope)
        if too_many is None:
            return None
        return KeptQuestion(RunStatus.NEEDS_REVIEW, too_many, Cause.PACE, mode)
