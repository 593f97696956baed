"""A tool as configuration and policies see it."""

from deskhand.config.tool_shape import ToolShape
from deskhand.tools.authority import Authority
from deskhand.tools.registry import Tool


def shape_of(tool: Tool) -> ToolShape:
    schema = tool.signature.schema
    return ToolShape(
        name=tool.name,
        effect=str(tool.effect),
        risk=str(tool.risk),
        arguments=schema["properties"],
        required=frozenset(schema["required"]),
        objects=frozenset(
            name
            for name, bound in tool.signature.bound.items()
            if issubclass(bound.kind, Authority)
        ),
    )
