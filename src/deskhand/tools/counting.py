"""What a call adds to the desk's totals, and the facts a policy judges it by."""

from datetime import datetime
from functools import lru_cache
from typing import Any

from deskhand.model.message import CHAT, CLOSING_TOOLS, DELIVER
from deskhand.model.principal import Principal, PrincipalKind
from deskhand.model.totals import (
    ADDRESSED_SENDS,
    CALLS,
    SENDS,
    UNPROVEN_SENDS,
    CountedEffect,
    Limit,
    Scope,
    Sums,
    TotalKey,
    counted_money,
)
from deskhand.model.understanding import Understanding
from deskhand.policy.call_facts import CallFacts
from deskhand.ports import Effects
from deskhand.tools.argument_readings import declared_readings, plain_reading
from deskhand.tools.authority import SenderAddress
from deskhand.tools.gate_call import GateCall, Terms
from deskhand.tools.message_facts import told_of
from deskhand.tools.provenance import Sources


async def describe(call: GateCall, terms: Terms, ledger: Effects) -> None:
    """Where the arguments came from and what the totals were, as the facts of this call."""
    tool, envelope, arguments = call.admitted_tool, call.ctx.envelope, call.canonical
    constants = terms.constants.get(tool.name, {})
    defaults = {name: value for name, value in arguments.items() if name not in call.given}
    written = {**{name: list(values) for name, values in constants.items()}, **defaults}
    sources = Sources(call.principal, envelope, written, terms.model_outputs, terms.outside)
    call.origin = {name: sources.origin(name, value) for name, value in arguments.items()}
    call.said_to_be_read = declared_readings(envelope, arguments, terms.model_outputs)
    call.read = {
        name: call.said_to_be_read.get(name)
        or plain_reading(call.origin[name], was_given=name in call.given)
        for name in arguments
    }
    call.offered = frozenset(
        (lookup.argument, lookup.key)
        for lookup in call.lookups
        if lookup.kind.must_be_offered and sources.offers(lookup.key)
    )
    sums = Sums()
    if terms.policy is not None and tool.changes_something:
        sums = Sums.of(await ledger.totals(places(call, terms)))
    message = envelope.message
    understanding = Understanding.of(envelope)
    message_facts = {} if terms.policy is None else told_of(envelope, terms.message_facts)
    call.facts = CallFacts(
        tool=tool.name,
        effect=str(tool.effect),
        risk=str(tool.risk),
        at=datetime.fromtimestamp(call.now, terms.time_zone),
        arguments=arguments,
        principal=dict(_known_of(call.principal)),
        intent=understanding.intent_id,
        category=understanding.category,
        channel=message.channel if message is not None else None,
        language=understanding.language,
        message=message_facts,
        totals=sums.facts(),
        origin=call.origin,
        read=call.read,
        objects=_objects(call),
        open_amounts=tuple(map(str, call.open_amounts)),
    )


def added_by(call: GateCall, terms: Terms, limits: tuple[Limit, ...]) -> CountedEffect:
    units = {CALLS: 1} | {
        currency: counted_money(moved.amount) for currency, moved in call.money.items()
    }
    if sends(call):
        units[SENDS] = 1
    if sends(call) and not says_in_chat(call):
        units[ADDRESSED_SENDS] = 1
        if call.principal.kind is PrincipalKind.ANONYMOUS:
            units[UNPROVEN_SENDS] = 1
    return CountedEffect(places(call, terms), units, limits, call.heeds_stop)


def places(call: GateCall, terms: Terms) -> dict[Scope, TotalKey]:
    """A sender nobody vouched for is counted under the address he wrote from."""
    message = call.ctx.envelope.message
    sender = "" if message is None else f"unproven:{message.sender.address.strip().lower()}"
    day = datetime.fromtimestamp(call.now, terms.time_zone).date().isoformat()
    conversation = call.key.run_id if message is None else message.conversation
    return {
        "conversation": (conversation, ""),
        "principal": (call.principal.name or sender, day),
        "day": ("", day),
    }


def sends(call: GateCall) -> bool:
    """Whether the call sends something. A reply handed in counts when it is delivered."""
    if call.name in CLOSING_TOOLS:
        return False
    bound = call.admitted_tool.signature.bound.values()
    return call.name == DELIVER or any(
        issubclass(parameter.kind, SenderAddress) for parameter in bound
    )


def says_in_chat(call: GateCall) -> bool:
    """Whether the call adds a line to the chat in which its message came: nobody gets mail."""
    message = call.ctx.envelope.message
    if call.name != DELIVER or message is None or message.channel != CHAT:
        return False
    return "@" not in str(call.canonical.get("to")) and not call.canonical.get("cc")


def _objects(call: GateCall) -> dict[str, Any]:
    """What the tool would be given: where a key means several things, the only one that is the
    principal's."""
    objects: dict[str, Any] = {}
    for lookup in call.lookups:
        own = [
            thing.model_dump(mode="json")
            for thing in lookup.things
            if thing.belongs_to(call.principal)
        ]
        if len(own) != 1:
            continue
        if isinstance(call.arguments.values[lookup.argument], list):
            objects.setdefault(lookup.argument, []).append(own[0])
        else:
            objects[lookup.argument] = own[0]
    return objects


@lru_cache(maxsize=1024)
def _known_of(principal: Principal) -> dict[str, Any]:
    hidden = {"how"} if principal.only else {"how", "only"}
    return principal.model_dump(mode="json", exclude_none=True, exclude=hidden)
