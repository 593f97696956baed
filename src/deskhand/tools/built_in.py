"""The tools every desk has by name: an agent or a plan is offered those it lists."""

from dataclasses import replace
from functools import cache

from deskhand.config.tool_shape import ToolShape
from deskhand.ports import SearchesWeb
from deskhand.tools.closing import EffectsOf, closing_tools
from deskhand.tools.registry import Tool, shape_of
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


@cache
def built_in_shapes() -> dict[str, ToolShape]:
    """What configuration knows of them: they need no rule of a policy, but one may speak of
    them."""
    tools = (*closing_tools(), web_search_tool(_NoEngine()))
    return {tool.name: replace(shape_of(tool), built_in=True) for tool in tools}


class _NoEngine:
    async def search(self, query: str) -> list[dict[str, str]]:
        return []
