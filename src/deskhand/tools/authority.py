"""Parameters that give authority: the model writes a key, the gate looks the thing up and checks
whose it is."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from deskhand.model.principal import Principal
from deskhand.tools.context import Context
from deskhand.tools.declared import SourcePlace, declare, place_of


class Authority(BaseModel):
    """Something a call acts on. The model sees and writes its `id`; the desk's resolver brings the
    rest.

    A type of one's own is a subclass with a few fields. Whose it is must be said by `belongs_to`:
    by default nobody's.
    """

    model_config = ConfigDict(frozen=True, extra="allow", arbitrary_types_allowed=True)
    must_be_offered: ClassVar[bool] = False
    """Whether an earlier tool result of this matter must have held it, under `id`."""
    is_text: ClassVar[bool] = False
    """Whether it is words that a call says, and no thing that it is about."""

    id: str

    def belongs_to(self, principal: Principal) -> bool:
        return False

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


def declared_fields(kind: type[Authority]) -> frozenset[str] | None:
    """The fields of a type that a desk declares; None for a type that leaves them to its
    resolver."""
    own = {name for base in kind.__mro__ for name in _own_fields(base)}
    return frozenset(kind.model_fields) if own else None


def _own_fields(base: type) -> frozenset[str]:
    """What a class adds, unless it is one of ours."""
    if base.__module__ == __name__ or not issubclass(base, Authority):
        return frozenset()
    return frozenset(base.__annotations__) & frozenset(base.model_fields)


class Owned(Authority):
    """Something that one customer owns: `owner` is his id, or his address where the company
    knows him by it."""

    owner: str
    contact: str | None = None
    """The mail address that the company has for it. A code that is mailed there proves whose it is;
    the address is never told."""

    def belongs_to(self, principal: Principal) -> bool:
        if not principal.owns:
            return False
        if principal.only:
            return self.id in principal.only
        if principal.customer_id is not None and self.owner == principal.customer_id:
            return True
        return (
            "@" in self.owner
            and principal.address is not None
            and same_address(self.owner, principal.address)
        )


class OwnedOrder(Owned):
    """One of the customer's own orders, with whatever fields the desk's resolver gives it."""


class Slot(Authority):
    """A time that was offered: free for whoever it was offered to, or held for one customer."""

    must_be_offered: ClassVar[bool] = True

    start: datetime
    end: datetime | None = None
    held_for: str | None = None

    def belongs_to(self, principal: Principal) -> bool:
        return self.held_for is None or (
            principal.owns and self.held_for in (principal.customer_id, principal.address)
        )


class Customer(Authority):
    """The customer himself: given to a tool that asks for him, never named by a model.

    A resolver of this type is asked with the principal's customer id or, before that is known, his
    proven address.
    """

    address: str | None = None
    tier: str | None = None

    def belongs_to(self, principal: Principal) -> bool:
        return principal.owns and not principal.only and principal.customer_id in (None, self.id)


class CustomerId(str):
    """The customer's id: given to a tool that asks for it, never named by a model."""


class SenderAddress(str):
    """An address to write to: the principal's own, the sender's, or one of the operator's list;
    any other is held."""


def same_address(first: str, other: str) -> bool:
    return first.strip().casefold() == other.strip().casefold()


Found = Authority | Sequence[Authority] | None
ResolverFunction = Callable[[str, Principal, Context], Awaitable[Found]]


@dataclass(frozen=True, slots=True)
class Resolver:
    """How a desk finds things of one type."""

    kind: type[Authority]
    function: ResolverFunction
    place: SourcePlace

    async def __call__(self, key: str, principal: Principal, ctx: Context) -> tuple[Authority, ...]:
        """What the key may mean; a resolver that returns anything else than its type is a fault
        of the desk's code."""
        resolved = await self.function(key, principal, ctx)
        several: tuple[Authority, ...]
        if resolved is None:
            several = ()
        elif isinstance(resolved, Authority):
            several = (resolved,)
        else:
            several = tuple(resolved)
        for thing in several:
            if not isinstance(thing, self.kind):
                raise TypeError(
                    f"the resolver of {self.kind.__name__} returned a {type(thing).__name__}"
                )
        return several


def _gives_authority(kind: object) -> bool:
    return inspect.isclass(kind) and issubclass(kind, Authority)


def resolver(kind: type[Authority]) -> Callable[[ResolverFunction], Resolver]:
    """Make an async function `(key, principal, ctx)` the way to find things of this type: one,
    several or None."""

    def decorate(function: ResolverFunction) -> Resolver:
        place = place_of(function)
        if not _gives_authority(kind):
            raise place.error(
                f"@resolver takes a type that gives authority, not {kind!r}", fix="subclass Owned"
            )
        if not inspect.iscoroutinefunction(function):
            raise place.error(f"the resolver of {kind.__name__} must be an async function")
        try:
            inspect.signature(function).bind("key", "principal", "ctx")
        except TypeError:
            fix = "write `(key: str, principal: Principal, ctx: Context)`"
            raise place.error(
                f"the resolver of {kind.__name__} takes three arguments", fix=fix
            ) from None
        return declare(Resolver(kind, function, place))

    return decorate
