"""Where something may be sent: to the principal, to whoever wrote, to the operator's own list."""

import re
from collections.abc import Iterator
from typing import Any

from deskhand.mail.reply_to import is_nobody
from deskhand.model.message import CLOSING_TOOLS, ENGINE_TOOLS
from deskhand.tools.authority import SenderAddress
from deskhand.tools.gate_call import GateCall, Ruling, Terms, deny, hold

RECIPIENT = "recipient"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
NAMES = frozenset(
    (
        "to",
        "cc",
        "bcc",
        "recipient",
        "recipients",
        "email",
        "e_mail",
        "reply_to",
        "send_to",
        "mail_to",
        "address_to",
    )
)
"""Parameters that name a recipient even when they are plain text."""


def recipient(call: GateCall, terms: Terms) -> Ruling | None:
    if (
        not call.admitted_tool.changes_something or call.name in CLOSING_TOOLS
    ):  # asked about the delivery that follows
        return None
    named = list(_addresses(call))
    # denials first: an approval lifts what is held, and what is said after it
    denied = _denied(call, terms, named)
    if denied is not None:
        return denied
    allowed = _known_addresses(call, terms) | terms.recipients
    for argument, address in named:
        if address.strip().casefold() not in allowed:
            return _held(call, argument, address)
    return None


def _denied(call: GateCall, terms: Terms, named: list[tuple[str, str]]) -> Ruling | None:
    for argument, address in named:
        if _CONTROL.search(address):
            reason = f"{argument}: there are control characters in the address"
            return deny(RECIPIENT, reason, "No such address.")
        if call.name in ENGINE_TOOLS and address.strip().casefold() in terms.unread:
            reason = f"no customer reads {address}, which is ours or a helpdesk's own"
            return deny(RECIPIENT, f"{argument}: {reason}", reason)
    return None


def _held(call: GateCall, argument: str, address: str) -> Ruling:
    """Held for a person; an approval cannot say where a reply goes that has no address."""
    message = call.ctx.envelope.message
    goes = None if message is None else message.reply_addresses
    reason = (
        f"{argument}: {address} is neither the principal's address, nor the sender's, nor"
        " on the desk's list"
    )
    is_asked_for = goes is not None and address in (goes.to, *goes.cc)
    if goes is not None and goes.doubt is not None and is_asked_for:
        reason = goes.doubt
    words = "This address has to be looked at by a colleague."
    return hold(RECIPIENT, reason, words, liftable=bool(address.strip()))


def _known_addresses(call: GateCall, terms: Terms) -> set[str]:
    """A Cc or Reply-To of another domain than the proven sender's is not among them."""
    message = call.ctx.envelope.message
    addresses = [call.principal.address]
    if message is not None:
        goes = message.reply_addresses
        addresses.append(message.sender.address)
        if goes is not None and goes.doubt is None:
            addresses += [goes.to, *goes.cc]
    known_addresses = {
        address.strip().casefold() for address in addresses if address and address.strip()
    }
    return {address for address in known_addresses - terms.unread if not is_nobody(address)}


def _addresses(call: GateCall) -> Iterator[tuple[str, str]]:
    signature = call.admitted_tool.signature
    typed = {
        name for name, bound in signature.bound.items() if issubclass(bound.kind, SenderAddress)
    }
    for name, value in call.canonical.items():
        if name in typed or (name not in signature.bound and name.casefold() in NAMES):
            yield from ((name, address) for address in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
