"""What all sections of desk.yaml have in common: strict types, no unknown keys, a line of
description a field."""

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError


class Section(BaseModel):
    """A part of desk.yaml as written; the words under each field become its description in the
    JSON Schema."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        use_attribute_docstrings=True,
        validate_by_name=False,
        validate_by_alias=True,
        allow_inf_nan=False,
    )

    @field_validator("*", mode="before")
    @classmethod
    def _not_empty(cls, value: Any, info: ValidationInfo) -> Any:
        """`next:` with nothing after it is a slip, not a way to say nothing."""
        if value is None and info.field_name not in cls.may_be_null():
            raise PydanticCustomError("empty", "there is nothing after the colon")
        return value

    @classmethod
    def may_be_null(cls) -> tuple[str, ...]:
        return ()
