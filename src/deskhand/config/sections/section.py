"""What all sections of desk.yaml share: strict types, no unknown keys, a description of each field.

A section is also the spec that the engine works from, wherever what is written needs no other
section to be understood. Shorthand becomes a typed value here: `20 EUR` is Money, a file's name is
a Path.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import ConfigDict, Strict, ValidationInfo, field_validator
from pydantic.types import GetPydanticSchema
from pydantic_core import PydanticCustomError, core_schema

from deskhand.model.frozen import Frozen


class Section(Frozen):
    """A part of desk.yaml; the words under each field describe it in the JSON Schema."""

    model_config = ConfigDict(
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
        """The fields after which nothing need be written."""
        return ()

    def beside(self, folder: Path) -> Self:
        """The section with its files, written relative to the desk's folder, found there."""
        return self.changed(**{name: _moved(value, folder) for name, value in self})


def _moved(value: Any, folder: Path) -> Any:
    """The value with every relative path in it, however deep, put into a folder."""
    if isinstance(value, Path):
        return folder / value
    if isinstance(value, Section):
        return value.beside(folder)
    if isinstance(value, tuple):
        return tuple(_moved(item, folder) for item in value)
    if isinstance(value, dict):
        return {key: _moved(item, folder) for key, item in value.items()}
    return value


def written_as_text(read: Callable[[str], Any], **constraints: Any) -> GetPydanticSchema:
    """For a field that is text in desk.yaml, within these constraints, and a typed value after.

    `read` makes the value; a value of the field's type is taken as it is.
    """

    def schema(source: Any, handler: Any) -> core_schema.CoreSchema:
        def validate(value: Any, validate_text: Callable[[Any], str]) -> Any:
            return value if isinstance(value, source) else read(validate_text(value))

        return core_schema.no_info_wrap_validator_function(
            validate,
            core_schema.str_schema(strict=True, **constraints),
            serialization=core_schema.to_string_ser_schema(when_used="json"),
        )

    return GetPydanticSchema(schema)


_Item = TypeVar("_Item")

Items = Annotated[tuple[_Item, ...], Strict(False)]
"""A list in desk.yaml, which nobody can change once it is read."""

DeskFile = Annotated[Path, written_as_text(Path, min_length=1)]
"""A file's name, relative to the desk's folder."""
