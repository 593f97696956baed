"""A person the desk knows: what his mail shows, and what people of the company wrote down about
him."""

from typing import Annotated

from pydantic import Field, ValidationError

from deskhand.model.frozen import Frozen

Tag = Annotated[str, Field(pattern=r"^[^\s,;]{1,60}$")]
"""One word."""
Tier = Annotated[str, Field(min_length=1, max_length=100)]
Plan = Annotated[str, Field(min_length=1, max_length=100)]
"""What somebody pays for, as `enterprise`, `pro` or `free`; small letters."""
Count = Annotated[int, Field(ge=0, le=10_000_000)]

CUSTOMER_INFO_HEADER = "x-deskhand-customer-info"
"""The header under which it is kept, as JSON; it counts only with an asserted customer."""


class Note(Frozen):
    """What somebody of the company wrote down; never shown to a model or a customer."""

    text: str
    by: str
    at: float


class ContactEntry(Frozen):
    """What is said about one person, by a file or by a colleague; what is empty says nothing."""

    address: str = Field(min_length=1, max_length=1000)
    name: str = Field(default="", max_length=500)
    language: str | None = Field(default=None, max_length=35)
    company: str = Field(default="", max_length=500)
    phone: str = Field(default="", max_length=100)
    customer_id: str | None = Field(default=None, min_length=1, max_length=1000)
    tier: Tier | None = None
    plan: Plan | None = None
    tenure_months: Count | None = None
    seats: Count | None = None
    region: str | None = Field(default=None, max_length=100)
    tags: tuple[Tag, ...] = ()
    notes: tuple[str, ...] = ()


class Contact(Frozen):
    """One person, by address (in lower case)."""

    address: str
    name: str = ""
    language: str | None = None
    company: str = ""
    phone: str = ""
    customer_id: str | None = None
    tier: str | None = None
    plan: str | None = None
    tenure_months: int | None = None
    """For how long he has been a customer."""
    seats: int | None = None
    region: str | None = None
    tags: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    first_seen: float | None = None
    """When the desk had its first message from this address; None for somebody who never wrote."""
    last_seen: float | None = None
    messages: int = 0
    """How many messages the desk has had from this address."""

    @property
    def plan_in_words(self) -> str:
        """As `enterprise, 50 seats, 24 months, us-west`; what nobody said is left out."""
        seats = None if self.seats is None else f"{self.seats} seats"
        months = None if self.tenure_months is None else f"{self.tenure_months} months"
        return ", ".join(filter(None, (self.plan, seats, months, self.region)))


def contact_key(address: str) -> str:
    """The form under which an address is known."""
    return address.strip().lower()


class CustomerInfo(Frozen):
    """What a program that may assert customers says about one; what is None was not said."""

    plan: str | None = Field(default=None, min_length=1, max_length=100)
    tenure_months: Count | None = None
    seats: Count | None = None
    region: str | None = Field(default=None, min_length=1, max_length=100)


def read_customer_info(written: str | None) -> CustomerInfo:
    """What the header says; nothing where there is none, or something else in its place."""
    if written is None:
        return CustomerInfo()
    try:
        return CustomerInfo.model_validate_json(written)
    except ValidationError:
        return CustomerInfo()
