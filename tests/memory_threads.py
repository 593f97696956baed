"""Conversations in memory, for tests of where a mail is placed."""

from dataclasses import dataclass, field

from deskhand.model.message import Message
from deskhand.model.run import ConversationTurn, EffectKey, Run, RunStatus


@dataclass
class MemoryThreads:
    turns: list[ConversationTurn] = field(default_factory=list)
    sent: dict[EffectKey, int] = field(default_factory=dict)

    def accept(self, message: Message) -> ConversationTurn | None:
        """None for a duplicate, as the store would have it."""
        if any(
            (one.message.channel, one.message.id) == (message.channel, message.id)
            for one in self.turns
        ):
            return None
        position = len(self.turns)
        run = Run(
            id=f"run_{position:020d}",
            desk="desk",
            position=position,
            message_key="",
            conversation=message.conversation,
            flow="flow",
            status=RunStatus.SENT,
            created_at=message.received_at.timestamp(),
            updated_at=message.received_at.timestamp(),
        )
        self.turns.append(ConversationTurn(run, message))
        return self.turns[-1]

    def answer(self, turn: ConversationTurn) -> str:
        """We answer; returns our mail's Message-ID."""
        key = EffectKey(turn.run.id, 3, 0)
        self.sent[key] = turn.run.position
        return f"<{key.run_id}.{key.seq}.{key.index}@shop.example>"

    async def message_known(self, channel: str, message_id: str) -> ConversationTurn | None:
        known = (
            (one.message.channel, one.message.id) == (channel, message_id) for one in self.turns
        )
        return next((turn for turn, same in zip(self.turns, known, strict=True) if same), None)

    async def reply_sent(self, key: EffectKey) -> ConversationTurn | None:
        return self.turns[self.sent[key]] if key in self.sent else None

    async def messages_from(
        self, address: str, *, since: float, limit: int = 20
    ) -> list[ConversationTurn]:
        found = [
            one
            for one in self.turns
            if one.message.sender.address.lower() == address.strip().lower()
        ]
        return [one for one in reversed(found) if one.run.created_at >= since][:limit]

    async def conversation(
        self, conversation: str, *, before: int, limit: int = 20
    ) -> list[ConversationTurn]:
        found = [
            one
            for one in self.turns
            if one.run.conversation == conversation and one.run.position < before
        ]
        return found[-limit:]
