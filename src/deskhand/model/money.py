"""An amount of money: exact, never negative, and never mixed with another currency."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

_WRITTEN = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,4})?)\s*([A-Z]{3})\s*")
_CURRENCY = re.compile(r"[A-Z]{3}")
_LARGEST = Decimal(10) ** 15


@dataclass(frozen=True, slots=True)
class Money:
    """`Money.of("12.50 EUR")`; amounts of two currencies neither compare nor add up."""

    amount: Decimal
    currency: str

    def __post_init__(self) -> None:
        if not self.amount.is_finite() or not 0 <= self.amount < _LARGEST:
            raise ValueError(f"an amount of money is a number from 0 on, not {self.amount}")
        if not _CURRENCY.fullmatch(self.currency):
            raise ValueError(f"a currency is three capital letters, as EUR, not {self.currency!r}")

    @classmethod
    def of(cls, value: object) -> Self:
        """From `12.50 EUR`, `{"amount": 12.5, "currency": "EUR"}` or another Money; ValueError
        says what is wrong."""
        if isinstance(value, cls):
            return value
        if isinstance(value, str) and (written := _WRITTEN.fullmatch(value)):
            return cls(Decimal(written[1]), written[2])
        if (
            isinstance(value, Mapping)
            and set(value) == {"amount", "currency"}
            and isinstance(value["currency"], str)
        ):
            return cls(_decimal(value["amount"]), value["currency"])
        raise ValueError(f"not an amount of money: {str(value)[:60]!r}; write it as `12.50 EUR`")

    def __str__(self) -> str:
        places = 0 if self.amount == self.amount.to_integral_value() else 2
        digits = (
            f"{self.amount.normalize():f}" if places else f"{self.amount.to_integral_value():f}"
        )
        return f"{digits}{'0' * (places - len(digits.partition('.')[2]))} {self.currency}"

    def __lt__(self, other: "Money") -> bool:
        return self.amount < self._same(other)

    def __le__(self, other: "Money") -> bool:
        return self.amount <= self._same(other)

    def __gt__(self, other: "Money") -> bool:
        return self.amount > self._same(other)

    def __ge__(self, other: "Money") -> bool:
        return self.amount >= self._same(other)

    def __add__(self, other: "Money") -> "Money":
        return Money(self.amount + self._same(other), self.currency)

    def _same(self, other: "Money") -> Decimal:
        if other.currency != self.currency:
            raise TypeError(f"{self} and {other} do not compare")
        return other.amount

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.of, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string", "pattern": r"^[0-9]+(\.[0-9]{1,4})? [A-Z]{3}$", "format": "money"}


def _decimal(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise ValueError(f"an amount is a number, not {str(value)[:60]!r}")
    try:
        return Decimal(str(value))
    except InvalidOperation:
        raise ValueError(f"an amount is a number, not {str(value)[:60]!r}") from None
