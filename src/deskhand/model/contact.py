"""A person the desk knows: what his mail shows, and what people of the company wrote down about
him."""

from typing import Annotated

from pydantic import Field

from deskhand.model.frozen import Frozen

Tag = Annotated[str, Field(pattern=r"^[^\s,;]{1,60}$")]
"""One word."""
Tier = Annotated[str, Field(min_length=1, max_length=100)]


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
    tags: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    first_seen: float | None = None
    """When the desk had its first message from this address; None for somebody who never wrote."""
    last_seen: float | None = None
    messages: int = 0
    """How many messages the desk has had from this address."""


def contact_key(address: str) -> str:
    """The form under which an address is known."""
    return address.strip().lower()
