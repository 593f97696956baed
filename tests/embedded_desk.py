"""A tiny desk for the embedded brain: a parcel shop with two intents, two slots, a plan and
three articles."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from deskhand.brain.embedded_desk import EmbeddedDesk
from deskhand.brain.relevance import Ranked
from deskhand.config.sections.plans import DeclaredPlan
from deskhand.config.sections.slots import SlotSpec
from deskhand.language.embed import Embedder
from deskhand.language.slots import SlotExtractor
from deskhand.model.knowledge import Hit
from deskhand.model.tasks import Task, TaskKind
from deskhand.ports import Embeds

QUESTION = {"en": "Which parcel is it? The number begins with P-.", "cs": "O kterou zásilku jde?"}
PLANS = {
    "order_status": DeclaredPlan(
        needs=("order",),
        ask={"order": QUESTION},
        steps=(
            ("find_order", {"order": "{slots.order}", "note": "asked by {message.sender.address}"}),
        ),
        reply={"en": "Your parcel {slots.order} is {results.find_order.status}."},
    ),
    "refund": DeclaredPlan(
        steps=(("open_return", {"order": "{outputs.order.number}"}),), tell=("return",)
    ),
    "question": DeclaredPlan(),
}
SLOTS = {
    "order": SlotSpec(name="order", type="order_number", prefix=("P",)),
    "mail": SlotSpec(name="mail", type="email"),
}
EMBEDDER = Embedder()


class Predicted(NamedTuple):
    label: str | None
    best: str
    confidence: float
    runner_up: str | None = None
    shares: Mapping[str, float] = MappingProxyType({})


class KeywordIntents:
    """Says what the first keyword in the text stands for; abstains without one."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self.words = words
        self.asked: list[str] = []

    def predict(self, texts: Sequence[str]) -> list[Predicted]:
        self.asked += texts
        return [self._one(text.casefold()) for text in texts]

    def _one(self, text: str) -> Predicted:
        for word, label in self.words.items():
            if word in text:
                return Predicted(label, label, 0.93)
        return Predicted(None, next(iter(self.words.values())), 0.31)


INTENTS = {"parcel": "order_status", "balík": "order_status", "money": "refund", "return": "refund"}


def hit(
    text: str = "You may send it back within 30 days.", similarity: float = 0.9, **fields: Any
) -> Hit:
    known: dict[str, Any] = {
        "article": "returns-1",
        "title": "Returns",
        "heading_path": ("How",),
        "score": 1.0,
        "coverage": 0.5,
        "category": None,
        "language": "en",
        "content_hash": "hash",
        "source": "returns.md",
    }
    return Hit(text=text, similarity=similarity, **{**known, **fields})


class Shelf:
    """A knowledge base that finds what it is told to."""

    def __init__(self, *hits: Hit) -> None:
        self.hits = list(hits)
        self.questions: list[str] = []
        self.recorded: list[tuple[str, list[str]]] = []

    async def search(
        self,
        question: str,
        *,
        category: str | None = None,
        language: str | None = None,
        limit: int = 5,
    ) -> list[Hit]:
        self.questions.append(question)
        return self.hits[:limit] if any(map(str.isalnum, question)) else []

    async def record_sources(self, run_id: str, hits: Sequence[Hit]) -> None:
        self.recorded.append((run_id, [one.article for one in hits]))


def by_similarity(embedder: Embeds, question: str, hits: Sequence[Hit]) -> list[Ranked]:
    """Stands in for the real ranking where a test wants to say how near an article is."""
    return [Ranked(one, one.similarity, one.similarity) for one in hits]


def a_desk(*hits: Hit, **fields: Any) -> EmbeddedDesk:
    known: dict[str, Any] = {
        "languages": ("en", "cs"),
        "intents": lambda: KeywordIntents(INTENTS),
        "slots": SlotExtractor(SLOTS),
        "plans": PLANS,
        "knowledge": Shelf(*hits),
        "signature": "Your parcel shop",
        "rank": by_similarity,
    }
    return EmbeddedDesk(lambda: EMBEDDER, **{**known, **fields})


def a_task(kind: TaskKind, text: str = "Where is my parcel?", **fields: Any) -> Task:
    message = {
        "subject": fields.pop("subject", ""),
        "sender": {"address": "ann@example.com", "name": "Ann"},
        "received_at": "2026-11-15T09:00:00+00:00",
    }
    inputs = {
        "raw_input": text,
        "message": message,
        "metadata": {},
        "outputs": {},
        "hops": 1,
        "tone": None,
    }
    return Task(
        kind=kind,
        stage="stage",
        text=text,
        inputs={**inputs, **fields.pop("inputs", {})},
        **{"run_id": "run_1", **fields},
    )
