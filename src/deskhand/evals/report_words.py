"""Scores and changes in words, the same in every form of a report."""

import json
import re
from typing import Any

from deskhand.engine.story import Document

_NO_XML = re.compile("[^\\t\\n\\r\\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def failed_scores(case: Document) -> dict[str, Document]:
    return {
        name: score
        for name, score in case["scores"].items()
        if not (score["passed"] or score["skipped"])
    }


def score_words(name: str, score: Document) -> str:
    said = f"{name}: expected {shown(score['expected'])}, found {shown(score['found'])}"
    return f"{said} ({score['why']})" if score.get("why") else said


def shown(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, str):
        return value
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def without_control(text: str) -> str:
    """Text that XML can hold."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)
