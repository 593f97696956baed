"""What a check of a reply finds, and what it is allowed to contain."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Literal

ContentRule = Literal[
    "header_injection",
    "foreign_host",
    "script_link",
    "foreign_address",
    "foreign_phone",
    "unproven_name",
    "foreign_account",
    "card_number",
    "crypto_address",
    "remote_content",
    "secret",
    "canary",
    "other_customer",
    "hidden_text",
    "control_characters",
    "too_long",
]


@dataclass(frozen=True, slots=True)
class ContentFinding:
    """Something that may not simply leave."""

    rule: ContentRule
    reason: str
    """For the reviewer."""
    text: str
    """As it was written; for secrets, only how they begin."""
    field: str = "text"
    """`text`, `subject`, `to` or another part of the reply."""
    start: int = 0
    end: int = 0
    """Where, in characters of that field."""
    refused: bool = False
    """No person can let it pass: the reply itself is broken."""

    def as_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "reason": self.reason,
            "text": self.text,
            "field": self.field,
            "start": self.start,
            "end": self.end,
            "refused": self.refused,
        }


@dataclass(frozen=True)
class AllowedContent:
    """The desk's own, the operator's list, and what belongs to this customer."""

    hosts: Collection[str] = ()
    """Exact, or `*.acme.example` for all below it."""
    addresses: Collection[str] = ()
    phones: Collection[str] = ()
    """Telephone numbers; every other one is found."""
    numbers: Collection[str] = ()
    """Numbers of orders and parcels that tools gave: they are no telephone numbers."""
    texts: Collection[str] = ()
    """The company's own words, such as articles: the telephone numbers in them may be named."""
    said: Collection[str] = ()
    """What a proven customer wrote himself: his telephone number may be named to him."""
    unproven_names: Collection[str] = ()
    """Names that a sender gave himself whom nobody has proven."""
    accounts: Collection[str] = ()
    canaries: Collection[str] = ()
    own: Collection[str] = ()
    """The customer's own: the address written from, order numbers and the like that tools gave."""
    others: Collection[str] | Callable[[str], bool] = field(default=())
    """Identifiers of other customers, or a function that knows one when it sees it."""
