"""Finds another customer's data in a tool's result and keeps it from the model."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from deskhand.model.codes import ErrorCode
from deskhand.model.principal import Principal
from deskhand.model.results import ToolErrorDetails, ToolResult
from deskhand.tools.authority import Customer, Owned, same_address

OWNER_FIELDS = frozenset(("customer_id", "customerid", "owner", "owner_id", "ownerid"))
MOST_VALUES = 20_000
_LEAVES = frozenset((str, int, float, bool, type(None)))


def strangers_data(value: Any, principal: Principal) -> str | None:
    """Where a result holds another owner's data; None where it holds none."""
    left: list[tuple[str, Any]] = [("result", value)]
    seen: set[int] = set()
    while left:
        path, here = left.pop()
        if id(here) in seen:
            continue
        if isinstance(here, Owned | Customer) and not here.belongs_to(principal):
            return f"{path} is a {type(here).__name__} of somebody else"
        inside = _inside(here)
        if inside:
            seen.add(id(here))
        if (field := _field_of_another(inside, principal)) is not None:
            return f"{path}.{field} names another owner"
        left += _further(path, inside)
        if len(seen) > MOST_VALUES:
            return f"{path} is too large to look through"
    return None


def _further(path: str, inside: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """What has parts of its own to look at, each with its path."""
    deeper = [(name, item) for name, item in inside if type(item) not in _LEAVES]
    return [(".".join(filter(None, (path, name))), item) for name, item in deeper]


def _field_of_another(inside: list[tuple[str, Any]], principal: Principal) -> str | None:
    """The first field that names an owner other than the principal."""
    for name, item in inside:
        names_owner = name.casefold().replace("-", "_") in OWNER_FIELDS
        if names_owner and not _is_own(item, principal):
            return name
    return None


def withheld(tool: str, whose: str) -> ToolResult:
    """Tells the model and the row that something was withheld, not what."""
    message = f"the result of {tool} was withheld: it held data of another customer"
    details = {"withheld": whose}
    error = ToolErrorDetails(
        error_type=ErrorCode.TOOL_RESULT_WITHHELD,
        message=message,
        details=details,
        recoverable=False,
    )
    return ToolResult.failure(error)


def _inside(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, BaseModel):
        return list(value)
    if isinstance(value, Mapping):
        return [(str(name), item) for name, item in value.items()]
    if isinstance(value, list | tuple | set | frozenset):
        return [("", item) for item in value]
    fields = getattr(value, "__dataclass_fields__", None)
    if not fields or isinstance(value, type):
        return []
    return [(name, getattr(value, name)) for name in fields]


def _is_own(owner: Any, principal: Principal) -> bool:
    if owner is None or owner == "" or not isinstance(owner, str | int):
        return True
    named = str(owner)
    if not principal.owns:
        return False
    if principal.customer_id is not None and named == principal.customer_id:
        return True
    return "@" in named and principal.address is not None and same_address(named, principal.address)
