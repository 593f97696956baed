"""Asking a desk's resolvers: who the principal is as a customer, and what the keys in a call's
arguments mean."""

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from deskhand.errors import Fenced, StoreUnavailable
from deskhand.model.principal import Principal
from deskhand.model.understanding import Understanding
from deskhand.outgoing.content import identifiers_in
from deskhand.tools.authority import Authority, Customer, CustomerId, Owned, Resolver, SenderAddress
from deskhand.tools.context import Context
from deskhand.tools.gate_call import GateCall, Lookup, Ruling, deny, hold
from deskhand.tools.parameters import Injected
from deskhand.tools.running import run_within

MOST_LOOKED_UP = 50
"""Words of one reply that are asked about; a reply with more is for a person to look at."""


class LookupFailed(Exception):
    """A resolver broke or did not answer: nothing is known, so nothing is allowed."""

    def __init__(self, kind: type[Authority], cause: Exception) -> None:
        super().__init__(f"{kind.__name__} could not be looked up: {type(cause).__name__}")

    def ruling(self, call: GateCall) -> Ruling:
        say = "It could not be looked up; try again later."
        if call.admitted_tool.changes_something:
            return hold("lookup_failed", str(self), say, liftable=False)
        return deny("lookup_failed", str(self), say)


class Lookups:
    """The desk's resolvers by exact type."""

    def __init__(self, resolvers: Iterable[Resolver]) -> None:
        self._resolvers = {resolver.kind: resolver for resolver in resolvers}

    async def identify(self, principal: Principal, context: Context, seconds: float) -> Principal:
        """The principal with the customer id and tier that the desk knows him under."""
        resolver = next(
            (
                resolver_of_kind
                for kind, resolver_of_kind in self._resolvers.items()
                if issubclass(kind, Customer)
            ),
            None,
        )
        key = principal.customer_id or principal.address
        if resolver is None or key is None or not principal.owns:
            return principal
        customers = await self._ask(resolver, key, principal, context, seconds)
        if len(customers) != 1 or not customers[0].belongs_to(principal):
            return principal
        customer = customers[0]
        assert isinstance(customer, Customer)
        return principal.changed(customer_id=customer.id, tier=customer.tier or principal.tier)

    async def resolve(self, call: GateCall, context: Context) -> None:
        """Find what every key means, whoever it belongs to; the rules decide about that."""
        for argument, bound in call.admitted_tool.signature.bound.items():
            if issubclass(bound.kind, SenderAddress):
                continue
            for key in _keys_in(call.arguments.values[argument]):
                things = await self._find(bound.kind, str(key), call, context)
                call.lookups.append(Lookup(argument, str(key), bound.kind, things))

    @property
    def knows_owners(self) -> bool:
        return any(issubclass(kind, Owned) for kind in self._resolvers)

    async def strangers(
        self, words: Iterable[str], principal: Principal, context: Context, seconds: float
    ) -> list[str]:
        """Those of the words that name something of somebody else's, or that nobody could look
        up just now."""
        owned = [resolver for kind, resolver in self._resolvers.items() if issubclass(kind, Owned)]

        async def is_strange(word: str) -> bool:
            for resolver in owned:
                try:
                    things = await self._ask(resolver, word, principal, context, seconds)
                except LookupFailed:
                    return True
                if things and not any(thing.belongs_to(principal) for thing in things):
                    return True
            return False

        return [word for word in words if await is_strange(word)]

    async def named_of_others(self, call: GateCall, text: str, context: Context) -> tuple[str, ...]:
        """What a text for the customer names of other customers'. The sender's own words and an
        article's may be repeated, as long as no tool told more about them in this run."""
        if not self.knows_owners:
            return ()
        message = call.ctx.envelope.message
        said = () if message is None else (message.subject, message.body)
        mentioned = set(identifiers_in("\n".join((*said, *call.cited))))
        mentioned -= set(identifiers_in(_told_by_tools(call)))
        named = [word for word in identifiers_in(text) if word not in mentioned]
        if not named:
            return ()
        seconds, whose = call.admitted_tool.timeout, call.principal
        with suppress(LookupFailed):  # then the numbers are for a person to look at
            whose = await self.identify(whose, context, seconds)
        strange = await self.strangers(named[:MOST_LOOKED_UP], whose, context, seconds)
        return (*strange, *named[MOST_LOOKED_UP:])

    def filled(self, call: GateCall, context: Context) -> dict[str, Any]:
        """The arguments as the tool's function takes them: things for keys, and what the gate
        fills itself."""
        values = dict(call.arguments.values)
        for argument, bound in call.admitted_tool.signature.bound.items():
            given = values[argument]
            if given is None:
                continue
            several: list[Any]
            if issubclass(bound.kind, SenderAddress):
                several = [SenderAddress(address) for address in _keys_in(given)]
            else:
                lookups = [lookup for lookup in call.lookups if lookup.argument == argument]
                several = [lookup.chosen_for(call.principal) for lookup in lookups]
            values[argument] = several if isinstance(given, list) else several[0]
        for name, wanted in call.admitted_tool.signature.injected.items():
            values[name] = _injected(wanted, call.principal, context)
        return values

    async def _find(
        self, kind: type[Authority], key: str, call: GateCall, context: Context
    ) -> tuple[Authority, ...]:
        resolver = self._resolvers.get(kind)
        if resolver is None:
            raise LookupError(f"the desk has no resolver of {kind.__name__}")
        return await self._ask(resolver, key, call.principal, context, call.admitted_tool.timeout)

    async def _ask(
        self, resolver: Resolver, key: str, principal: Principal, context: Context, seconds: float
    ) -> tuple[Authority, ...]:
        async def ask() -> tuple[Authority, ...]:
            return await resolver(key, principal, context)

        try:
            things: tuple[Authority, ...] = await run_within(
                seconds, ask, {}, what=f"the resolver of {resolver.kind.__name__}"
            )
        except (Fenced, StoreUnavailable):
            raise
        except Exception as error:
            context.log.warning(
                "the resolver of %s failed: %r", resolver.kind.__name__, error, exc_info=error
            )
            raise LookupFailed(resolver.kind, error) from error
        return things


def _told_by_tools(call: GateCall) -> str:
    """Everything that tools were asked and said in this run, whoever it is about."""
    results = Understanding.of(call.ctx.envelope).results
    return json.dumps([dict(result) for result in results], default=str, ensure_ascii=False)


def _keys_in(given: Any) -> list[Any]:
    """The keys that an argument holds: none, one or several."""
    if given is None:
        return []
    return given if isinstance(given, list) else [given]


def _injected(wanted: Injected, principal: Principal, context: Context) -> Any:
    customer_id = principal.customer_id
    if issubclass(wanted.kind, Context):
        return context
    if issubclass(wanted.kind, Principal):
        return principal
    if customer_id is None:
        return None
    if issubclass(wanted.kind, CustomerId):
        return CustomerId(customer_id)
    return Customer(id=customer_id, address=principal.address, tier=principal.tier)
