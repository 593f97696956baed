"""What a desk at work does with its tickets: places messages, keeps clocks, asks customers."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from deskhand.adapters.channels.folder_outbox import FolderOutbox
from deskhand.config.desk import DeskSpec
from deskhand.engine.satisfaction import Survey
from deskhand.engine.ticket_keeper import TicketKeeper
from deskhand.language.ticket_facts import continuations
from deskhand.model.message import Message
from deskhand.ports import Brain, Contacts
from deskhand.tickets.message_hints import our_deliveries
from deskhand.tickets.model_matching import TicketMatcher
from deskhand.tickets.placing import TicketPlacing
from deskhand.tickets.service import Tickets
from deskhand.wiring.channels import ChannelPost, DeskChannel, sending_channels
from deskhand.wiring.databases import DeskStore
from deskhand.wiring.models import embedder


def ticket_keeper(
    spec: DeskSpec,
    tickets: Tickets,
    channels: Sequence[DeskChannel],
    outbox: Path,
) -> TicketKeeper:
    """What keeps the clocks of a desk's tickets and asks its customers."""
    section = spec.tickets
    survey = None
    if section.satisfaction is not None:
        carriers = sending_channels(channels)
        named = section.satisfaction.channel or next(iter(carriers), "")
        post = ChannelPost(
            FolderOutbox(outbox, sender=f"{spec.name}@localhost"), carriers.get(named)
        )
        survey = Survey(tickets, section.satisfaction, spec.name, post.send)
    return TicketKeeper(tickets, survey=survey)


def ticket_placing(
    spec: DeskSpec, brain: Brain | None, tickets: Tickets, store: DeskStore, contacts: Contacts
) -> TicketPlacing:
    """What brings a desk's messages to their tickets."""
    matcher = None
    if brain is not None and spec.brain.kind != "embedded":
        matcher = TicketMatcher(brain)
    return TicketPlacing(tickets, contacts, embedder(), _answered(store), continuations, matcher)


def _answered(store: DeskStore) -> Callable[[Message], Awaitable[str | None]]:
    async def answered_run(message: Message) -> str | None:
        for key in our_deliveries(message):
            turn = await store.reply_sent(key)
            if turn is not None:
                return turn.run.id
        return None

    return answered_run
