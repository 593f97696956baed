"""A desk read from its folder, together with the code it brings."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskhand.config.desk import DeskSpec, load_desk
from deskhand.config.sections.mcp import McpToolSpec
from deskhand.config.tool_shape import ToolShape
from deskhand.config.without_model import stand_ins
from deskhand.errors import ToolError
from deskhand.tools.brought_code import DeskCode
from deskhand.tools.shapes import BUILT_IN_SERVICES, BUILT_IN_SHAPES, OFFICE_SHAPES
from deskhand.wiring.desk_folders import find_desk

if TYPE_CHECKING:  # a desk without code of its own is read without what runs tools
    from deskhand.evals.cases import Case
    from deskhand.evals.scorers import Scorer
    from deskhand.tools.registry import Tool


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
    code = _read_code(folder / "tools.py")
    spec = load_desk(
        folder,
        tools=_tool_shapes(code),
        services={*BUILT_IN_SERVICES, *code.services},
        policy=policy,
        message_facts={fact.name: fact.kind for fact in code.message_facts},
        preprocessors=tuple(code.preprocessors),
    )
    return LoadedDesk(_with_stand_ins(spec), code)


def _read_code(path: Path) -> DeskCode:
    if not path.is_file():
        return DeskCode()
    from deskhand.tools.desk_code import load_tools

    return load_tools(path)


def _tool_shapes(code: DeskCode) -> dict[str, ToolShape]:
    """All tools that a desk's configuration may name."""
    shapes = {**OFFICE_SHAPES, **BUILT_IN_SHAPES}
    if not code.tools:
        return shapes
    from deskhand.tools.registry import shape_of

    for tool in code.tools:
        if tool.name in BUILT_IN_SHAPES:
            raise tool.place.error(
                f"{tool.name!r} is a tool that every desk has already", fix="rename this one"
            )
        shapes[tool.name] = shape_of(tool)
    return shapes


def _with_stand_ins(spec: DeskSpec) -> DeskSpec:
    """The spec with the flows that work in place of agents without a model."""
    if not spec.profiles:
        return spec
    from deskhand.wiring.models import without_models

    return spec.model_copy(update={"stand_ins": stand_ins(spec, without_models(spec))})


def server_tools(loaded: LoadedDesk) -> "tuple[Tool, ...]":
    """The tools that servers bring, as they were accepted: to look at, not to be run."""
    if not loaded.spec.mcp.tools:
        return ()
    from deskhand.tools.pinned import pinned_tool

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
    from deskhand.brain.override import with_brain_kind

    return replace(loaded, spec=_with_stand_ins(with_brain_kind(loaded.spec, kind)))


def desk_cases(loaded: LoadedDesk) -> "tuple[list[Case], dict[str, Scorer]]":
    """A desk's golden cases and the scorers that its tools.py and evals.py bring."""
    from deskhand.evals.cases import CaseDesk, load_cases
    from deskhand.evals.scorers import scorers_in

    own = loaded.spec.folder / "evals.py"
    declared = _read_code(own).declared
    scorers = scorers_in((*loaded.code.declared, *declared))
    brought = [tool.name for tool in (*loaded.code.tools, *server_tools(loaded))]
    tools = frozenset((*OFFICE_SHAPES, *BUILT_IN_SHAPES, *brought))
    return load_cases(CaseDesk(loaded.spec, tools, frozenset(scorers))), scorers
