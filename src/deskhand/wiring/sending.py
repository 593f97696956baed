"""How a desk's replies leave, by desk.yaml and what its store counts."""

from collections.abc import Awaitable, Callable

from deskhand.agents.replying.second_reader import SecondReader
from deskhand.agents.replying.sending import Sending
from deskhand.config.desk import DeskSpec
from deskhand.config.sections.channels import chat_of
from deskhand.model.message import CHAT, DELIVER, Message
from deskhand.ports import Brain, Clock
from deskhand.tools.terms import always_asked, own_questions
from deskhand.wiring.channels import sending_names
from deskhand.wiring.databases import DeskStore

HOUR = 3600.0


def reply_sending(
    spec: DeskSpec,
    *,
    mode_for: Callable[[str | None], Awaitable[str]],
    sent_lately: Callable[[str, str], Awaitable[int]],
) -> Sending:
    """How replies leave; `mode_for` and `sent_lately` say what desk.yaml cannot."""
    really_sending = sending_names(spec)
    chat = chat_of(spec.channels)

    def undo_for(message: Message | None) -> float:
        if message is None or message.channel not in spec.channels or message.channel == CHAT:
            return 0.0
        return spec.undo_seconds

    return Sending(
        mode_for=mode_for,
        undo_for=undo_for,
        by_mail=lambda message: message is not None and message.channel in really_sending,
        sent_lately=sent_lately,
        replies_per_hour=spec.limits.replies_per_hour,
        replies_per_hour_in_chat=None if chat is None else chat.replies_per_hour,
        replies_per_run=spec.limits.replies_per_run,
        always_ask=always_asked(spec),
        own_questions=own_questions(spec),
    )


def second_reader(spec: DeskSpec, brain: Brain | None) -> SecondReader | None:
    """Who reads again what a model wrote; None where the desk names nobody."""
    role = spec.outgoing.second_reader
    return None if role is None or brain is None else SecondReader(brain, role)


def sent_within_the_hour(store: DeskStore, clock: Clock) -> Callable[[str, str], Awaitable[int]]:
    """Counts the replies that left in a conversation, without those of one run."""

    async def sent_lately(conversation: str, run_id: str) -> int:
        since = clock.now() - HOUR
        return await store.replies_since(conversation, DELIVER, since, beside=run_id)

    return sent_lately
