"""All commands in one place. A command brings its module along when it is called, and modules of
commands import the engine inside their functions: `--help` must be quick."""

import logging
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer

START, LOOK, DESK, OPERATE = "Start here", "Look and decide", "Describe a desk", "Operate"


class _Command(NamedTuple):
    name: str
    panel: str
    """The part of `--help` that it stands in."""
    module: str
    attribute: str
    """The command's function, or `app` for a group of commands."""


_COMMANDS = (
    _Command("demo", START, "demo", "demo"),
    _Command("init", START, "init", "init"),
    _Command("run", START, "run", "run"),
    _Command("chat", START, "chat", "chat"),
    _Command("serve", START, "serve", "serve"),
    _Command("runs", LOOK, "run_attachments", "app"),
    _Command("reviews", LOOK, "acknowledge", "app"),
    _Command("conversations", LOOK, "conversations", "app"),
    _Command("tickets", LOOK, "tickets", "app"),
    _Command("telemetry", LOOK, "telemetry", "app"),
    _Command("contacts", LOOK, "contacts", "app"),
    _Command("calendar", LOOK, "calendar", "app"),
    _Command("modes", LOOK, "modes", "app"),
    _Command("replay", LOOK, "replay", "replay"),
    _Command("flow", DESK, "flow", "app"),
    _Command("schema", DESK, "flow", "schema"),
    _Command("policy", DESK, "policy", "app"),
    _Command("eval", DESK, "eval", "app"),
    _Command("route", DESK, "route", "route"),
    _Command("parse", DESK, "parse", "parse"),
    _Command("kb", DESK, "kb", "app"),
    _Command("intents", DESK, "intents", "app"),
    _Command("mcp", DESK, "mcp", "app"),
    _Command("models", DESK, "models", "app"),
    _Command("worker", OPERATE, "worker", "worker"),
    _Command("mail", OPERATE, "mail", "app"),
    _Command("workers", OPERATE, "workers", "app"),
    _Command("doctor", OPERATE, "doctor", "doctor"),
    _Command("stop", OPERATE, "stop", "stop"),
    _Command("resume", OPERATE, "stop", "resume"),
    _Command("keys", OPERATE, "keys", "app"),
    _Command("users", OPERATE, "users", "app"),
    _Command("webhooks", OPERATE, "webhooks", "app"),
    _Command("db", OPERATE, "db", "app"),
    _Command("audit", OPERATE, "audit", "app"),
    _Command("erase", OPERATE, "audit", "erase"),
)


def command_line(arguments: Sequence[str] = ()) -> typer.Typer:
    """What carries the arguments out: all commands, or the one command that they name alone."""
    app = typer.Typer(
        name="deskhand",
        help="Works a company's inbound customer messages.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(deskhand)
    named = [command for command in _COMMANDS if command.name == _first_word(arguments)]
    for command in named or _COMMANDS:
        _add(app, command)
    return app


def _first_word(arguments: Sequence[str]) -> str | None:
    words = (argument for argument in arguments if argument not in ("-v", "--verbose"))
    return next(words, None)


def _add(app: typer.Typer, command: _Command) -> None:
    module = import_module(f"deskhand.cli.{command.module}")
    loaded: Any = getattr(module, command.attribute)
    if isinstance(loaded, typer.Typer):
        app.add_typer(loaded, name=command.name, rich_help_panel=command.panel)
    else:
        app.command(command.name, rich_help_panel=command.panel)(loaded)


def _print_version(wanted: bool) -> None:
    if not wanted:
        return
    from deskhand import __version__

    sys.stdout.write(f"deskhand {__version__}\n")
    raise typer.Exit


def deskhand(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log what happens inside, to stderr.")
    ] = False,
) -> None:
    from deskhand.logs import set_up_logging

    set_up_logging(logging.INFO if verbose else logging.ERROR)
