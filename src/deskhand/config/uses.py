"""What the stages of a desk make use of."""

from collections.abc import Iterator

from deskhand.config.desk import DeskSpec
from deskhand.model.spec import AgentSpec

RETRIEVE = "retrieve"
"""The service that looks for articles and earlier messages."""


def offers_tool(spec: DeskSpec, tool: str) -> bool:
    """Whether any stage of the desk may call this tool."""
    return any(tool in stage.tools for stage in _stages(spec))


def remembers(spec: DeskSpec) -> bool:
    """Whether any stage looks for earlier messages, so that answered ones are worth keeping."""
    return any(stage.service == RETRIEVE for stage in _stages(spec))


def _stages(spec: DeskSpec) -> Iterator[AgentSpec]:
    for flow in spec.flows.values():
        yield from flow.stages.values()
