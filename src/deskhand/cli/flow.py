"""`deskhand flow show` draws a desk's flows; `deskhand schema` tells what its file may contain."""

from typing import Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.terminal import print_json, print_plain

app = typer.Typer(help="A desk's flows.", no_args_is_help=True)


@app.callback()
def flow() -> None:
    """A desk's flows."""


@app.command("show")
def show(
    desk: options.Desk,
    flow: Annotated[str | None, typer.Option("--flow", help="Only this flow.")] = None,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="A Mermaid diagram.")] = False,
    as_json: options.Json = False,
) -> None:
    """Show a desk's flows: every stage and where it leads in which case."""
    from deskhand.config.diagram import flow_mermaid, flow_text
    from deskhand.errors import ConfigError
    from deskhand.wiring import read_desk

    spec = read_desk(desk).spec
    if flow is not None and flow not in spec.flows:
        raise ConfigError(
            f"desk {spec.name!r} has no flow {flow!r}", fix=f"write one of: {', '.join(spec.flows)}"
        )
    chosen = [spec.flows[flow]] if flow is not None else list(spec.flows.values())
    if as_json:
        drawn: dict[str, Any] = {
            chosen_flow.name: chosen_flow.model_dump(mode="json") for chosen_flow in chosen
        }
        if mermaid:
            drawn = {
                name: drawn_flow | {"mermaid": flow_mermaid(spec.flows[name])}
                for name, drawn_flow in drawn.items()
            }
        print_json({"desk": spec.name, "default_flow": spec.default_flow, "flows": drawn})
        return
    draw = flow_mermaid if mermaid else flow_text
    print_plain("\n".join(map(draw, chosen)))


def schema(
    what: Annotated[
        str, typer.Argument(help="Which file: desk or evals.", metavar="[desk|evals]")
    ] = "desk",
) -> None:
    """Print the JSON Schema of desk.yaml or of a file of golden cases, so that an editor
    completes and checks it."""
    from deskhand.config.schema import desk_schema
    from deskhand.errors import ConfigError
    from deskhand.evals.case_sections import cases_schema

    schemas = {"desk": desk_schema, "evals": cases_schema}
    if what not in schemas:
        raise ConfigError(
            f"there is no schema of {what!r}", fix="write `deskhand schema desk` or `schema evals`"
        )
    print_json(schemas[what]())
