"""The one configuration all model types share."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict

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
