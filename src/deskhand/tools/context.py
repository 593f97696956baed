"""What a tool is told about the call it serves, if it asks."""

import logging
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Context:
    """Given to a tool whose signature has a parameter of this type; no model ever sees or fills that parameter."""

    run_id: str
    effect_key: str
    """The same for every attempt at this effect, different for every other: hand it on as idempotency key."""
    desk: str
    log: "logging.LoggerAdapter[logging.Logger]"
