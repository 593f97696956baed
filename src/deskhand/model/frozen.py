"""The one configuration all model types share."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def changed(self, **values: Any) -> Self:
        """A copy with these fields exchanged, unchecked: five times as fast as model_copy, which
        is on the hot path."""
        copy = self.__class__.__new__(self.__class__)
        object.__setattr__(copy, "__dict__", {**self.__dict__, **values})
        object.__setattr__(
            copy, "__pydantic_fields_set__", self.__pydantic_fields_set__ | values.keys()
        )
        object.__setattr__(copy, "__pydantic_extra__", None)
        object.__setattr__(copy, "__pydantic_private__", None)
        return copy
