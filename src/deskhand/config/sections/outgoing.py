"""What replies may name and promise, as written in desk.yaml."""

from typing import Annotated, Literal

from pydantic import Field

from deskhand.config.sections.policy import MoneyText
from deskhand.config.sections.section import Section
from deskhand.model.frozen import Frozen
from deskhand.model.money import Money

Host = Annotated[
    str,
    Field(pattern=r"^(\*\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9-]{2,63}$"),
]
Mailbox = Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s.]{2,}$")]
Words = Annotated[str, Field(min_length=1, max_length=2000)]
DurationText = Annotated[str, Field(pattern=r"^[0-9]{1,5} (hours?|days?|weeks?)$")]
Action = Literal[
    "refund",
    "cancel",
    "replace",
    "send",
    "credit",
    "change",
    "contact",
    "deliver",
    "escalate",
    "reserve",
]


class OutgoingSection(Section):
    """What a reply may name beside the customer's own: everything else waits for a person."""

    hosts: list[Host] = Field(default_factory=list)
    """Hosts that links may lead to, exact, as `www.acme.example`; `*.acme.example` for all below
    it."""
    addresses: list[Mailbox] = Field(default_factory=list)
    """E-mail addresses a reply may name, as `support@acme.example`."""
    phones: list[Words] = Field(default_factory=list)
    """Telephone numbers a reply may name; with at least one here, every other number waits for a
    person."""
    accounts: list[Words] = Field(default_factory=list)
    """Account numbers (IBAN) a reply may name."""
    canaries: list[Annotated[str, Field(min_length=6, max_length=200)]] = Field(
        default_factory=list
    )
    """Words that never leave: put one into a prompt or an article that nobody outside should
    ever see."""


class ClauseSection(Section):
    """Something the company stands behind: `{name: refund time, actions: [refund], within: 7
    days}`."""

    name: str = Field(min_length=1, max_length=120)
    """What the clause is called in reviews."""
    actions: list[Action] = Field(default_factory=list)
    """What a reply may promise without a tool having done it: `send`, `contact`, ..."""
    up_to: MoneyText | None = None
    """How much money a reply may promise with these actions, as `20 EUR`."""
    within: DurationText | None = None
    """How far ahead a promised date may lie, as `7 days`."""
    words: list[Words] = Field(default_factory=list)
    """Sentences that a reply may say as they are, amounts and dates included."""


class OutgoingSpec(Frozen):
    hosts: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    phones: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    canaries: tuple[str, ...] = ()


class ClauseSpec(Frozen):
    name: str
    actions: tuple[Action, ...] = ()
    up_to: Money | None = None
    within: str | None = None
    words: tuple[str, ...] = ()


def outgoing_spec(section: OutgoingSection) -> OutgoingSpec:
    return OutgoingSpec(
        hosts=tuple(host.lower() for host in section.hosts),
        addresses=tuple(address.lower() for address in section.addresses),
        phones=tuple(section.phones),
        accounts=tuple(section.accounts),
        canaries=tuple(section.canaries),
    )


def clause_spec(section: ClauseSection) -> ClauseSpec:
    return ClauseSpec(
        name=section.name,
        actions=tuple(section.actions),
        up_to=None if section.up_to is None else Money.of(section.up_to),
        within=section.within,
        words=tuple(section.words),
    )
