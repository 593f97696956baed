"""Caps and approvals, as written in desk.yaml, and what they become once they are checked."""

from pydantic import Field

from deskhand.config.sections.outgoing import DurationText
from deskhand.config.sections.policy import WrittenMoney
from deskhand.config.sections.section import Section
from deskhand.measures import measure
from deskhand.model.frozen import Frozen
from deskhand.model.money import Money
from deskhand.model.totals import CALLS, SCOPES, SENDS, Limit, Scope, counted_money

WEEK = 7 * 24 * 3600.0


class CapSection(Section):
    """How much passes without a person: `{sends: 20, money: 200 EUR}`."""

    calls: int | None = Field(default=None, ge=0)
    """How many effects of any tool."""
    sends: int | None = Field(default=None, ge=0)
    """How many messages leave."""
    money: WrittenMoney | None = None
    """How much money moves, as `200 EUR`; amounts in another currency wait for a person."""


class DayCapSection(CapSection):
    """How much passes on one day for the whole desk."""

    model_spend: float | None = Field(default=None, ge=0)
    """What models may cost on one day, in the currency of the providers' prices; then they are
    not asked any more."""


class CapsSection(Section):
    """Caps on what the desk does by itself; what would exceed one waits for a person."""

    day: DayCapSection | None = None
    """For the whole desk on one day, in the desk's time zone."""
    principal: CapSection | None = None
    """For one customer (or unproven sender) on one day."""
    conversation: CapSection | None = None
    """For one conversation as long as it lasts."""


class ApprovalsSection(Section):
    """What an approval is worth: `{expire_after: 7 days, four_eyes_over: 500 EUR}`."""

    expire_after: DurationText = "7 days"
    """How old an approval may be when the call is made, as `7 days`."""
    four_eyes_over: WrittenMoney | None = None
    """The amount above which two different people must approve, as `500 EUR`."""


class SafeguardSpec(Frozen):
    caps: tuple[Limit, ...] = ()
    model_spend: float | None = None
    recipients: frozenset[str] = frozenset()
    approval_lasts: float = WEEK
    four_eyes_over: Money | None = None


def safeguard_spec(
    caps: CapsSection, approvals: ApprovalsSection, recipients: list[str]
) -> SafeguardSpec:
    lasts = measure(approvals.expire_after)
    assert lasts is not None  # the pattern of a length of time
    limits = [limit for scope in SCOPES for limit in _limits(scope, getattr(caps, scope))]
    known_recipients = frozenset(address.strip().casefold() for address in recipients)
    return SafeguardSpec(
        caps=tuple(limits),
        model_spend=None if caps.day is None else caps.day.model_spend,
        recipients=known_recipients,
        approval_lasts=lasts[1].total_seconds(),
        four_eyes_over=approvals.four_eyes_over,
    )


def _limits(scope: Scope, cap: CapSection | None) -> list[Limit]:
    if cap is None:
        return []
    limits = [
        Limit(scope, unit, most)
        for unit, most in ((CALLS, cap.calls), (SENDS, cap.sends))
        if most is not None
    ]
    if cap.money is not None:
        limits.append(Limit(scope, cap.money.currency, counted_money(cap.money.amount)))
    return limits
