"""How soon tickets are answered and solved, and what people do with them in one go."""

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from deskhand.config.sections.channels import ChannelName
from deskhand.config.sections.section import Items, Section
from deskhand.measures import measure
from deskhand.model.ticket_state import AskStatus, TicketState, UrgencyLevel

WorkingTime = Annotated[str, Field(pattern=r"^[0-9]{1,4} (min|minutes?|hours?)$")]
"""Working time, in minutes or hours: how long a working day is differs from desk to desk."""
Days = Annotated[str, Field(pattern=r"^[0-9]{1,4} (hours?|days?)$")]
"""Time by the clock, in hours or days."""
MacroName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=60)]
Urgency = Annotated[UrgencyLevel, Field(strict=False)]
Plan = Annotated[str, Field(min_length=1, max_length=60)]


def _form(value: Any) -> str:
    return "list" if isinstance(value, list | tuple) else "one"


Urgencies = Annotated[
    Annotated[Urgency, Tag("one")] | Annotated[list[Urgency], Field(min_length=1), Tag("list")],
    Discriminator(_form),
]
Plans = Annotated[
    Annotated[Plan, Tag("one")] | Annotated[list[Plan], Field(min_length=1), Tag("list")],
    Discriminator(_form),
]

TARGETS = ("first_response", "next_response", "resolution")
"""What a ticket can be late for."""


class SlaSection(Section):
    """How soon some tickets are answered, in working hours: `{urgency: critical, plan: enterprise,
    first_response: 1 hour, resolution: 8 hours}`."""

    urgency: Urgencies | None = None
    """For tickets this urgent, one level or a list; all if absent. A ticket that nobody judged
    counts as `medium`."""
    plan: Plans | None = None
    """For customers with this plan, one or a list; all if absent."""
    first_response: WorkingTime | None = None
    """From the customer's first message to our first answer, as `2 hours`."""
    next_response: WorkingTime | None = None
    """From each later message to our answer."""
    resolution: WorkingTime | None = None
    """From the opening until it is solved; it stands still while we wait for the customer."""

    def matches(self, urgency: UrgencyLevel, plan: str | None) -> bool:
        is_urgency = self.urgency is None or urgency in _several(self.urgency)
        plans = [name.lower() for name in _several(self.plan or ())]
        return is_urgency and (self.plan is None or (plan or "").lower() in plans)

    def seconds(self, target: str) -> float | None:
        """How long a target may take; None where it does not matter."""
        written = getattr(self, target)
        return None if written is None else working_seconds(written)


class MacroSection(Section):
    """What people do with a ticket in one go: `{tags: [refund], group: billing, note: "..."}`."""

    assign: str | None = Field(default=None, max_length=200)
    """Whose it is afterwards; empty for nobody, `me` for who uses it."""
    group: str | None = Field(default=None, max_length=200)
    """The group that has it afterwards."""
    urgency: Urgency | None = None
    """How urgent it is afterwards."""
    tags: Items[Annotated[str, Field(pattern=r"^[^\s,;]{1,60}$")]] = ()
    """Tags that it gets."""
    note: str | None = Field(default=None, min_length=1, max_length=2000)
    """What is noted for colleagues."""
    state: Annotated[TicketState | None, Field(strict=False)] = None
    """What becomes of it: `solved`, `closed`, `open`, `active` or `pending`."""
    asks: Annotated[AskStatus | None, Field(strict=False)] = None
    """With `state: solved` or `closed`: what becomes of asks that are open, as `answered`. Without
    it a ticket with such an ask stays as it is."""


class SatisfactionSection(Section):
    """Ask the customer of each solved ticket once how it was: `{page: https://desk.acme.example}`."""

    page: str = Field(pattern=r"^https?://[^\s?#]+$", max_length=500)
    """The address under which customers reach this server; the link in the mail begins with it."""
    after: Days = "1 day"
    """How long after it was solved they are asked, as `1 day`; not if it was opened again."""
    channel: ChannelName | None = None
    """The desk's channel that mails the question; the first that sends mail if absent."""


class TicketsSection(Section):
    """Tickets: `{sla: [{urgency: critical, first_response: 1 hour}], macros: {...}}`."""

    sla: Items[SlaSection] = ()
    """The first that matches counts. Hours are those of `calendar: {working_hours: ...}`."""
    warn_before: WorkingTime = "1 hour"
    """How long before a deadline it is called near."""
    macros: dict[MacroName, MacroSection] = Field(default_factory=dict)
    """Several steps under one name."""
    reopen_within: Days = "14 days"
    """How long after it was solved a further message reopens a ticket, as `14 days`; later it opens
    another one."""
    forgotten_after: Days = "3 days"
    """How long nobody touches a ticket before it comes up again, as `3 days`; never while a
    deadline runs."""
    satisfaction: SatisfactionSection | None = None
    """Whether customers are asked how it was. Nobody is asked if absent."""

    @property
    def reopen_seconds(self) -> float:
        return working_seconds(self.reopen_within)

    @property
    def forgotten_seconds(self) -> float:
        return working_seconds(self.forgotten_after)

    def rule_for(self, urgency: UrgencyLevel | None, plan: str | None) -> SlaSection | None:
        level = UrgencyLevel.MEDIUM if urgency is None else urgency
        return next((rule for rule in self.sla if rule.matches(level, plan)), None)


def working_seconds(written: str) -> float:
    measured: Any = measure(written)
    return float(measured[1].total_seconds())


def _several(written: Any) -> tuple[Any, ...]:
    return tuple(written) if isinstance(written, list | tuple) else (written,)
