"""`deskhand keys`: who may use the HTTP API."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.databases import noted, opened_database
from deskhand.cli.terminal import console, print_json, print_table, run_async, when
from deskhand.model.access import Scope
from deskhand.model.documents import document

if TYPE_CHECKING:
    from deskhand.model.access import ApiKey

app = typer.Typer(help="Who may use the HTTP API.", no_args_is_help=True)

_SCOPES = ", ".join(Scope)


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Whose key it is; decisions are signed with it.")],
    scope: Annotated[
        list[str], typer.Option("--scope", help=f"What it may do, repeated for several: {_SCOPES}.")
    ],
    desk: Annotated[
        list[str], typer.Option("--desk", help="For which desk, * for all; repeat for several.")
    ],
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Make a key; its secret is shown once and stored nowhere."""
    key, secret = run_async(_add(database, name, scope, desk))
    if as_json:
        print_json(_document(key) | {"secret": secret})
        return
    words = f"{key.id} {key.name}: {', '.join(sorted(key.scopes))} on {', '.join(key.desks)}"
    console().print(words, markup=False, soft_wrap=True)
    console().print("[dim]Keep this, it is shown only now:[/]")
    console().print(secret, markup=False, soft_wrap=True)


async def _add(
    database: str | None, name: str, scopes: list[str], desks: list[str]
) -> "tuple[ApiKey, str]":
    from deskhand.wiring import api_keys, open_database

    async with (
        open_database(database or options.DEFAULT_DATABASE) as opened,
        noted(opened, f"keys add {name}"),
    ):
        return await api_keys(opened).add(name, scopes, desks)


@app.command("list")
def list_keys(database: options.Database = None, as_json: options.Json = False) -> None:
    """List the keys, revoked ones too."""
    keys = run_async(_list(database))
    if as_json:
        print_json({"keys": [_document(key) for key in keys]})
        return
    if not keys:
        console().print("no keys; make one with `deskhand keys add`")
        return
    rows = []
    for key in keys:
        state = "[bright_black]revoked[/]" if key.revoked_at else "[green]in use[/]"
        scopes = ", ".join(sorted(key.scopes))
        desks = ", ".join(key.desks)
        rows.append((key.id, key.name, when(key.created_at), state, scopes, desks))
    print_table(("key", "name", "made", "state"), ("scopes", "desks"), rows)


async def _list(database: str | None) -> "list[ApiKey]":
    from deskhand.wiring import api_keys

    async with opened_database(database) as opened:
        return list(await api_keys(opened).list())


@app.command("revoke")
def revoke(
    key: Annotated[str, typer.Argument(help="The key's id, as key_06gx…", metavar="KEY")],
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Shut a key out from its next request on."""
    revoked = run_async(_revoke(database, key))
    if as_json:
        print_json(_document(revoked))
        return
    console().print(f"{revoked.id} {revoked.name} is revoked")


async def _revoke(database: str | None, key: str) -> "ApiKey":
    from deskhand.wiring import api_keys

    async with (
        opened_database(database) as opened,
        noted(opened, f"keys revoke {key}"),
    ):
        return await api_keys(opened).revoke(key)


def _document(key: "ApiKey") -> dict[str, Any]:
    return document(key) | {"scopes": sorted(key.scopes)}
