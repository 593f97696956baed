"""Whether a desk has answered a message's sender before."""

from deskhand.agents.replying.review_reasons import KnownSender
from deskhand.model.envelope import Envelope
from deskhand.model.message import DELIVER
from deskhand.model.principal import PrincipalKind
from deskhand.ports import Store


def answered_before(store: Store) -> KnownSender:
    """Looks for earlier replies in the store.

    A sender whose identity nobody has proven counts as known in the same conversation only: the
    address may be borrowed.
    """

    async def known_sender(envelope: Envelope) -> bool:
        message = envelope.message
        if message is None:
            return False
        conversation = message.conversation
        if await store.replies_since(conversation, DELIVER, 0.0, beside=envelope.run_id):
            return True
        if message.principal.kind is PrincipalKind.ANONYMOUS:
            return False
        sender = message.sender.address
        return await store.replies_to(sender, DELIVER, 0.0, beside=conversation) > 0

    return known_sender
