"""A part of a whole amount: half of what an order cost."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from deskhand.model.money import Money

_CENT = Decimal("0.01")
_LONGEST = 20
_WRITTEN = re.compile(r"^([0-9]+(?:/[0-9]+)?) of it$")


@dataclass(frozen=True, slots=True)
class Share:
    """`Share.of({"share": "1/2"})`; what it comes to, only who knows the whole can say."""

    part: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.part <= 1:
            raise ValueError(f"a share is more than nothing and at most all, not {self.part}")

    @classmethod
    def of(cls, value: object) -> Self:
        """From `{"share": "1/2"}`, `1/2 of it` or another Share; ValueError says what is wrong."""
        if isinstance(value, cls):
            return value
        if isinstance(value, str) and (written := _WRITTEN.fullmatch(value)):
            return cls(_fraction(written[1]))
        if isinstance(value, Mapping) and set(value) == {"share"}:
            return cls(_fraction(value["share"]))
        raise ValueError(f"not a share: {str(value)[:60]!r}; write it as `1/2 of it`")

    @property
    def is_all(self) -> bool:
        return self.part == 1

    def of_money(self, whole: Money) -> Money:
        """How much it is of a whole, in whole cents."""
        amount = whole.amount * self.part.numerator / self.part.denominator
        return Money(amount.quantize(_CENT, ROUND_HALF_UP), whole.currency)

    def __str__(self) -> str:
        return f"{self.part} of it"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.of, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string", "pattern": _WRITTEN.pattern}


def as_argument(value: Any) -> Any:
    """A value as the arguments of a call say it: a share and an amount of money in their words, all
    else as it is."""
    if not isinstance(value, Mapping):
        return value
    if set(value) == {"share"}:
        return str(Share.of(value))
    try:
        return str(Money.of(value))
    except ValueError:
        return value


def _fraction(value: object) -> Fraction:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise ValueError(f"a share is written as 1/2, not {str(value)[:60]!r}")
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"a share is written as 1/2, not {value!r}") from None
