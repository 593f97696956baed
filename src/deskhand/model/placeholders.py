"""Placeholders of canned replies, as `{name}`: what a reviewer must fill before a reply leaves."""

import re
from collections.abc import Iterator

PLACEHOLDER = re.compile(r"\{([A-Za-z][A-Za-z0-9_.-]*)\}")
PLACEHOLDERS = ("name", "subject", "reviewer", "desk")
"""Those that every desk has; a slot's value is written as `{slots.order}`."""
ANSWER = "answer"
"""In a draft: the place of an answer that nobody has written yet."""
SLOT = "slots."


def placeholders_in(text: str) -> Iterator[str]:
    """Everything in a text that is written like a placeholder, known or not."""
    return (match[1] for match in PLACEHOLDER.finditer(text))


def unfilled_placeholders(text: str) -> list[str]:
    """The placeholders of ours that still stand in a text, in its order."""
    names = (*PLACEHOLDERS, ANSWER)
    return [name for name in placeholders_in(text) if name in names or name.startswith(SLOT)]
