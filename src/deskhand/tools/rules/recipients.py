"""Where something may be sent: to the principal, to whoever wrote, to the operator's own list."""

from collections.abc import Iterator
from typing import Any

from deskhand.model.message import CLOSING_TOOLS
from deskhand.tools.authority import SenderAddress
from deskhand.tools.gate_call import GateCall, Ruling, Terms, deny, hold

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
    allowed = _known(call) | terms.recipients
    named = list(_addresses(call))
    for (
        argument,
        address,
    ) in named:  # all of them first: an approval lifts what is held, and what is said after it
        if any(ord(character) < 32 or ord(character) == 127 for character in address):
            return deny(
                "recipient",
                f"{argument}: there are control characters in the address",
                "No such address.",
            )
    for argument, address in named:
        if address.strip().casefold() not in allowed:
            reason = (
                f"{argument}: {address} is neither the principal's address, nor the sender's, nor"
                " on the desk's list"
            )
            return hold("recipient", reason, "This address has to be looked at by a colleague.")
    return None


def _known(call: GateCall) -> set[str]:
    """A Cc or Reply-To that an outsider wrote is not among them."""
    message = call.ctx.envelope.message
    addresses = (call.principal.address, None if message is None else message.sender.address)
    return {address.strip().casefold() for address in addresses if address and address.strip()}


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
