"""A YAML file's data to sections: every field that is wrong in itself, said with its line and
what to write."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar, cast, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from deskhand.config.sections.desk_file import DeskSection
from deskhand.config.sections.section import Section
from deskhand.config.suggestions import did_you_mean, near
from deskhand.config.yaml import YamlFile, YamlPlace
from deskhand.errors import ConfigError

_NEVER_SHOWN = (  # where a secret itself may have been pasted
    "key_env",
    "key_file",
    "password_env",
    "password_file",
    "client_secret_file",
    "refresh_token_file",
)
_UNNAMED = "unnamed"
_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list, as `[one, two]`",
    "tuple_type": "a list, as `[one, two]`",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
}
_MAPPINGS = ("model_type", "model_attributes_type")


AnySection = TypeVar("AnySection", bound=Section)


@dataclass(frozen=True)
class Parsed(Generic[AnySection]):
    """What could be read, the problems found on the way, and the places that are missing from it
    because of them."""

    read: AnySection | None
    problems: list[ConfigError]
    damaged: frozenset[YamlPlace]


def parse_desk(source: YamlFile) -> Parsed[DeskSection]:
    return parse_as(DeskSection, source, {"desk": _UNNAMED})


def parse_as(
    root: type[AnySection], source: YamlFile, needed: Mapping[str, Any] | None = None
) -> Parsed[AnySection]:
    """Check types, names and keys; what is sound is kept, so that the rest can be checked in the
    same go.

    `needed` stands in for keys without which nothing could be kept.
    """
    data: Any = source.data
    reading = _Reading(source, root)
    problems: list[ConfigError] = []
    damaged: set[YamlPlace] = set()
    for _ in range(3):  # leaving something out may make its surroundings wrong in turn
        try:
            return Parsed(root.model_validate(data), problems, frozenset(damaged))
        except ValidationError as error:
            details = error.errors(include_url=False)
        if not problems:
            problems = [
                reading.problem(detail)
                for detail in details
                if not reading.is_misspelt(detail, details)
            ]
        damaged |= {
            reading.written(detail) for detail in details if not reading.is_stray_key(detail)
        }
        data = _without(data, {reading.to_leave_out(detail) for detail in details})
        for key, value in (needed or {}).items():
            data.setdefault(key, value)
    return Parsed(None, problems, frozenset(damaged))


@dataclass(frozen=True)
class _Reading:
    """One file read as one kind of section."""

    source: YamlFile
    root: type[Section]

    def written(self, detail: ErrorDetails) -> YamlPlace:
        """The error's place as far as it stands in the file, without the tags that pydantic
        adds."""
        place: YamlPlace = ()
        for part in detail["loc"]:
            if (*place, part) in self.source.lines:
                place = (*place, part)
        return place

    def is_stray_key(self, detail: ErrorDetails) -> bool:
        """An unknown key that stands for no known one: nothing is missing without it."""
        place = self.written(detail)
        return (
            detail["type"] == "extra_forbidden"
            and near(str(place[-1]), self._keys_of(place[:-1])) is None
        )

    def is_misspelt(self, missing: ErrorDetails, details: list[ErrorDetails]) -> bool:
        """A missing key that is there under a wrong name: the unknown key beside it says so
        already."""
        if missing["type"] != "missing":
            return False
        around, key = self.written(missing), str(missing["loc"][-1])
        unknown = [
            self.written(detail) for detail in details if detail["type"] == "extra_forbidden"
        ]
        return any(place[:-1] == around and near(str(place[-1]), [key]) for place in unknown)

    def to_leave_out(self, detail: ErrorDetails) -> YamlPlace:
        """The smallest part without which the rest is sound; a list goes as a whole, to keep its
        other items' lines."""
        place = self.written(detail)
        while place and isinstance(place[-1], int) and detail["type"] not in _MAPPINGS:
            place = place[:-1]
        return place

    def problem(self, detail: ErrorDetails) -> ConfigError:
        place = self.written(detail)
        if detail["type"] == "missing":
            key = str(detail["loc"][-1])
            fix = f"write `{key}:` {self._described((*place, key))}"
            return self.source.problem(place, f"`{key}` is missing{_of(place)}", fix)
        problem, fix = self._words(place, detail)
        return self.source.problem(place, problem, fix)

    def _words(self, place: YamlPlace, detail: ErrorDetails) -> tuple[str, str]:
        kind, name = detail["type"], _name(place)
        given = "(not shown)" if place and place[-1] in _NEVER_SHOWN else detail["input"]
        described = self._described(place)
        if detail["loc"][-1] == "[key]":
            return (
                f"`{place[-1]}` cannot be a name{_of(place[:-1])}",
                "use a-z, 0-9 and `_`, beginning with a letter",
            )
        if kind == "extra_forbidden":
            fix = did_you_mean(str(place[-1]), self._keys_of(place[:-1]), otherwise="remove it")
            return f"unknown key {name}{_of(place[:-1])}", fix
        if kind == "empty":
            return (
                f"{name} has nothing after its colon",
                f"write a value or remove the line; {described}",
            )
        if kind in ("literal_error", "enum"):
            choices = re.findall(r"'([^']*)'", str(detail.get("ctx", {}).get("expected", "")))
            return f"{name} cannot be {_shown(given)}", did_you_mean(
                str(given), choices, otherwise="remove it"
            )
        if kind in _KINDS:
            return (
                f"{name} must be {_KINDS[kind]}, not {_shown(given)}",
                f"write {_KINDS[kind]}: {described}",
            )
        if kind == "string_pattern_mismatch":
            return f"{name} cannot be {_shown(given)}", f"write {described}"
        if kind == "too_short":
            return f"{name} is empty", f"fill it or remove it; {described}"
        return (
            f"{name} cannot be {_shown(given)}",
            f"it {detail['msg'].removeprefix('Input ')}; {described}",
        )

    # --- what may stand at a place

    def _at(self, place: YamlPlace) -> tuple[list[Any], str | None]:
        """The types that may stand at a place, and the words for the last field on the way."""
        here: list[Any] = [self.root]
        described: str | None = None
        for part in place:
            inside: list[Any] = []
            for kind in here:
                if isinstance(kind, type) and issubclass(kind, Section):
                    field = _fields(kind).get(str(part))
                    if field is not None:
                        described = kind.descriptions().get(str(part))
                        inside += _types(field.annotation)
                elif get_origin(kind) in (dict, list):
                    inside += _types(get_args(kind)[-1])
                elif get_origin(kind) is tuple:
                    inside += _types(get_args(kind)[0])
            here = inside
        return here, described

    def _keys_of(self, place: YamlPlace) -> list[str]:
        here, _ = self._at(place)
        return [
            key
            for kind in here
            if isinstance(kind, type) and issubclass(kind, Section)
            for key in _fields(kind)
        ]

    def _described(self, place: YamlPlace) -> str:
        here, words = self._at(place)
        written = [
            kind.__doc__ for kind in here if isinstance(kind, type) and issubclass(kind, Section)
        ]
        text = next(iter(written), None) or words or "what belongs here"
        return (text[0].lower() + text[1:]).rstrip(".")


def _name(place: YamlPlace) -> str:
    if not place:
        return "the file"
    return (
        f"item {place[-1] + 1} of `{place[-2]}`" if isinstance(place[-1], int) else f"`{place[-1]}`"
    )


def _of(place: YamlPlace) -> str:
    """Where that is, in words: the nearest thing with a name."""
    names = [part for part in place if isinstance(part, str)]
    if len(names) > 3 and names[0] == "flows" and names[2] == "stages":
        return f" in stage `{names[3]}`"
    return f" in `{names[-1]}`" if names else ""


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return (
        "nothing"
        if value is None
        else f"`{json.dumps(value, ensure_ascii=False, default=str)[:60]}`"
    )


def _types(annotation: Any) -> Iterator[Any]:
    """The types a field may have, out of their unions and annotations."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _types(get_args(annotation)[0])
    elif origin in (None, dict, list, tuple):
        yield annotation
    else:
        for choice in get_args(annotation):
            yield from _types(choice)


def _fields(section: type[Section]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in section.model_fields.items()}


def _without(data: Any, places: Iterable[YamlPlace], here: YamlPlace = ()) -> Any:
    gone = set(places)
    if isinstance(data, dict):
        pairs = cast(dict[str, Any], data).items()
        return {
            key: _without(value, gone, (*here, key))
            for key, value in pairs
            if (*here, key) not in gone
        }
    if isinstance(data, list):
        items: list[Any] = []
        for index, item in enumerate(data):
            place = (*here, index)
            items.append({} if place in gone else _without(item, gone, place))
        return items
    return data
