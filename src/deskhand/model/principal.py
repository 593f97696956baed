"""Who a message comes from, as far as somebody we trust has said so: all the authority a run
ever has."""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from deskhand.model.frozen import Frozen


class PrincipalKind(StrEnum):
    ANONYMOUS = "anonymous"
    SENDER = "sender"
    """The receiving mail server authenticated the sender's address."""
    LOGIN = "login"
    """The customer is logged in where he writes (chat)."""
    ASSERTED = "asserted"
    """Somebody who may say so said it: an API key that may assert customers."""
    CODE = "code"
    """A code that was mailed to their address on file proves single things to be his; nothing else
    is."""
    FORWARDED = "forwarded"
    """A trusted forwarder named the customer: good for answering him, not for acting on what he
    owns."""


class Principal(Frozen):
    """Set by intake before any model runs and never changed by what a text says."""

    kind: PrincipalKind = PrincipalKind.ANONYMOUS
    customer_id: str | None = Field(default=None, min_length=1, max_length=1000)
    address: str | None = Field(default=None, min_length=1, max_length=1000)
    """Proven to be the principal's own: answers may go there."""
    tier: str | None = Field(default=None, min_length=1, max_length=100)
    tags: tuple[str, ...] | None = None
    """What the company calls him, as its contacts say; looked up for every call, never stored
    with a message."""
    only: tuple[str, ...] = ()
    """The ids of the single things that were proven to be the principal's; he owns nothing else."""
    via: str | None = Field(default=None, min_length=1, max_length=100)
    """The API key that handed the message in, where it may not say who the sender is."""
    how: str = "nobody vouched for the sender"
    """Why we believe it, for the trace."""

    @model_validator(mode="after")
    def _nobody_owns_nothing(self) -> Self:
        if self.kind is PrincipalKind.ANONYMOUS and (
            self.customer_id or self.address or self.tier or self.only
        ):
            raise ValueError("an anonymous principal has no customer, address or tier")
        return self

    @property
    def owns(self) -> bool:
        """Whether anything at all can belong to this principal."""
        return self.kind is not PrincipalKind.ANONYMOUS and (
            bool(self.only) or (self.customer_id or self.address) is not None
        )

    @property
    def may_act(self) -> bool:
        """Whether effects on what it owns may follow: a forwarder's word is good for reading and
        answering."""
        return self.owns and self.kind is not PrincipalKind.FORWARDED

    @property
    def name(self) -> str:
        """One word by which totals are counted and two messages of the same person are
        recognised; empty for nobody."""
        if self.only:
            return f"proven:{','.join(self.only)}"
        if self.customer_id is not None:
            return f"customer:{self.customer_id}"
        return "" if self.address is None else f"address:{self.address.strip().lower()}"


ANONYMOUS = Principal.model_construct()  # all defaults: no validator need be built to say so


def asserted(
    customer_id: str, *, by: str, address: str | None = None, tier: str | None = None
) -> Principal:
    """A customer named by somebody who may."""
    return Principal(
        kind=PrincipalKind.ASSERTED,
        customer_id=customer_id,
        address=address,
        tier=tier,
        how=f"asserted by {by}",
    )
