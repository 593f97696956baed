"""How much of a conversation is remembered, as written in desk.yaml."""

from pydantic import Field

from deskhand.config.sections.retention import AgeText, seconds_of
from deskhand.config.sections.section import Section


class MemorySection(Section):
    """How much of a conversation runs remember, as `{turns: 8, forget_after: 30d}`."""

    turns: int = Field(default=8, ge=0, le=100)
    """Messages with their answers that are remembered in full; with 0, nothing is remembered."""
    tokens: int = Field(default=1500, ge=100, le=20_000)
    """Tokens of them at most; what is older is kept in a line each."""
    forget_after: AgeText | None = None
    """The age from which a message is not remembered, as `30d`; `retention` limits it as well."""

    def age(self, kept: float | None) -> float | None:
        """Seconds after which a message is forgotten; `kept` is for how long records are kept."""
        own = None if self.forget_after is None else seconds_of(self.forget_after)
        limits = [age for age in (own, kept) if age is not None]
        return min(limits, default=None)
