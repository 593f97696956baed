"""What all sections of desk.yaml share: strict types, no unknown keys, a description of each field.

A section is also the spec that the engine works from, wherever what is written needs no other
section to be understood. Shorthand becomes a typed value here: `20 EUR` is Money, a file's name is
a Path.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic.types import GetPydanticSchema
from pydantic_core import PydanticCustomError, core_schema

from deskhand.model.frozen import Frozen


class Section(Frozen):
    """A part of desk.yaml; the words under each field describe it in the JSON Schema."""

    model_config = ConfigDict(
        strict=True,
        defer_build=True,  # a section is built with the file it belongs to, once
        validate_by_name=False,
        validate_by_alias=True,
        allow_inf_nan=False,
    )

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """`next:` with nothing after it is a slip, not a way to say nothing.

        A `field_validator` for all fields would say the same, but pydantic looks at its signature
        for every field of every section: a tenth of the time in which a command starts.
        """
        schema = handler(source)
        fields = _fields_in(handler.resolve_ref_schema(schema))
        for name, field in fields.items():
            if name not in cls.may_be_null():
                _refuse_nothing(field)
        return schema

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The section's JSON Schema with the words under each field."""
        schema = handler(core)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for key, words in cls.descriptions().items():
            if key in properties:
                properties[key].setdefault("description", words)
        return schema

    @classmethod
    def descriptions(cls) -> dict[str, str]:
        """The words under each field, by the key in desk.yaml.

        They are read from the source when somebody asks; pydantic would read them whenever the
        class is imported, which takes long.
        """
        words: dict[str, str] = {}
        for section in reversed(cls.__mro__):
            if issubclass(section, Section):
                words |= _words_under_fields(section)
        fields = cls.model_fields
        return {fields[name].alias or name: text for name, text in words.items() if name in fields}

    @classmethod
    def may_be_null(cls) -> tuple[str, ...]:
        """The fields after which nothing need be written."""
        return ()

    def beside(self, folder: Path) -> Self:
        """The section with its files, written relative to the desk's folder, found there."""
        return self.changed(**{name: _moved(value, folder) for name, value in self})


def _fields_in(schema: Any) -> dict[str, Any]:
    """The fields of a model's schema, which its validators may stand around."""
    while schema["type"] != "model-fields":
        schema = schema["schema"]
    fields: dict[str, Any] = schema["fields"]
    return fields


def _refuse_nothing(field: Any) -> None:
    """Put `_something` before whatever checks a field's value; once, where it is met again."""
    holder = field["schema"] if field["schema"]["type"] == "default" else field
    checked = holder["schema"]
    if checked.get("function", {}).get("function") is not _something:
        holder["schema"] = core_schema.no_info_before_validator_function(_something, checked)


def _something(value: Any) -> Any:
    if value is None:
        raise PydanticCustomError("empty", "there is nothing after the colon")
    return value


@cache
def _words_under_fields(cls: type[Section]) -> dict[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    words: dict[str, str] = {}
    statements = getattr(definition, "body", [])
    for field, below in pairwise(statements):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                words[name] = inspect.cleandoc(text)
    return words


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

Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""The name of an environment variable."""

DeskFile = Annotated[Path, written_as_text(Path, min_length=1)]
"""A file's name, relative to the desk's folder."""
