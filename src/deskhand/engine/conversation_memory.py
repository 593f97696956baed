"""What a run remembers of its conversation, made of the run before it.

The run before carries what was known until then in its first row. Its own turn is added, and what
has no room any more is kept in a line. So reading costs one run, however long a conversation is.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from deskhand.engine.journal import fold, result_of
from deskhand.mail.reply import visible_reply
from deskhand.model.envelope import Envelope, StageResult
from deskhand.model.message import CHAT, OWN_TOOLS, REPLY, Message
from deskhand.model.outcome import EffectClass, Outcome
from deskhand.model.plan import SAID
from deskhand.model.remembered import MEMORY, Remembered, RememberedTurn, SummaryLine
from deskhand.model.run import ConversationTurn, EffectState, Run, RunStatus, StepRow
from deskhand.model.tasks import tokens_of
from deskhand.model.understanding import Understanding
from deskhand.ports import Store

_LEFT = (RunStatus.SENT, RunStatus.ANSWERED)
_DECIDES = (RunStatus.WAITING_REVIEW, RunStatus.NEEDS_REVIEW, RunStatus.FAILED)
"""A person may still answer."""
_IN_DOUBT = (EffectState.INTENDED, EffectState.UNKNOWN)
_LONGEST = 2_000
"""Characters of one message, and of one answer, that are kept."""
_LINE = 160
_MOST_PROMISES = 3
_SUMMARY_SHARE = 4
"""The summary has a fourth of the tokens."""


@dataclass(frozen=True, slots=True)
class MemoryLimits:
    """How much is remembered."""

    turns: int = 8
    tokens: int = 1_500
    age: float | None = None
    """Seconds after which a message is forgotten."""


SaidByPeople = Callable[[str, str], Awaitable[str]]
"""What colleagues said in a conversation after a message, by the ids of both."""
ValuesIn = Callable[[str, datetime], Mapping[str, Any]]
"""The slots that a text fills, which came at this time."""


async def _nothing(conversation: str, message: str) -> str:
    return ""


def _no_values(text: str, at: datetime) -> Mapping[str, Any]:
    return {}


class RowMemory:
    """Remembers conversations from the rows of their runs."""

    def __init__(
        self,
        store: Store,
        limits: MemoryLimits | None = None,
        said_by_people: SaidByPeople = _nothing,
        values_in: ValuesIn = _no_values,
    ) -> None:
        """`said_by_people` and `values_in` tell what was said while a colleague had the chat: no
        stage worked those messages."""
        self._store = store
        self._limits = limits or MemoryLimits()
        self._said_by_people = said_by_people
        self._values_in = values_in

    async def recall(self, run: Run, message: Message) -> dict[str, Any]:
        """What a run knows from its beginning, for its metadata; empty for the first message."""
        if run.conversation == message.id or not self._limits.turns:
            return {}
        memory = await self.before(run.conversation, run.position, message)
        if memory is None:
            return {}
        return {MEMORY: memory.model_dump(mode="json", exclude_defaults=True)}

    async def before(self, conversation: str, position: int, message: Message) -> Remembered | None:
        """The conversation up to a position, as the writer of this message may know it; None
        where there is nothing of his."""
        author = message.author
        earlier = await self._store.conversation(
            conversation, before=position, limit=self._limits.turns, remembered=True
        )
        memory = Remembered(author=author)
        added: list[tuple[ConversationTurn, list[StepRow]]] = []
        for turn in reversed(earlier):
            if turn.message.author != author:
                continue
            rows = await self._store.rows(turn.run.id)
            added.append((turn, rows))
            carried = _carried(rows)
            if carried is not None and carried.author == author:
                memory = await self._read_open(carried)
                break
        if not added:
            return None
        for turn, rows in reversed(added):
            memory = await self._with_turn(memory, turn, rows)
        return pruned(memory, self._limits, message.received_at)

    async def _read_open(self, memory: Remembered) -> Remembered:
        """The same, with what people decided since about turns that were open."""
        turns: list[RememberedTurn] = []
        for turn in memory.turns:
            message = await self._store.message(turn.run) if turn.is_open else None
            if message is None:
                turns.append(turn)
                continue
            run = await self._store.run(turn.run)
            rows = await self._store.rows(turn.run)
            turns.append(await self._turn(ConversationTurn(run, message), rows))
        return memory.changed(turns=tuple(turns))

    async def _with_turn(
        self, memory: Remembered, turn: ConversationTurn, rows: Sequence[StepRow]
    ) -> Remembered:
        remembered = await self._turn(turn, rows)
        values = Understanding.of(_state(turn, rows)).slots
        if not rows and turn.message.channel == CHAT:
            values = dict(self._values_in(turn.message.words, turn.message.received_at))
        return memory.with_values(values).changed(
            messages=memory.messages + 1,
            turns=(*memory.turns, remembered),
            waits_for=remembered.asked_for,
        )

    async def _turn(self, turn: ConversationTurn, rows: Sequence[StepRow]) -> RememberedTurn:
        state = _state(turn, rows)
        last = result_of(rows[-1]) if rows else StageResult()
        said = list(replies_that_left(turn.run.status, state, rows))
        if turn.message.channel == CHAT:
            message = turn.message
            said.append(await self._said_by_people(message.conversation, message.id))
        answered = "\n\n".join(filter(None, said))[:_LONGEST]
        effects = await self._store.effects(turn.run.id) if rows else []
        in_doubt = [effect.tool for effect in effects if effect.state in _IN_DOUBT]
        done = [tool for tool in (*_changed_by(rows), *in_doubt) if tool not in OWN_TOOLS]
        return RememberedTurn(
            run=turn.run.id,
            at=turn.message.received_at.isoformat(),
            said=visible_reply(turn.message.words)[:_LONGEST],
            answered=answered,
            intent=Understanding.of(state).topic,
            asked_for=_asked_for(last),
            done=tuple(done),
            promised=tuple(_promises(answered, turn.message.received_at)),
            is_open=turn.run.status in _DECIDES,
            is_handed_over=turn.run.status is RunStatus.NEEDS_REVIEW,
        )


def pruned(memory: Remembered, limits: MemoryLimits, now: datetime) -> Remembered:
    """The memory within its limits: what is too old goes, what has no room is told in a line."""
    turns = [turn for turn in memory.turns if not _is_old(turn.at, limits, now)]
    lines = [line for line in memory.summary if not _is_old(line.at, limits, now)]
    for_summary = limits.tokens // _SUMMARY_SHARE
    for_turns = limits.tokens - for_summary
    while len(turns) > limits.turns or (len(turns) > 1 and _tokens(turns) > for_turns):
        lines.append(_line(turns.pop(0)))
    if turns and _tokens(turns) > for_turns:
        turns = [_cut(turns[0], for_turns)]
    while lines and sum(tokens_of(line.text) for line in lines) > for_summary:
        lines.pop(0)
    values = memory.values if turns else {}
    return memory.changed(turns=tuple(turns), summary=tuple(lines), values=values)


def _is_old(at: str, limits: MemoryLimits, now: datetime) -> bool:
    """A clock that jumped back makes nothing old."""
    if limits.age is None:
        return False
    age = now - datetime.fromisoformat(at)
    return age.total_seconds() > limits.age


def _tokens(turns: Sequence[RememberedTurn]) -> int:
    return sum(tokens_of(turn.said) + tokens_of(turn.answered) for turn in turns)


def _cut(turn: RememberedTurn, tokens: int) -> RememberedTurn:
    """One turn that is too long by itself: the beginning of both texts."""
    return turn.changed(said=turn.said[:tokens], answered=turn.answered[:tokens])


def _line(turn: RememberedTurn) -> SummaryLine:
    said = " ".join(turn.said.split())
    about = f" ({turn.intent})" if turn.intent else ""
    parts = [f"{turn.at[:10]}{about}: {said[:_LINE]}"]
    if turn.done:
        parts.append(f"done: {', '.join(turn.done)}")
    if turn.asked_for:
        parts.append(f"we asked for {turn.asked_for}")
    if turn.promised:
        parts.append(f"we said: {' '.join(turn.promised)[:_LINE]}")
    return SummaryLine(at=turn.at, text="; ".join(parts))


def _carried(rows: Sequence[StepRow]) -> Remembered | None:
    """What a run knew from its beginning: its first row says it."""
    return Remembered.read(result_of(rows[0]).delta.metadata) if rows else None


def _state(turn: ConversationTurn, rows: Sequence[StepRow]) -> Envelope:
    return fold(Envelope.of(turn.message, run_id=turn.run.id), rows)


def replies_that_left(status: RunStatus, state: Envelope, rows: Sequence[StepRow]) -> Iterator[str]:
    """What left to the customer in this run, in order; `state` is what its rows add up to."""
    last = StageResult()
    for row in rows:
        last = result_of(row)
        for path, added in last.delta.append.items():
            if path.endswith(f".{SAID}"):
                yield from (str(said["text"]) for said in added if said.get("sent"))
    if last.outcome is Outcome.CLARIFY and last.ask is not None:
        yield last.ask.text
    elif status in _LEFT:
        reply = state.output(REPLY)
        yield str(reply.get("text") or "") if isinstance(reply, Mapping) else ""


def last_reply_of(status: RunStatus, message: Message, rows: Sequence[StepRow]) -> str:
    """The last text that left in a run; empty where none did, or where it was erased."""
    if not rows:
        return ""
    state = fold(Envelope.of(message, run_id=rows[0].run_id), rows)
    said = [text for text in replies_that_left(status, state, rows) if text.strip()]
    return said[-1] if said else ""


def _changed_by(rows: Sequence[StepRow]) -> Iterator[str]:
    """The tools that changed something in this run, in order."""
    for row in rows:
        call = result_of(row).call or {}
        effect = (call.get("facts") or {}).get("effect")
        if call.get("ok") and effect not in (None, EffectClass.READ):
            yield str(call["tool"])


def _asked_for(last: StageResult) -> str | None:
    asks = last.outcome is Outcome.CLARIFY and last.ask is not None
    return last.ask.param if asks and last.ask is not None else None


def _promises(answered: str, at: datetime) -> list[str]:
    """The sentences that commit to something."""
    if not answered:
        return []
    from deskhand.language.identify import identify
    from deskhand.outgoing.backing import Backing
    from deskhand.outgoing.commitments import check_commitments

    commitments = check_commitments(answered, identify(answered).code, Backing(at.astimezone(UTC)))
    sentences = dict.fromkeys(commitment.sentence.strip() for commitment in commitments)
    return list(sentences)[:_MOST_PROMISES]
