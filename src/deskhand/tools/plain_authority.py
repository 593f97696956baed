"""Parameters that name an object, an address or a command in plain text: authority that nobody
can check."""

import re
from typing import Any, get_args

from deskhand.tools.registry import Tool

_OBJECT = re.compile(
    r"(?:.*_)?(?:id|iban|account|account_number|card|card_number|bic)", re.IGNORECASE
)
_ADDRESS = re.compile(
    r"to|cc|bcc|recipients?|(?:.*_)?e_?mail|(?:.*_)?address|reply_to|phone|(?:.*_)?url",
    re.IGNORECASE,
)
_FREE = re.compile(
    r"sql|shell|cmd|command|script|code|(?:.*_)?url|uri|webhook|file_?path", re.IGNORECASE
)
_THING = re.compile(
    r"(?:.*_)?(?:order|invoice|booking|reservation|ticket|parcel|shipment|delivery|customer|member"
    r"|contract|subscription|claim|loan|prescription|payment)(?:_(?:id|key|no|nr|number|ref))?",
    re.IGNORECASE,
)
"""What usually belongs to somebody."""
_AMOUNT = re.compile(r"(?:.*_)?amount|price|total|refund", re.IGNORECASE)


def plain_authority(tool: Tool) -> list[str]:
    """The parameters of a tool that give authority as plain text."""
    return [
        name for name in tool.signature.fields if _is_plain(tool, name) and names_authority(name)
    ]


def concerns(tool: Tool) -> list[str]:
    """What an engineer should know about a tool's parameters, in words; nothing for most tools."""
    problems: list[str] = []
    for name in tool.signature.fields:
        if _is_text(tool, name) and _FREE.fullmatch(name):
            problems.append(
                f"{name} is free text that something else will execute or fetch: take a typed value"
                " instead"
            )
        elif tool.changes_something and name in plain_authority(tool):
            better = (
                "SenderAddress"
                if _ADDRESS.fullmatch(name)
                else "a type of its own (Owned, OwnedOrder, Slot)"
            )
            problems.append(
                f"{name} names something in plain text, so nobody checks whose it is: use {better}"
            )
        elif not tool.public and _is_text(tool, name) and _THING.fullmatch(name):
            problems.append(
                f"{name} names in plain text what belongs to somebody, and nobody checks whose it"
                " is: use a type of its own (Owned, OwnedOrder), or say public=True"
            )
        elif tool.changes_something and _is_number(tool, name) and _AMOUNT.fullmatch(name):
            problems.append(f"{name} is a bare number, which no cap counts: use Money")
    return problems


def names_authority(name: str) -> bool:
    """Whether a parameter of this name says which object, address or command is meant."""
    return any(pattern.fullmatch(name) for pattern in (_OBJECT, _ADDRESS, _FREE))


def _is_plain(tool: Tool, name: str) -> bool:
    return _is_text(tool, name) or _has(tool, name, int)


def _is_text(tool: Tool, name: str) -> bool:
    return _has(tool, name, str)


def _is_number(tool: Tool, name: str) -> bool:
    return _has(tool, name, int) or _has(tool, name, float)


def _has(tool: Tool, name: str, kind: type) -> bool:
    return name not in tool.signature.bound and kind in _parts(tool.signature.hints.get(name))


def _parts(hint: Any) -> list[Any]:
    """The plain types in a type: str of `Annotated[str | None, ...]` and of `list[str]`."""
    inside = [inner for inner in get_args(hint) if isinstance(inner, type) or get_args(inner)]
    return [hint, *(part for inner in inside for part in _parts(inner))]
