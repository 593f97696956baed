"""A desk's conversations in SQLAlchemy Core: who has them, what was said, what was answered."""

import sqlalchemy as sa

from deskhand.adapters.stores import conversations, replies, review_decisions
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import SqlDesk
from deskhand.model.message import DELIVER, KEEP_DRAFT
from deskhand.model.queue import TakenOver
from deskhand.model.run import (
    ConversationTurn,
    EffectKey,
)


class SqlConversations(SqlDesk):
    async def take_over(self, conversation: str, by: str) -> None:
        await self._database.write_core(
            lambda core: review_decisions.take_over(core, self.desk, conversation, by, self._now())
        )

    async def give_back(self, conversation: str, by: str) -> bool:
        def op(core: sa.Connection) -> bool:
            held = sa.and_(
                t.conversations.c.desk == self.desk,
                t.conversations.c.id == conversation,
                t.conversations.c.taken_over_by.is_not(None),
            )
            given = (
                core.execute(
                    t.conversations.update().where(held).values(taken_over_by=None)
                ).rowcount
                == 1
            )
            if given:
                payload = {"conversation": conversation}
                review_decisions.record_event(
                    core, self.desk, "conversation.given_back", None, by, payload, self._now()
                )
            return given

        return await self._database.write_core(op)

    async def taken_over_by(self, conversation: str) -> str | None:
        query = sa.select(t.conversations.c.taken_over_by).where(
            t.conversations.c.desk == self.desk, t.conversations.c.id == conversation
        )
        return await self._database.read_core(lambda core: core.execute(query).scalar())

    async def taken_over(self) -> list[TakenOver]:
        here = t.conversations.c
        held = (
            sa.select(here.id, here.taken_over_by, here.taken_over_at)
            .where(here.desk == self.desk, here.taken_over_by.is_not(None))
            .order_by(here.taken_over_at.desc())
        )

        def op(core: sa.Connection) -> list[TakenOver]:
            return [
                TakenOver(
                    row.id,
                    row.taken_over_by,
                    row.taken_over_at or 0.0,
                    conversations.newest_turn(core, self.desk, row.id),
                )
                for row in core.execute(held).all()
            ]

        return await self._database.read_core(op)

    async def conversations(
        self, *, limit: int = 50, before: int | None = None
    ) -> list[ConversationTurn]:
        return await self._database.read_core(
            lambda core: conversations.newest_turns(core, self.desk, limit, before)
        )

    async def forget(self, conversation: str, by: str) -> int:
        return await self._database.write_core(
            lambda core: conversations.forget(core, self.desk, conversation, by, self._now())
        )

    async def message_known(self, channel: str, message_id: str) -> ConversationTurn | None:
        return await self._database.read_core(
            lambda core: conversations.message_known(core, self.desk, channel, message_id)
        )

    async def reply_sent(self, key: EffectKey) -> ConversationTurn | None:
        tools = (DELIVER, KEEP_DRAFT)
        return await self._database.read_core(
            lambda core: conversations.reply_sent(core, self.desk, key, tools)
        )

    async def messages_from(
        self, address: str, *, since: float, limit: int = 20
    ) -> list[ConversationTurn]:
        return await self._database.read_core(
            lambda core: conversations.messages_from(core, self.desk, address, since, limit)
        )

    async def replies_since(
        self, conversation: str, tool: str, since: float, *, beside: str
    ) -> int:
        values = {
            "desk": self.desk,
            "conversation": conversation,
            "beside": beside,
            "tool": tool,
            "since": since,
        }
        [[count]] = await self._database.look_up(replies.REPLIES_SINCE, values)
        return int(count)

    async def replies_to(self, sender: str, tool: str, since: float, *, beside: str) -> int:
        return await self._database.read_core(
            lambda core: replies.replies_to(core, self.desk, sender, beside, tool, since)
        )

    async def answered_by_person(
        self, conversation: str, by: str, *, silence: bool, text: str | None = None
    ) -> int:
        return await self._database.write_core(
            lambda core: replies.answered_by_person(
                core, self.desk, conversation, by, silence, self._now(), text
            )
        )

    async def note_bounce(self, run_id: str, reason: str) -> bool:
        return await self._database.write_core(
            lambda core: replies.note_bounce(core, self.desk, run_id, reason, self._now())
        )
