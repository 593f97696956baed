"""What a plan found before it asks: said with the question, and not again in the reply."""

from collections.abc import Callable, Sequence
from typing import Any

from deskhand.brain.matter_results import TOLD

TellResults = Callable[[Sequence[dict[str, Any]], str | None], str]
"""Says in a language what calls found; empty where there are no words for it."""


def with_news(
    results: Sequence[dict[str, Any]], text: str, tell: TellResults | None, language: str | None
) -> tuple[str, list[dict[str, Any]]]:
    """The question after what was found and not told yet, and the results with that marked."""
    found = [result for result in results if result.get("status") == "success"]
    news = [result for result in found if not result.get(TOLD)]
    said = tell(news, language) if tell is not None and news else ""
    if not said:
        return text, list(results)
    marked = [result | ({TOLD: True} if result in news else {}) for result in results]
    return f"{said}\n{text}", marked
