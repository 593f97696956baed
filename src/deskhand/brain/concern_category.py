"""The category of a message whose words leave it open, where most of it is a concern that a person
must see and that is a category too: who tells a long story of what went wrong, complains."""

from collections.abc import Collection

from deskhand.brain.embedded_desk import EmbeddedDesk
from deskhand.language.concerns import Concern, concern_of_all

HOLDS_CONCERN = "it likely holds what a person must see"
"""The reason for such a category."""
_LIKELY = 0.5


def category_of_concern(desk: EmbeddedDesk, choices: Collection[str], text: str) -> str | None:
    """A category that is always looked at and named as a concern, which the text as a whole likely
    holds; None where it holds none."""
    for concern in Concern:
        is_category = concern in desk.always_asked and concern in (choices or (concern,))
        if is_category and concern_of_all(text, concern, _LIKELY) is not None:
            return str(concern)
    return None
