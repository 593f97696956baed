"""A desk as the embedded brain sees it: what it learned, what it can search, what it may say."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from deskhand.brain.relevance import Ranked, ranked
from deskhand.config.sections.plans import DeclaredPlan
from deskhand.language.slots import SlotValue
from deskhand.model.knowledge import Hit
from deskhand.ports import Embeds, SearchesKnowledge


class IntentPrediction(Protocol):
    """What an intent model says about one text."""

    @property
    def label(self) -> str | None:
        """None when it abstains."""
        ...

    @property
    def best(self) -> str: ...

    @property
    def confidence(self) -> float: ...

    @property
    def shares(self) -> Mapping[str, float]:
        """How much each label has of what speaks for any."""
        ...


class IntentPredictor(Protocol):
    def predict(self, texts: Sequence[str]) -> Sequence[IntentPrediction]: ...


class Slots(Protocol):
    def extract(
        self,
        text: str,
        *,
        language: str | None = None,
        now: datetime,
        time_zone: str = "UTC",
        only: Collection[str] | None = None,
    ) -> dict[str, SlotValue]: ...


ReadsAnswers = Callable[[str, Sequence[str], str], Sequence[float]]
"""Reads an ask with each of some passages: the logarithm of the odds that it answers."""


def by_names(descriptions: Mapping[str, str]) -> IntentPredictor:
    from deskhand.language.intents import IntentModel

    return IntentModel.fit([], descriptions=descriptions)


@dataclass(frozen=True, slots=True)
class EmbeddedDesk:
    """Everything of a desk that the embedded brain works with; what is absent it does without."""

    embedder: Callable[[], Embeds]
    languages: tuple[str, ...] = ("en",)
    intents: Callable[[], IntentPredictor | None] = lambda: None
    """Called once, in a thread: the first time may have to learn."""
    questions: Callable[[], IntentPredictor | None] = lambda: None
    """Which article answers a question, learned from the desk's own; None for a desk that has
    none. Called once, in a thread."""
    by_names: Callable[[Mapping[str, str]], IntentPredictor] = by_names
    """A weak model from categories and their descriptions, for a desk without examples."""
    slots: Slots | None = None
    naming_slots: frozenset[str] = frozenset()
    """Slots whose values name a thing, as an order: a conversation goes on speaking of it."""
    money_slots: frozenset[str] = frozenset()
    """Slots whose values are amounts of money."""
    states: Callable[[str, Sequence[str], datetime], dict[str, Any]] | None = None
    """What a text states for these slots in the customer's own words; None where no slot takes
    words."""
    plans: Mapping[str, DeclaredPlan] | None = None
    knowledge: SearchesKnowledge | None = None
    descriptions: Mapping[str, str] | None = None
    """Categories in words, for a desk without examples."""
    rank: Callable[[Embeds, str, Sequence[Hit]], list[Ranked]] = ranked
    """Which of the articles found answers the question, and how surely."""
    reads: ReadsAnswers | None = None
    """Says whether a passage answers an ask; without it only nearness and the desk's own
    questions do."""
    answer_at: float = 0.75
    """The confidence from which an article is quoted to a customer."""
    always_asked: frozenset[str] = frozenset()
    """Categories whose every reply a person looks at: what their words say goes before what else
    a message brings."""
    asks_about_foreign: bool = False
    """Whether a person looks at a reply that quotes an article in another language than the
    customer's."""
    signature: str = ""
    time_zone: str = "UTC"
