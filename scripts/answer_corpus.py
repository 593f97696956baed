"""The corpus that the answer model learns from: companies, their articles, and what is asked."""

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HELD_OUT = 8
"""One company of so many is never learned from: it says how good the model is."""
_NEAREST = 6
"""Wrong articles that an ask is compared with, the nearest by embedding."""
_FADING = 0.75
"""How much less often each next of them is taken."""


@dataclass
class Ask:
    """What a customer asks, and which articles of the company answer it, if any."""

    company: str
    language: str
    text: str
    answered_by: list[str]
    near: str | None
    evidence: str | None
    before: str = ""
    """What the customer said just before."""
    nearest: list[tuple[str, float]] = field(default_factory=list)
    """The company's articles with their cosines, nearest first."""

    @property
    def articles(self) -> set[tuple[str, str]]:
        """Those that answer it, by company and id."""
        return {(self.company, article) for article in self.answered_by}


@dataclass
class Corpus:
    passages: dict[tuple[str, str], str]
    """By company and article: title and text, as the model reads them."""
    asks: list[Ask]

    def texts(self) -> list[str]:
        passages = [f"passage: {passage}" for passage in self.passages.values()]
        return passages + [f"query: {ask.text}" for ask in self.asks]

    def articles(self, company: str) -> list[str]:
        return [article for owner, article in self.passages if owner == company]


def read_corpus(folder: Path) -> Corpus:
    """All folders below `folder` that hold `articles.jsonl` and `asks.jsonl`."""
    passages: dict[tuple[str, str], str] = {}
    asks: list[Ask] = []
    for file in sorted(folder.glob("*/articles.jsonl")):
        for article in _lines(file):
            key = (article["company"], article["id"])
            passages[key] = f"{article['title']}. {article['text']}"
    for file in sorted(folder.glob("*/asks.jsonl")):
        for line in _lines(file):
            asks.append(_ask(line))
    known = [ask for ask in asks if ask.articles <= set(passages)]
    return Corpus(passages, known)


def _ask(line: dict[str, Any]) -> Ask:
    answers = [line.get("article"), *(line.get("also") or [])]
    return Ask(
        company=line["company"],
        language=line["language"],
        text=line["ask"],
        answered_by=[article for article in answers if article],
        near=line.get("near"),
        evidence=line.get("evidence"),
        before=line.get("before") or "",
    )


def _lines(file: Path) -> list[dict[str, Any]]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def held_out(corpus: Corpus, seed: int) -> set[str]:
    """The companies that are not learned from: some of those whose customers say more than their
    ask."""
    companies = sorted({ask.company for ask in corpus.asks if ask.before})
    random.Random(seed).shuffle(companies)
    return set(companies[: max(1, round(len(companies) / HELD_OUT))])


def compared(ask: Ask, wrong_articles: int, chance: random.Random) -> list[tuple[str, float]]:
    """The articles that an ask is learned with: 1 for the one that answers it, 0 for others."""
    wrong = [article for article, _ in ask.nearest if article not in ask.answered_by][:_NEAREST]
    if ask.answered_by:
        chosen = _some(wrong, wrong_articles, chance)
        return [(ask.answered_by[0], 1.0), *((article, 0.0) for article in chosen)]
    others = [article for article in wrong if article != ask.near]
    near = [article for article, _ in ask.nearest if article == ask.near]
    chosen = near + _some(others, wrong_articles - len(near), chance)
    return [(article, 0.0) for article in chosen]


def _some(articles: list[str], count: int, chance: random.Random) -> list[str]:
    """A few of them, the first ones oftenest."""
    left = list(articles)
    chosen: list[str] = []
    while left and len(chosen) < count:
        weights = [_FADING**place for place in range(len(left))]
        chosen.append(left.pop(chance.choices(range(len(left)), weights)[0]))
    return chosen
