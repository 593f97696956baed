"""Which parameters of a tool give authority or are filled by the gate, and what a model is shown
instead."""

import inspect
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Field

from deskhand.model.principal import Principal
from deskhand.tools.authority import Authority, Customer, CustomerId, SenderAddress
from deskhand.tools.context import Context

Key = Annotated[str, Field(min_length=1, max_length=1000)]

INJECTED = (Context, Principal, Customer, CustomerId)


@dataclass(frozen=True, slots=True)
class BoundParameter:
    """A parameter whose value the gate exchanges for the thing it names, or checks against the
    principal."""

    kind: type[Authority] | type[SenderAddress]


@dataclass(frozen=True, slots=True)
class Injected:
    """A parameter the gate fills; a model neither sees nor writes it."""

    kind: type
    optional: bool
    """Whether the tool does without: None for a sender nobody knows."""


def injected(hint: Any) -> Injected | None:
    inner = _without_none(hint)
    kind = _plain(hint if inner is None else inner)
    if inspect.isclass(kind) and issubclass(kind, INJECTED):
        return Injected(kind, optional=inner is not None)
    return None


def shown_as_key(hint: Any) -> tuple[Any, BoundParameter | None]:
    """The type a model is told of: a key for a thing, a list of keys for a list of things; None
    where nothing gives authority."""
    inner = _without_none(hint)
    if inner is not None:
        shown, bound = shown_as_key(inner)
        return (shown | None, bound) if bound else (hint, None)
    if get_origin(hint) is Annotated:
        shown, bound = shown_as_key(get_args(hint)[0])
        return (Annotated[(shown, *get_args(hint)[1:])], bound) if bound else (hint, None)
    if get_origin(hint) is list:
        shown, bound = shown_as_key(get_args(hint)[0])
        return (list[shown], bound) if bound else (hint, None)  # type: ignore[valid-type]
    if inspect.isclass(hint) and issubclass(hint, Authority | SenderAddress):
        return Key, BoundParameter(hint)
    return hint, None


def hides_authority(hint: Any) -> bool:
    """Whether a type that gives authority stands where the gate would not find it: in a mapping,
    a tuple, a model."""
    seen: list[Any] = []
    left = [hint]
    while left:
        here = left.pop()
        if inspect.isclass(here) and issubclass(here, (Authority, SenderAddress, *INJECTED)):
            return True
        if any(here is visited for visited in seen):
            continue
        seen.append(here)
        left += get_args(here)
        if inspect.isclass(here) and issubclass(here, BaseModel):
            left += [field.annotation for field in here.model_fields.values()]
    return False


def _without_none(hint: Any) -> Any:
    """X of `X | None`; None for every other type."""
    if get_origin(hint) not in (Union, UnionType):
        return None
    rest = [part for part in get_args(hint) if part is not NoneType]
    return rest[0] if len(rest) == 1 and len(get_args(hint)) == 2 else None


def _plain(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint
