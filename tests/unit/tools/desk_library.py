"""A tool that several desks import."""

from deskhand.tools import tool


@tool(effect="read")
def shared_tool() -> None:
    """Look something up for any desk."""
