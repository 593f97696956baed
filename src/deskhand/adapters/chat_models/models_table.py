"""What models hold, cost and can do: a table in the package that a desk's `models.yaml` extends."""

from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from deskhand.adapters.chat_models.providers import TokenPrice
from deskhand.config.yaml import read_yaml
from deskhand.errors import ConfigError
from deskhand.model.frozen import Frozen

FILE = "models.yaml"
_SHIPPED = Path(__file__).with_name(FILE)
_FORM = "write `models: {provider/model: {context: 128000, price: {input: 1, output: 4}}}`"


class ModelInfo(Frozen):
    """One model of the table."""

    context: int | None = Field(default=None, gt=0)
    """Tokens that it reads at once."""
    output: int | None = Field(default=None, gt=0)
    """Tokens of its longest answer."""
    price: TokenPrice | None = None
    can: tuple[Literal["tools", "schema", "reasoning"], ...] = ()
    page: str = ""
    """Where this was read."""


class _Table(Frozen):
    models: dict[str, ModelInfo]


def models_table(folder: Path | None = None) -> dict[str, ModelInfo]:
    """The package's models with those of a desk's folder laid over them; raises ConfigError."""
    own = None if folder is None else folder / FILE
    if own is None or not own.is_file():
        return dict(_read(_SHIPPED))
    return {**_read(_SHIPPED), **_read(own)}


def prices_in(table: dict[str, ModelInfo]) -> dict[str, TokenPrice]:
    return {name: model.price for name, model in table.items() if model.price is not None}


@cache
def _read(path: Path) -> dict[str, ModelInfo]:
    try:
        return _Table.model_validate(read_yaml(path).data).models
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
    raise ConfigError(f"{place}: {first['msg']}", file=path, fix=_FORM)
