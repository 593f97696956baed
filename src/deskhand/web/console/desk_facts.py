"""What the desk's screen shows, read from its folder, its records and its rules."""

import time
from collections import Counter
from pathlib import Path
from typing import Any

from deskhand.config.yaml import read_yaml
from deskhand.errors import ConfigError
from deskhand.model.causes import Cause
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import RunStatus
from deskhand.routing.rule_analysis import analyse_rules
from deskhand.web.api.access import ServedDesk

_LATEST = 300
"""Messages that hits of routing rules are counted in."""
_MOST_COUNTED = 10_000
_GAPS = 12
_SOON = 30 * 86400.0
FEW_EXAMPLES = 10
"""Fewer examples of an intent in a language than these prove little."""


async def article_rows(desk: ServedDesk) -> list[dict[str, Any]]:
    """Every article with its freshness, and whether an answer has used it."""
    store = desk.knowledge.store
    used = Counter(article for article, _ in await store.used())
    rows: list[dict[str, Any]] = []
    for stored in await store.articles():
        article = stored.article
        words, look = _freshness(article.valid_until, time.time())
        rows.append(
            {
                "article": article,
                "chunks": stored.chunks,
                "changed": stored.updated_at,
                "used": article.id in used,
                "fresh": words,
                "look": look,
            }
        )
    return sorted(rows, key=lambda row: (row["look"] != "bad", row["article"].title.lower()))


def _freshness(valid_until: float | None, now: float) -> tuple[str, str]:
    if valid_until is None:
        return "no end", ""
    if valid_until <= now:
        return "expired", "bad"
    return ("expires soon", "warn") if valid_until < now + _SOON else ("fresh", "good")


async def gaps_of(desk: ServedDesk) -> list[dict[str, Any]]:
    """What was asked lately and no article answered."""
    wanted = ReviewFilter(cause=Cause.NO_ANSWER)
    reviews = await desk.store.find_reviews(wanted, limit=_GAPS, backwards=True)
    messages = await desk.store.messages([review.run_id for review in reviews])
    gaps: list[dict[str, Any]] = []
    for review in reviews:
        message = messages.get(review.run_id)
        if message is not None:
            gaps.append({"review": review, "subject": message.subject or message.words[:80]})
    return gaps


def intent_rows(desk: ServedDesk) -> tuple[list[str], list[dict[str, Any]]]:
    """The languages of the examples, and how many of them each intent has in each."""
    counts: dict[str, Counter[str]] = {}
    languages: list[str] = []
    for path in sorted((Path(desk.spec.folder) / "intents").glob("*.y*ml")):
        language = path.stem
        languages.append(language)
        for name, examples in _examples(path).items():
            counts.setdefault(name, Counter())[language] += examples
    rows = [
        {
            "name": name,
            "counts": by_language,
            "total": sum(by_language.values()),
            "few": FEW_EXAMPLES,
        }
        for name, by_language in counts.items()
    ]
    return languages, rows


def _examples(path: Path) -> dict[str, int]:
    """How many examples a file has of each intent; none of a file that cannot be read."""
    try:
        intents = read_yaml(path).data.get("intents") or {}
    except ConfigError:
        return {}
    example_counts: dict[str, int] = {}
    for name, written in intents.items():
        listed = written.get("examples") or () if isinstance(written, dict) else written
        example_counts[str(name)] = len(listed) if isinstance(listed, list | tuple) else 0
    return example_counts


async def routing_rows(desk: ServedDesk) -> dict[str, Any]:
    """The rules in their order with how often each applied lately, and what is wrong with them."""
    runs = await desk.store.runs(limit=_LATEST)
    messages = list((await desk.store.messages([run.id for run in runs])).values())
    hits = Counter(message.route.rule for message in messages if message.route is not None)
    findings = analyse_rules(desk.spec.routing)
    rows: list[dict[str, Any]] = []
    for number, rule in enumerate(desk.spec.routing, start=1):
        match = rule.match.model_dump(mode="json", exclude_defaults=True)
        way = rule.flow or "default flow"
        if rule.route == "agent":
            way = f"agent {rule.profile}"
        hit = hits.get(rule.name, 0)
        rows.append({"number": number, "rule": rule, "match": match, "way": way, "hits": hit})
    others = len(messages) - sum(row["hits"] for row in rows)
    return {"rows": rows, "findings": findings, "seen": len(runs), "others": others}


async def queue_counts(desk: ServedDesk) -> dict[str, str]:
    """How many runs are in each state that is not over, up to a limit."""
    counts: dict[str, str] = {}
    for status in (
        RunStatus.QUEUED,
        RunStatus.RUNNING,
        RunStatus.WAITING_REVIEW,
        RunStatus.WAITING_USER,
        RunStatus.FAILED,
    ):
        count = await desk.store.count_runs(status, _MOST_COUNTED)
        more = "+" if count == _MOST_COUNTED else ""
        counts[status.value] = f"{count}{more}"
    return counts
