"""The tools every desk has by name: an agent or a plan is offered those it lists."""

from deskhand.ports import SearchesWeb
from deskhand.tools.closing import EffectsOf, closing_tools
from deskhand.tools.registry import Tool
from deskhand.tools.web_search import WEB_SEARCH, web_search_tool

MAY_BE_ABSENT = (WEB_SEARCH,)
"""Known by name, but offered only where the desk says whom to ask."""


def built_in_tools(
    effects_of: EffectsOf,
    replies_per_run: int,
    engine: SearchesWeb | None = None,
    limit: int = 5,
    timeout: float = 10.0,
) -> tuple[Tool, ...]:
    searching = () if engine is None else (web_search_tool(engine, limit, timeout),)
    return (*closing_tools(effects_of, replies_per_run), *searching)
