"""`deskhand webhooks`: which addresses are told what happens."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.databases import noted, opened_database
from deskhand.cli.terminal import console, print_json, print_table, run_async, when
from deskhand.model.documents import document
from deskhand.model.webhook import CHOSEN

if TYPE_CHECKING:
    from deskhand.model.webhook import Attempt, Delivery, Endpoint
    from deskhand.ports.webhooks import Webhooks

app = typer.Typer(help="Which addresses are told what happens.", no_args_is_help=True)

Webhook = Annotated[str, typer.Argument(help="The webhook's id, as whe_06gx…", metavar="WEBHOOK")]
_EVENTS = ", ".join(CHOSEN)


@app.command("add")
def add(
    url: Annotated[str, typer.Argument(help="Where events are posted to, as https://…")],
    event: Annotated[
        list[str] | None,
        typer.Option("--event", help=f"What it is told of, all unless you choose: {_EVENTS}."),
    ] = None,
    desk: Annotated[
        list[str] | None,
        typer.Option("--desk", help="Of which desk, all unless you choose; repeat for several."),
    ] = None,
    content: Annotated[
        bool, typer.Option("--content", help="Tell who wrote, the subject and the reason too.")
    ] = False,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Tell an address; its secret is shown once and stored nowhere."""
    endpoint, secret = run_async(_add(database, url, event or list(CHOSEN), desk or ["*"], content))
    if as_json:
        print_json(document(endpoint) | {"secret": secret})
        return
    words = f"{endpoint.id}: {', '.join(endpoint.events)} of {', '.join(endpoint.desks)}"
    console().print(words, markup=False, soft_wrap=True)
    console().print("[dim]Keep this, it is shown only now:[/]")
    console().print(secret, markup=False, soft_wrap=True)


async def _add(
    database: str | None, url: str, events: list[str], desks: list[str], content: bool
) -> "tuple[Endpoint, str]":
    async with _opened(database, f"add {url}") as webhooks:
        return await webhooks.add(
            url, events, desks, f"{options.login_name()} (command line)", content=content
        )


@app.command("list")
def list_webhooks(database: options.Database = None, as_json: options.Json = False) -> None:
    """List the addresses, those of a desk.yaml too."""
    endpoints = run_async(_list(database))
    if as_json:
        print_json({"webhooks": [document(endpoint) for endpoint in endpoints]})
        return
    if not endpoints:
        console().print("nobody is told anything; name an address with `deskhand webhooks add`")
        return
    rows = []
    for endpoint in endpoints:
        events, desks = ", ".join(endpoint.events), ", ".join(endpoint.desks)
        rows.append((endpoint.id, _state(endpoint), endpoint.url, events, desks))
    print_table(("webhook", "state"), ("address", "events", "desks"), rows)


def _state(endpoint: "Endpoint") -> str:
    if endpoint.disabled_at is not None:
        return "[red]switched off[/]"
    return "[green]works[/]" if endpoint.failing_since is None else "[yellow]failing[/]"


async def _list(database: str | None) -> "list[Endpoint]":
    async with _opened(database) as webhooks:
        return list(await webhooks.list())


@app.command("remove")
def remove(
    webhook: Webhook, database: options.Database = None, as_json: options.Json = False
) -> None:
    """Tell an address nothing any more; its log goes with it."""
    removed = run_async(_remove(database, webhook))
    if as_json:
        print_json(document(removed))
        return
    console().print(f"{removed.id} is removed", markup=False)


async def _remove(database: str | None, webhook: str) -> "Endpoint":
    async with _opened(database, f"remove {webhook}") as webhooks:
        return await webhooks.remove(webhook)


@app.command("rotate")
def rotate(
    webhook: Webhook, database: options.Database = None, as_json: options.Json = False
) -> None:
    """Exchange the secret; the earlier one is signed with for a day beside it."""
    endpoint, secret = run_async(_rotate(database, webhook))
    if as_json:
        print_json(document(endpoint) | {"secret": secret})
        return
    console().print("[dim]Keep this, it is shown only now:[/]")
    console().print(secret, markup=False, soft_wrap=True)


async def _rotate(database: str | None, webhook: str) -> "tuple[Endpoint, str]":
    async with _opened(database, f"rotate {webhook}") as webhooks:
        return await webhooks.rotate(webhook)


@app.command("enable")
def enable(
    webhook: Webhook, database: options.Database = None, as_json: options.Json = False
) -> None:
    """Switch an address on again: it is told what waits, and what happens from now on."""
    _say_state(run_async(_switch(database, webhook, on=True)), as_json)


@app.command("disable")
def disable(
    webhook: Webhook, database: options.Database = None, as_json: options.Json = False
) -> None:
    """Switch an address off: what is on its way waits."""
    _say_state(run_async(_switch(database, webhook, on=False)), as_json)


async def _switch(database: str | None, webhook: str, *, on: bool) -> "Endpoint":
    async with _opened(database, f"{'enable' if on else 'disable'} {webhook}") as webhooks:
        return await (webhooks.enable(webhook) if on else webhooks.disable(webhook))


def _say_state(endpoint: "Endpoint", as_json: bool) -> None:
    if as_json:
        print_json(document(endpoint))
        return
    console().print(f"{endpoint.id}: {_state(endpoint)}")


@app.command("test")
def send_test(
    webhook: Webhook,
    desk: Annotated[
        str | None, typer.Option("--desk", help="The desk it seems to come from.")
    ] = None,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Send a test event now; exit 1 when it does not arrive."""
    attempt = run_async(_test(database, webhook, desk))
    if as_json:
        print_json(document(attempt))
    elif attempt.arrived:
        console().print(f"it arrived; the receiver answered {attempt.status}")
    else:
        console().print(attempt.error, markup=False, soft_wrap=True)
    if not attempt.arrived:
        raise typer.Exit(1)


async def _test(database: str | None, webhook: str, desk: str | None) -> "Attempt":
    from deskhand.model.access import ANY_DESK
    from deskhand.wiring import WebhookTrial, webhook_endpoints

    async with opened_database(database) as opened:
        endpoint = await webhook_endpoints(opened).find(webhook)
        named = [name for name in endpoint.desks if name != ANY_DESK]
        chosen = desk or (named[0] if named else "test")
        async with noted(opened, f"webhooks test {webhook}"):
            return await WebhookTrial(opened)(webhook, chosen)


@app.command("deliveries")
def deliveries(
    webhook: Webhook,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many.")] = 20,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """List what an address was sent, the newest first."""
    rows = run_async(_deliveries(database, webhook, limit))
    if as_json:
        print_json({"deliveries": [_shown(row) for row in rows]})
        return
    if not rows:
        console().print("nothing was sent yet")
        return
    lines = []
    for row in rows:
        answer = str(row.status or "") or (row.error or "")
        lines.append((when(row.created_at), row.state, str(row.attempts), row.type, row.id, answer))
    print_table(("made", "state", "tries"), ("event", "id", "answer"), lines)


async def _deliveries(database: str | None, webhook: str, limit: int) -> "list[Delivery]":
    async with _opened(database) as webhooks:
        await webhooks.find(webhook)
        return list(await webhooks.deliveries(webhook, limit=limit))


@app.command("retry")
def retry(
    webhook: Webhook,
    event: Annotated[str, typer.Argument(help="The event's id, as `deliveries` shows it.")],
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Send an event again, under the same id; whoever serves the desk does it in a moment."""
    delivery = run_async(_retry(database, webhook, event))
    if as_json:
        print_json(_shown(delivery))
        return
    console().print(f"{delivery.id} is sent again by whoever serves {delivery.desk}", markup=False)


async def _retry(database: str | None, webhook: str, event: str) -> "Delivery":
    async with _opened(database, f"retry {webhook} {event}") as webhooks:
        return await webhooks.retry(webhook, event)


def _shown(delivery: "Delivery") -> dict[str, Any]:
    return document(delivery)


@asynccontextmanager
async def _opened(database: str | None, doing: str | None = None) -> "AsyncIterator[Webhooks]":
    """The addresses of a database. What is done is written down."""
    from deskhand.wiring import webhook_endpoints

    async with opened_database(database) as opened:
        endpoints = webhook_endpoints(opened)
        if doing is None:
            yield endpoints
            return
        async with noted(opened, f"webhooks {doing}"):
            yield endpoints
