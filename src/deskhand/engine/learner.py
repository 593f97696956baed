"""Adds answered messages to the desk's memory: each once, beside the runs."""

import asyncio
import logging
from collections.abc import Callable

from deskhand.engine.background import Background
from deskhand.engine.story import Records, read_records
from deskhand.knowledge.exchanges import LONGEST_TEXT, learned, owner_of, person_of
from deskhand.mail.reply import visible_reply
from deskhand.model.exchanges import Exchange, How
from deskhand.model.message import REPLY
from deskhand.model.run import EXPIRY, Decision, ReviewKind, RunStatus
from deskhand.model.understanding import Understanding
from deskhand.ports import Embeds, Exchanges, Store

log = logging.getLogger("deskhand.learning")


class Learner:
    """Stores what was sent with the vectors it is found by; the runs' rows stay the only truth."""

    def __init__(self, store: Store, exchanges: Exchanges, embedder: Callable[[], Embeds]) -> None:
        self._store = store
        self._exchanges = exchanges
        self._embedder = embedder
        self._waiting: asyncio.Queue[str] = asyncio.Queue()
        self._caught_up = False
        self._learning = Background(
            self._next,
            name=f"learner of {store.desk}",
            failed="an answered message could not be learned from",
            log=log,
        )

    def start(self) -> None:
        self._learning.start()

    async def stop(self) -> None:
        await self._learning.stop()

    def at_rest(self, run_id: str, status: RunStatus) -> None:
        """A run came to rest here; what it sent is learned in a moment."""
        if status is RunStatus.SENT:
            self._waiting.put_nowait(run_id)

    async def catch_up(self) -> int:
        """Learn from every sent reply that is not known yet; how many there were."""
        count = after = 0
        while unlearned := await self._exchanges.unlearned(after=after):
            for position, run_id in unlearned:
                count += await self.learn(run_id)
                after = position
        return count

    async def learn(self, run_id: str) -> bool:
        """False when there is nothing to learn: it is known, was erased, or sent nothing."""
        exchange = exchange_in(await read_records(self._store, run_id))
        if exchange is None:
            return False
        return await self._exchanges.keep(
            await asyncio.to_thread(learned, exchange, self._embedder())
        )

    async def settled(self) -> None:
        """Everything that came to rest so far has been looked at."""
        await self._waiting.join()

    async def _next(self) -> None:
        """Learn what is left from before, then one run at a time; failed ones at the next start."""
        if not self._caught_up:
            self._caught_up = True
            await self.catch_up()
            return
        run_id = await self._waiting.get()
        try:
            await self.learn(run_id)
        finally:
            self._waiting.task_done()


def exchange_in(records: Records) -> Exchange | None:
    """What a run that sent its reply has to teach."""
    message = records.message
    states = records.states
    if message is None or records.run.status is not RunStatus.SENT or not states:
        return None
    outputs = states[-1].after.outputs
    reply = outputs.get(REPLY)
    if not isinstance(reply, dict) or not str(reply.get("text") or "").strip():
        return None
    question = visible_reply(message.body) or message.body or message.subject
    return Exchange(
        run_id=records.run.id,
        person=person_of(str(reply.get("to") or message.sender.address)),
        owner=owner_of(message.principal),
        category=Understanding(outputs).topic,
        language=reply.get("language"),
        how=_how(records),
        question=question[:LONGEST_TEXT],
        answer=str(reply["text"])[:LONGEST_TEXT],
        answered_at=records.run.updated_at,
    )


def _how(records: Records) -> How:
    """A window in which nobody stopped it is nobody's approval."""
    decided = [
        review.decision
        for review in records.reviews
        if review.kind in (ReviewKind.REPLY, ReviewKind.HAND_OVER)
        and review.decided_by not in (None, EXPIRY)
    ]
    if Decision.EDIT in decided or Decision.ANSWER in decided:
        return "edited"
    return "approved" if Decision.APPROVE in decided else "sent"
