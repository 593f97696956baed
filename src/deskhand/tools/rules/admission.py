"""Profile and arguments: exact names, typed values."""

from difflib import get_close_matches

from deskhand.model.codes import ErrorCode
from deskhand.tools.gate_call import GateCall, Ruling, Terms, deny
from deskhand.tools.schema import ArgumentsInvalid


def not_listed(call: GateCall, terms: Terms) -> Ruling | None:
    if call.name in call.allowed:
        return None
    close = get_close_matches(call.name, call.allowed, n=1)
    hint = (
        f"did you mean {close[0]}?" if close else f"available: {', '.join(call.allowed) or 'none'}"
    )
    return deny("not_listed", f"the tool {call.name} is not available here; {hint}")


def unknown_tool(call: GateCall, terms: Terms) -> Ruling | None:
    if call.tool is not None:
        return None
    return deny("unknown_tool", f"there is no tool {call.name}", code=ErrorCode.TOOL_UNKNOWN)


def unreadable_arguments(call: GateCall, terms: Terms) -> Ruling | None:
    if call.note is None or not call.admitted_tool.changes_something:
        return None
    return deny("unreadable_arguments", call.note, code=ErrorCode.TOOL_ARGUMENTS_INVALID)


def invalid_arguments(call: GateCall, terms: Terms) -> Ruling | None:
    if not isinstance(call.checked, ArgumentsInvalid):
        return None
    return Ruling(
        "deny", "invalid_arguments", str(call.checked), details=call.checked.details, liftable=False
    )
