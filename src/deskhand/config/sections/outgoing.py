"""What replies may name and promise, as written in desk.yaml."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from deskhand.config.sections.policy import WrittenMoney
from deskhand.config.sections.section import Items, Section

Host = Annotated[
    str,
    Field(pattern=r"^(\*\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9-]{2,63}$"),
    AfterValidator(str.lower),
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


class OutgoingSpec(Section):
    """What a reply may name beside the customer's own: everything else waits for a person."""

    hosts: Items[Host] = ()
    """Hosts that links may lead to, exact, as `www.acme.example`; `*.acme.example` for all below
    it."""
    addresses: Items[Annotated[Mailbox, AfterValidator(str.lower)]] = ()
    """E-mail addresses a reply may name, as `support@acme.example`."""
    phones: Items[Words] = ()
    """Telephone numbers a reply may name, beside those in articles and in this desk's own texts;
    every other number waits for a person."""
    accounts: Items[Words] = ()
    """Account numbers (IBAN) a reply may name."""
    canaries: Items[Annotated[str, Field(min_length=6, max_length=200)]] = ()
    """Words that never leave: put one into a prompt or an article that nobody outside should
    ever see."""
    second_reader: str | None = None
    """The role under `models` of a second model: it reads what the first wrote in words that no
    article has, and such a reply may then leave; without one it waits for a person."""


class ClauseSpec(Section):
    """Something the company stands behind: `{name: refund time, actions: [refund], within: 7
    days}`."""

    name: str = Field(min_length=1, max_length=120)
    """What the clause is called in reviews."""
    actions: Items[Action] = ()
    """What a reply may promise without a tool having done it: `send`, `contact`, ..."""
    up_to: WrittenMoney | None = None
    """How much money a reply may promise with these actions, as `20 EUR`."""
    within: DurationText | None = None
    """How far ahead a promised date may lie, as `7 days`."""
    words: Items[Words] = ()
    """Sentences that a reply may say as they are, amounts and dates included."""
