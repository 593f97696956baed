"""How a triage desk judges tickets: its issues, the urgency table, what must reach a person."""

from typing import Annotated, Any

from pydantic import Field

from deskhand.config.sections.section import Items, Section
from deskhand.model.ticket_state import UrgencyLevel
from deskhand.model.triage import TicketType

Word = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]

FACTS = (
    "plan",
    "tenure_months",
    "seats",
    "region",
    "tier",
    "tags",
    "issue",
    "ticket_type",
    "concerns",
    "sentiment",
    "language",
    "wishes_person",
    "is_sensitive",
)
"""What the conditions of a triage desk may speak of."""


class IssueSection(Section):
    """One kind of issue: `{type: billing, concern: billing_error}`. Its examples are an intent of
    the same name."""

    type: Annotated[TicketType | None, Field(strict=False)] = None
    """The department: `billing`, `technical` or `general`. Without one the rest of the message
    says whose it is, as with a threat."""
    concern: Word | None = None
    """What such a sentence adds to the fact `concerns`, as `outage`."""


class UrgencySection(Section):
    """A row of the urgency table: `{urgency: critical, when: {concerns: {contains: security}}}`."""

    urgency: Annotated[UrgencyLevel, Field(strict=False)]
    """What a ticket is at least when the condition holds."""
    when: dict[str, Any]
    """A condition over `plan`, `concerns`, `ticket_type`, `issue`, `sentiment`, ..."""


class TriageRuleSection(Section):
    """A named condition: `{name: legal, when: {concerns: {contains: legal}}}`."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    """How the reason is called in a ticket's reasoning."""
    when: dict[str, Any]
    """A condition over the same facts as the urgency table's."""


class TriageSection(Section):
    """What the stages of a triage desk judge by."""

    issues: dict[Word, IssueSection] = Field(min_length=1)
    """The issues that messages are sorted into, with the department of each."""
    urgency: Items[UrgencySection] = ()
    """The urgency table; the strictest row that applies counts, else `medium`."""
    escalate: Items[TriageRuleSection] = ()
    """Triggers: a person gets the ticket at once, no specialist looks at it."""
    for_people: Items[TriageRuleSection] = ()
    """Important customers and sensitive matters: a specialist prepares an answer, a person
    decides."""
    groups: dict[Annotated[TicketType, Field(strict=False)], str] = Field(default_factory=dict)
    """The group in whose queue tickets of a department wait; the department's name if absent."""
    concern_at: float = Field(default=0.5, gt=0, le=1)
    """How sure a sentence's issue must be before its concern counts."""

    def group_of(self, ticket_type: TicketType) -> str:
        return self.groups.get(ticket_type, ticket_type.value)
