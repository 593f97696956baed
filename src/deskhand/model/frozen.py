"""What all model types share: one configuration, and moments that have a name in UTC."""

from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict

_new, _set = object.__new__, object.__setattr__
"""Looking for them on the class takes as long as all the rest of a copy."""


class Frozen(BaseModel):
    """An immutable value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def changed(self, **values: Any) -> Self:
        """A copy with these fields exchanged, unchecked: five times as fast as model_copy, which
        is on the hot path."""
        copy = _new(self.__class__)
        _set(copy, "__dict__", {**self.__dict__, **values})
        _set(copy, "__pydantic_fields_set__", self.__pydantic_fields_set__ | values.keys())
        _set(copy, "__pydantic_extra__", None)
        _set(copy, "__pydantic_private__", None)
        return copy


def sayable(moment: datetime) -> datetime:
    """The same moment; ValueError for one that has no name in UTC.

    At the ends of the calendar a time zone leads past them: `0001-01-01T00:00:00+14:00` would be in
    the year 0.
    """
    try:
        moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("it lies before the year 1 or after the year 9999 in UTC") from None
    return moment


def in_utc(moment: datetime) -> datetime:
    """A moment with its time zone, UTC where none was said; ValueError as `sayable`."""
    return sayable(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


Moment = Annotated[AwareDatetime, AfterValidator(sayable)]
"""A time with its zone, as people and programs write it."""
