"""A desk read from its folder, together with the code it brings."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskhand.brain.override import with_brain_kind
from deskhand.config.desk import DeskSpec, load_desk
from deskhand.config.sections.mcp import McpToolSpec
from deskhand.config.tool_shape import ToolShape
from deskhand.config.without_model import stand_ins
from deskhand.errors import ToolError
from deskhand.tools.built_in import built_in_shapes
from deskhand.tools.desk_code import DeskCode, load_tools
from deskhand.tools.office import OFFICE_SHAPES
from deskhand.tools.pinned import pinned_tool
from deskhand.tools.registry import Tool, shape_of
from deskhand.tools.services import BUILT_IN_SERVICES
from deskhand.wiring.desk_folders import find_desk
from deskhand.wiring.models import without_models

if TYPE_CHECKING:
    from deskhand.evals.cases import Case
    from deskhand.evals.scorers import Scorer


@dataclass(frozen=True, slots=True)
class LoadedDesk:
    """A desk's configuration together with the code it brings."""

    spec: DeskSpec
    code: DeskCode


def read_desk(name: str, *, policy: Path | None = None) -> LoadedDesk:
    """Read and check a desk as a whole; `policy` takes the place of its own rules.

    Raises ConfigErrors with every problem.
    """
    folder = find_desk(name)
    path = folder / "tools.py"
    code = load_tools(path) if path.is_file() else DeskCode((), {}, {}, {})
    spec = load_desk(
        folder,
        tools=_tool_shapes(code),
        services={*BUILT_IN_SERVICES, *code.services},
        policy=policy,
        message_facts={fact.name: fact.kind for fact in code.message_facts},
        preprocessors=tuple(code.preprocessors),
    )
    return LoadedDesk(_with_stand_ins(spec), code)


def _tool_shapes(code: DeskCode) -> dict[str, ToolShape]:
    """All tools that a desk's configuration may name."""
    built_in = built_in_shapes()
    shapes = {**OFFICE_SHAPES, **built_in}
    for tool in code.tools:
        if tool.name in built_in:
            raise tool.place.error(
                f"{tool.name!r} is a tool that every desk has already", fix="rename this one"
            )
        shapes[tool.name] = shape_of(tool)
    return shapes


def _with_stand_ins(spec: DeskSpec) -> DeskSpec:
    """The spec with the flows that work in place of agents without a model."""
    return spec.model_copy(update={"stand_ins": stand_ins(spec, without_models(spec))})


def server_tools(loaded: LoadedDesk) -> tuple[Tool, ...]:
    """The tools that servers bring, as they were accepted: to look at, not to be run."""
    return tuple(pinned_tool(tool, not_asked) for tool in loaded.spec.mcp.tools)


async def not_asked(tool: McpToolSpec, arguments: dict[str, Any]) -> dict[str, Any]:
    """Stands in for a server's tool in a sandbox; raises ToolError."""
    words = (
        f"where messages are only tried, {tool.server} is not asked; give a result under `given:"
        " {tools: ...}`"
    )
    raise ToolError("not_asked", words, recoverable=False)


def with_brain(loaded: LoadedDesk, kind: str | None) -> LoadedDesk:
    """The same desk with another brain; its own where `kind` is None."""
    if kind is None:
        return loaded
    return replace(loaded, spec=_with_stand_ins(with_brain_kind(loaded.spec, kind)))


def desk_cases(loaded: LoadedDesk) -> "tuple[list[Case], dict[str, Scorer]]":
    """A desk's golden cases and the scorers that its tools.py and evals.py bring."""
    from deskhand.evals.cases import Desk as CaseDesk
    from deskhand.evals.cases import load_cases
    from deskhand.evals.scorers import scorers_in

    own = loaded.spec.folder / "evals.py"
    declared = load_tools(own).declared if own.is_file() else ()
    scorers = scorers_in((*loaded.code.declared, *declared))
    brought = [tool.name for tool in (*loaded.code.tools, *server_tools(loaded))]
    tools = frozenset((*OFFICE_SHAPES, *built_in_shapes(), *brought))
    return load_cases(CaseDesk(loaded.spec, tools, frozenset(scorers))), scorers
