"""What happened to a message before its first stage: read, believed, routed."""

from typing import NamedTuple

from rich.text import Text

from deskhand.cli.terminal import printable
from deskhand.model.message import Message
from deskhand.model.principal import ANONYMOUS, PrincipalKind

_PROOF = {
    PrincipalKind.ANONYMOUS: "nobody in particular",
    PrincipalKind.FORWARDED: "good for reading and answering",
    PrincipalKind.SENDER: "proven",
    PrincipalKind.LOGIN: "logged in",
    PrincipalKind.CODE: "proven for single things",
    PrincipalKind.ASSERTED: "vouched for",
}


class IntakeLine(NamedTuple):
    sign: str
    name: str
    detail: Text


def intake_lines(message: Message) -> list[IntakeLine]:
    """Only what there is to say: a desk without rules, helpdesks and proof gives none."""
    return [
        line for line in (_read(message), _believed(message), _routed(message)) if line is not None
    ]


def _read(message: Message) -> IntakeLine | None:
    read = message.prepared
    if read is None:
        return None
    if read.failed is not None:
        return IntakeLine(
            "⇣", read.by, Text(printable(f"could not read it: {read.failed}"), style="yellow")
        )
    who = f"{read.name} <{read.address}>" if read.name else read.address
    return IntakeLine("⇣", read.by, Text(printable(f"the words of {who}")))


def _believed(message: Message) -> IntakeLine | None:
    principal = message.principal
    if principal == ANONYMOUS:
        return None
    who = principal.customer_id or principal.address or "nobody"
    return IntakeLine(
        "⚿",
        "principal",
        Text(printable(f"{who}, {_PROOF[principal.kind]}")).append(
            f"  {printable(principal.how)}", style="dim"
        ),
    )


def _routed(message: Message) -> IntakeLine | None:
    route = message.route
    if route is None or route.rule is None:
        return None
    words = Text(printable(f"{route.flow}, by {route.rule}")).append(
        f"  {printable(route.why)}", style="dim"
    )
    return IntakeLine("➜", "route", words)
