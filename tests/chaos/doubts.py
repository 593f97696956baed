"""A person who is asked whether a reply left, and looks where the customer would find it."""

import contextlib

from deskhand.errors import Conflict
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, ReviewKind, ReviewState, Verdict
from deskhand.wiring import DeskStore
from tests.mail_servers import CUSTOMER, Dovecot


async def settle_doubts(store: DeskStore, dovecot: Dovecot, name: str) -> int:
    """Answer truly whether each reply left that a person is asked about; returns how many."""
    settled = 0
    for review in await store.find_reviews(ReviewFilter(state=ReviewState.OPEN), limit=200):
        if review.kind is not ReviewKind.DELIVERY or review.expires_at is not None:
            continue
        key = f"<{review.payload['effect_key']}@"
        left = any(str(mail["Message-ID"]).startswith(key) for mail in dovecot.mails(CUSTOMER))
        decision = Decision.LEFT if left else Decision.SEND_AGAIN
        verdict = Verdict(decision, name, review.version, review.payload_hash)
        with contextlib.suppress(Conflict):
            await store.decide(review.id, verdict)
            settled += 1
    return settled
