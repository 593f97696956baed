"""Which way a message goes, and by which rule."""

from typing import Literal

from deskhand.model.frozen import Frozen


class Route(Frozen):
    """What the routing rules decided about a message; kept with it, so that the run tells why it
    went this way."""

    route: Literal["pipeline", "agent"] = "pipeline"
    profile: str | None = None
    flow: str
    instead_of: str | None = None
    """The flow it would have taken had the agent there a model to ask."""
    rule: str | None = None
    """None when no rule matched."""
    why: str = ""
    preprocess: str | None = None
    """The preprocessor that reads the message first."""
