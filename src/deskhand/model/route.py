"""Which way a message goes, and by which rule."""

from typing import Literal

from deskhand.model.frozen import Frozen


class Route(Frozen):
    """What the routing rules decided about a message; kept with it, so that the run tells why it went this way."""

    route: Literal["pipeline", "agent"] = "pipeline"
    profile: str | None = None
    flow: str
    rule: str | None = None
    """None when no rule matched."""
    why: str = ""
    preprocess: str | None = None
    """The preprocessor that reads the message first."""
