"""Profile and arguments: exact names, typed values."""

from difflib import get_close_matches

from deskhand.model.codes import ErrorCode
from deskhand.tools.case import Case, Ruling, Terms, deny
from deskhand.tools.schema import ArgumentsInvalid


def not_listed(case: Case, terms: Terms) -> Ruling | None:
    if case.name in case.allowed:
        return None
    close = get_close_matches(case.name, case.allowed, n=1)
    hint = (
        f"did you mean {close[0]}?" if close else f"available: {', '.join(case.allowed) or 'none'}"
    )
    return deny("not_listed", f"the tool {case.name} is not available here; {hint}")


def unknown_tool(case: Case, terms: Terms) -> Ruling | None:
    if case.tool is not None:
        return None
    return deny("unknown_tool", f"there is no tool {case.name}", code=ErrorCode.TOOL_UNKNOWN)


def unreadable_arguments(case: Case, terms: Terms) -> Ruling | None:
    if case.note is None or not case.called.changes_something:
        return None
    return deny("unreadable_arguments", case.note, code=ErrorCode.TOOL_ARGUMENTS_INVALID)


def invalid_arguments(case: Case, terms: Terms) -> Ruling | None:
    if not isinstance(case.checked, ArgumentsInvalid):
        return None
    return Ruling(
        "deny", "invalid_arguments", str(case.checked), details=case.checked.details, liftable=False
    )
