"""Whether a run's stages found out what the customer wants."""

from collections.abc import Collection, Mapping
from typing import Any

from deskhand.model.tasks import OTHER
from deskhand.model.understanding import Understanding

OUT_OF_SCOPE = "out_of_scope"
NO_INTENT = (OTHER, OUT_OF_SCOPE)
"""Names for messages that fit no intent."""
LOOP_IN = "loop_in_human"
"""What the customer is asked for when nobody knows what he wants: whether a person shall help."""


def is_unknown_intent(outputs: Mapping[str, Any], known: Collection[str] = ()) -> bool:
    """Whether no intent was found. `known` are the intents of which something is written: a desk
    may have one that is called `other`."""
    understanding = Understanding(outputs)
    topic = understanding.topic
    if topic in known:
        return False
    if topic is None or topic in NO_INTENT:
        return True
    abstained = understanding.newest("abstained") is True
    return abstained and not understanding.confidence
