"""For how long records are kept and how much of a conversation is remembered, as written in
desk.yaml."""

from typing import Annotated

from pydantic import Field

from deskhand.config.sections.section import Section
from deskhand.model.audited import Kept

AgeText = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,4} ?(d|days?|w|weeks?)$")]

_DAY = 24 * 3600.0


class RetentionSection(Section):
    """For how long each kind of record is kept, as `runs: 90d`; what is not named stays for ever.

    What is at work, waits for somebody or owes a customer an answer stays whatever its age.
    """

    runs: AgeText | None = None
    """Runs that are over, with all they have: message, steps, effects, reviews, files, model calls,
    and what was learned from them. Their ids and digests stay, for `audit verify` and so that a
    message that comes twice is known. Solved and closed tickets without a message go at this age
    too."""
    steps: AgeText | None = None
    """What the steps of runs that are over hold; which steps there were stays, for the audit."""
    attachments: AgeText | None = None
    """Files that came with messages or left with replies; their names stay in the message."""
    calls: AgeText | None = None
    """Calls of language models: what they cost, and what they answered."""
    notices: AgeText | None = None
    """Webhooks and digests that arrived or were given up."""

    def ages(self) -> dict[Kept, float]:
        """Seconds, for what is kept for a limited time."""
        written = {kind: getattr(self, kind.value, None) for kind in Kept}
        written[Kept.TICKETS] = self.runs
        return {kind: seconds_of(text) for kind, text in written.items() if text is not None}


def seconds_of(text: str) -> float:
    """The length of an age as it is written, `90d` or `2 weeks`."""
    number = int(text.rstrip("abcdefghijklmnopqrstuvwxyz "))
    days = 7 * number if "w" in text else number
    return days * _DAY


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
