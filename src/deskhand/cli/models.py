"""`deskhand models`: which models there are to name, and what they cost."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.terminal import console, print_json, print_table

if TYPE_CHECKING:
    from deskhand.wiring import ModelInfo

app = typer.Typer(help="Models to name in a desk.", no_args_is_help=True)


@app.command("list")
def list_models(
    desk: Annotated[
        str | None, typer.Argument(help="A desk, for the models it adds.", metavar="[DESK]")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List models with their context, prices and abilities; a desk's `models.yaml` adds its own."""
    from deskhand.wiring import known_models

    table = known_models(desk)
    if as_json:
        print_json({"models": [_document(name, model) for name, model in table.items()]})
        return
    columns = ("model", "context", "longest answer", "in", "cached", "out")
    print_table(columns, ("can",), [_row(name, model) for name, model in table.items()])
    console().print(
        "Prices in US dollars per million tokens; they change, so check your provider's."
    )


def _document(name: str, model: "ModelInfo") -> dict[str, Any]:
    return {"model": name, **model.model_dump(mode="json")}


def _row(name: str, model: "ModelInfo") -> tuple[str, ...]:
    price = model.price
    prices = ("", "", "")
    if price is not None:
        prices = (_amount(price.input), _amount(price.cached_input), _amount(price.output))
    return (name, _count(model.context), _count(model.output), *prices, " ".join(model.can))


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _amount(price: float | None) -> str:
    return "" if price is None else f"{price:g}"
