"""Asks a second model whether sentences of a reply stand in what it rests on.

It is shown the sources, the message and the reply, all as data. A message that speaks to a machine
is not shown: its reply waits. The reader's word settles how something is said; that a number, a
link or a deed stands somewhere is none of its business (`outgoing/settling.py`).
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from deskhand.brain.llm import SHORTENED
from deskhand.brain.message_block import written_moment
from deskhand.errors import ModelAnswerInvalid, ModelAway, ModelRefused, ModelUnavailable
from deskhand.model.envelope import Delta, Envelope, StageResult
from deskhand.model.message import Message
from deskhand.model.second_reading import SECOND_READING, SecondReading, ToRead
from deskhand.model.tasks import Answer, Task, TaskKind
from deskhand.outgoing.proved_sums import comes_out
from deskhand.outgoing.quoted_sources import stands_in_text
from deskhand.ports import Brain, StageContext

log = logging.getLogger("deskhand.second_reader")

STAGE = "second_reader"
_LONGEST_ARTICLE = 8_000
_LONGEST_MESSAGE = 4_000
_LONGEST_REASON = 200
_LONGEST_COURTESY = 160
"""Characters of a sentence that may state nothing: a longer one is held to a quote."""
_MOST_SUMS, _LONGEST_SUMS = 20, 400
_NOT_ASKED = "the second reader could not be asked"
_CUT = "what the reply rests on is too long for the second reader"


@dataclass(frozen=True, slots=True)
class SecondReader:
    """One desk's; `role` names its model among the desk's own."""

    brain: Brain
    role: str

    async def read_again(
        self, to_read: ToRead | None, envelope: Envelope, ctx: StageContext, step: str
    ) -> str | None:
        """Have a reply read, as a step of this name that a crash does not repeat. Returns why a
        person has to look instead; None where the gate may judge, or nothing is to be read.

        ModelAway passes through unless the run goes on without a model: the run then waits.
        """
        if to_read is None:
            return None
        if to_read.refuses:
            return to_read.refuses
        read = await ctx.step(step, partial(self._read, to_read, envelope, ctx))
        return read.reason

    async def _read(self, to_read: ToRead, envelope: Envelope, ctx: StageContext) -> StageResult:
        """What the reader says, for the run's metadata; a reason where it said nothing of use."""
        answer = await self._asked(to_read, envelope, without_model=ctx.goes_on_without_model)
        if answer is None:
            return StageResult(reason=_NOT_ASKED)
        if answer.note.get(SHORTENED):
            return StageResult(reason=_CUT, answered=answer.answered)
        noted = reading_of(answer, to_read).as_metadata(to_read, answer.model)
        return StageResult(delta=Delta(metadata={SECOND_READING: noted}), answered=answer.answered)

    async def _asked(
        self, to_read: ToRead, envelope: Envelope, *, without_model: bool
    ) -> Answer | None:
        task = reading_task(to_read, envelope, role=self.role, without_model=without_model)
        try:
            return await self.brain.answer(task)
        except ModelAway:
            if not without_model:
                raise
            return None
        except (ModelUnavailable, ModelRefused, ModelAnswerInvalid) as error:
            log.warning("no second reading: %s", error, extra={"run_id": envelope.run_id})
            return None


def reading_task(
    to_read: ToRead, envelope: Envelope, *, role: str | None = None, without_model: bool = False
) -> Task:
    """What the reader is asked about a reply."""
    return Task(
        kind=TaskKind.VERIFY,
        stage=STAGE,
        run_id=envelope.run_id,
        inputs=_shown(to_read),
        private=_names_of_customer(envelope.message),
        model_role=role,
        without_model=without_model,
    )


def _names_of_customer(message: Message | None) -> tuple[str, ...]:
    """What the reply may call the customer, for a desk that hides it from models."""
    if message is None:
        return ()
    sender, principal = message.sender, message.principal
    named = (message.named, sender.name, sender.address, principal.customer_id, principal.address)
    return tuple(name for name in named if name and name.strip())


def _shown(to_read: ToRead) -> dict[str, Any]:
    numbered = [
        {"number": number, "sentence": sentence}
        for number, sentence in enumerate(to_read.sentences, 1)
    ]
    sources = [{"id": id_, "text": text[:_LONGEST_ARTICLE]} for id_, text in to_read.sources]
    now = {} if to_read.now is None else {"now": written_moment(to_read.now)}
    return {
        "sources": sources,
        **now,
        "customer_wrote": to_read.message[:_LONGEST_MESSAGE],
        "reply": to_read.reply,
        "sentences": numbered,
    }


def reading_of(answer: Answer, to_read: ToRead) -> SecondReading:
    """The verdicts. Of two about one sentence both must confirm it; none is a refusal."""
    confirmed: set[str] = set()
    refused: dict[str, str] = {}
    sums: list[str] = []
    counted: list[str] = []
    for verdict in answer.data["verdicts"]:
        fields = cast(dict[str, Any], verdict) if isinstance(verdict, dict) else {}
        number = fields.get("number")
        if type(number) is not int or not 1 <= number <= len(to_read.sentences):
            continue
        sentence = to_read.sentences[number - 1]
        missing = _why_not(fields, sentence, to_read)
        if missing is None:
            confirmed.add(sentence)
            sums.append(str(fields.get("sum") or "")[:_LONGEST_SUMS])
            counted.append(str(fields.get("counts") or "")[:_LONGEST_SUMS])
        else:
            refused[sentence] = missing[:_LONGEST_REASON]
    settled = frozenset(confirmed - refused.keys())
    for sentence in to_read.sentences:
        if sentence not in settled:
            refused.setdefault(sentence, "it says nothing of this")
    return SecondReading(
        settled,
        refused,
        tuple(filter(None, sums))[:_MOST_SUMS],
        counted=tuple(filter(None, counted))[:_MOST_SUMS],
    )


def _why_not(verdict: Mapping[str, Any], sentence: str, to_read: ToRead) -> str | None:
    """What keeps a verdict from confirming its sentence; None where nothing does."""
    if verdict.get("supported") is not True:
        return str(verdict.get("missing") or "it does not find this in the articles")
    if verdict.get("courtesy") is True and len(sentence) <= _LONGEST_COURTESY:
        return None
    quote = str(verdict.get("quote") or "")
    if verdict.get("restates") is True and stands_in_text(quote, to_read.message):
        return None
    if not quote.strip() and comes_out(str(verdict.get("sum") or "")):
        return None  # whether its numbers are known is for the gate to say
    if not any(stands_in_text(quote, text) for _, text in to_read.sources):
        return "it quotes what stands in no source"
    return None
