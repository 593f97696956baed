"""Asks a second model whether sentences of a reply stand in what it rests on.

It is shown the sources, the message and the reply, all as data. A message that speaks to a machine
is not shown: its reply waits. The reader's word settles how something is said; that a number, a
name, a link or a deed stands somewhere is none of its business (`outgoing/settling.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from deskhand.errors import ModelAnswerInvalid, ModelAway, ModelRefused, ModelUnavailable
from deskhand.model.envelope import Envelope
from deskhand.model.message import Message
from deskhand.model.second_reading import SecondReading, ToRead
from deskhand.model.tasks import Answer, Task, TaskKind
from deskhand.outgoing.quoted_sources import stands_in_text
from deskhand.ports import Brain

STAGE = "second_reader"
_LONGEST_ARTICLE = 8_000
_LONGEST_MESSAGE = 4_000
_LONGEST_REASON = 200
_LONGEST_COURTESY = 160
"""Characters of a sentence that may state nothing: a longer one is held to a quote."""
_MOST_SUMS = 20


@dataclass(frozen=True, slots=True)
class SecondReader:
    """One desk's; `role` names its model among the desk's own."""

    brain: Brain
    role: str

    async def read(
        self, to_read: ToRead, envelope: Envelope, *, without_model: bool = False
    ) -> tuple[SecondReading, Answer] | None:
        """What the reader says; None where it has nothing of use to say: the reply then waits for a
        person as it would without it.

        ModelAway passes through unless the run goes on without a model: the run then waits.
        """
        task = Task(
            kind=TaskKind.VERIFY,
            stage=STAGE,
            run_id=envelope.run_id,
            inputs=_shown(to_read),
            private=_names_of_customer(envelope.message),
            model_role=self.role,
            without_model=without_model,
        )
        try:
            answer = await self.brain.answer(task)
        except ModelAway:
            if not without_model:
                raise
            return None
        except (ModelUnavailable, ModelRefused, ModelAnswerInvalid):
            return None
        return _reading(answer, to_read), answer


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
    told = [{"id": id_, "text": text[:_LONGEST_ARTICLE]} for id_, text in to_read.sources]
    return {
        "sources": told,
        "customer_wrote": to_read.message[:_LONGEST_MESSAGE],
        "reply": to_read.reply,
        "sentences": numbered,
    }


def _reading(answer: Answer, to_read: ToRead) -> SecondReading:
    """The verdicts. Of two about one sentence both must confirm it; none is a refusal."""
    confirmed: set[str] = set()
    refused: dict[str, str] = {}
    sums: list[str] = []
    for verdict in answer.data["verdicts"]:
        fields = cast(dict[str, Any], verdict) if isinstance(verdict, dict) else {}
        number = fields.get("number")
        if type(number) is not int or not 1 <= number <= len(to_read.sentences):
            continue
        sentence = to_read.sentences[number - 1]
        missing = _why_not(fields, sentence, to_read)
        if missing is None:
            confirmed.add(sentence)
            sums.append(str(fields.get("sum") or ""))
        else:
            refused[sentence] = missing[:_LONGEST_REASON]
    settled = frozenset(confirmed - refused.keys())
    for sentence in to_read.sentences:
        if sentence not in settled:
            refused.setdefault(sentence, "it says nothing of this")
    return SecondReading(settled, refused, tuple(filter(None, sums))[:_MOST_SUMS])


def _why_not(verdict: Mapping[str, Any], sentence: str, to_read: ToRead) -> str | None:
    """What keeps a verdict from confirming its sentence; None where nothing does."""
    if verdict.get("supported") is not True:
        return str(verdict.get("missing") or "it does not find this in the articles")
    if verdict.get("courtesy") is True and len(sentence) <= _LONGEST_COURTESY:
        return None
    quote = str(verdict.get("quote") or "")
    if not quote.strip() and verdict.get("sum"):
        return None  # the sum is calculated anew, and from what is known alone
    if not any(stands_in_text(quote, text) for _, text in to_read.sources):
        return "it quotes what stands in no source"
    return None
