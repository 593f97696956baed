"""What golden cases say of tickets: those that there are before, and what a triage desk finds out.

The words under each field become its description in the schema.
"""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from deskhand.config.sections.section import Section
from deskhand.evals.case_values import (
    Actions,
    Departments,
    Evidences,
    Feelings,
    Text,
    Texts,
    Urgencies,
    form_of,
)

TICKET_ID = r"^TKT-[0-9A-HJKMNP-TV-Z]{8}$"
NEW = "new"


class GivenTicketSection(Section):
    """A ticket that there is already: `{id: TKT-7Q2M4XK9, customer_id: C-1, messages: [...]}`."""

    id: str = Field(pattern=TICKET_ID)
    """Its id."""
    customer_id: str = Field(min_length=1)
    """Whose it is."""
    messages: list[Text] = Field(min_length=1)
    """What the customer wrote, oldest first."""
    state: Literal["active", "pending", "open", "solved", "closed"] = "active"
    """How it stands."""
    subject: str = ""
    """What it is about; the beginning of the first message if absent."""
    days_ago: float = Field(default=1.0, ge=0)
    """How many days ago the last message came."""
    reply: str | None = Field(default=None, min_length=1)
    """What we answered last."""


class TriageExpectSection(Section):
    """What a triage desk finds out; a list means any of them, and each field is counted apart."""

    urgency: Urgencies | None = None
    """How soon somebody must look."""
    ticket_type: Departments | None = None
    """Whose matter it is."""
    action: Actions | None = None
    """The recommended action."""
    language: Texts | None = None
    """The language of the message, as a code: `de`."""
    sentiment: Feelings | None = None
    """How the customer feels."""
    issue: Texts | None = None
    """The issue, one of `triage: {issues: ...}` of desk.yaml."""


class TicketExpectSection(Section):
    """Which ticket a message must be brought to, and why."""

    joins: Texts | None = None
    """The ticket that it continues, or `new`; a list means any of them."""
    same_as: int | None = Field(default=None, ge=1)
    """The number of an earlier turn whose ticket it continues."""
    evidence: Evidences | None = None
    """What must have shown that it belongs there."""
    reopens: bool | None = None
    """Whether it takes up a ticket that was solved."""


TicketChoice = Annotated[
    Annotated[Text, Tag("text")]
    | Annotated[list[Text], Field(min_length=1), Tag("list")]
    | Annotated[TicketExpectSection, Tag("mapping")],
    Discriminator(form_of),
]
