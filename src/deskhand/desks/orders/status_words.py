"""Where an order is, as replies tell it: the state as a field of its own, and days in words."""

from collections.abc import Mapping
from datetime import date
from typing import Any

_MONTHS: Mapping[str, str] = {
    "en": "January February March April May June July August September October November December",
    "cs": "ledna února března dubna května června července srpna září října listopadu prosince",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
}
_ORDERS: Mapping[str, str] = {
    "en": "{day} {month}",
    "cs": "{day}. {month}",
    "de": "{day}. {month}",
}


def day_in_words(day: date) -> dict[str, str]:
    """A day in each language of the desk, as `20 November`."""
    return {
        language: _ORDERS[language].format(day=day.day, month=months.split()[day.month - 1])
        for language, months in _MONTHS.items()
    }


def status_of(
    *,
    number: str,
    state: str,
    items: str,
    carrier: str,
    tracking: str,
    expected_on: date | None,
    delivered_on: date | None,
) -> dict[str, Any]:
    """What a customer may know of his order; `shipped: true` and the like choose the reply."""
    status: dict[str, Any] = {"order": number, "state": state, state: True, "items": items}
    if carrier:
        status |= {"carrier": carrier, "tracking": tracking}
    if expected_on is not None:
        status["expected"] = {"on": expected_on.isoformat(), **day_in_words(expected_on)}
    if delivered_on is not None:
        status["arrived"] = {"on": delivered_on.isoformat(), **day_in_words(delivered_on)}
    return status
