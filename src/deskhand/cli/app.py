"""All commands in one place. Modules of commands import the engine inside their functions:
`--help` must be quick."""

import logging
import sys
from typing import Annotated

import typer

from deskhand.cli import acknowledge as review_commands
from deskhand.cli import (
    audit,
    conversations,
    db,
    eval,
    flow,
    intents,
    kb,
    keys,
    mail,
    mcp,
    modes,
    policy,
    run_attachments,
    workers,
)
from deskhand.cli import calendar as calendar_commands
from deskhand.cli import contacts as contact_commands
from deskhand.cli import users as user_commands
from deskhand.cli.demo import demo
from deskhand.cli.doctor import doctor
from deskhand.cli.init import init
from deskhand.cli.parse import parse
from deskhand.cli.replay import replay
from deskhand.cli.route import route
from deskhand.cli.run import run
from deskhand.cli.serve import serve
from deskhand.cli.stop import resume, stop
from deskhand.cli.worker import worker

app = typer.Typer(
    name="deskhand",
    help="Works a company's inbound customer messages.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if not wanted:
        return
    from deskhand import __version__

    sys.stdout.write(f"deskhand {__version__}\n")
    raise typer.Exit


@app.callback()
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


START, LOOK, DESK, OPERATE = "Start here", "Look and decide", "Describe a desk", "Operate"

app.command(rich_help_panel=START)(demo)
app.command(rich_help_panel=START)(init)
app.command(rich_help_panel=START)(run)
app.command(rich_help_panel=START)(serve)
app.add_typer(run_attachments.app, name="runs", rich_help_panel=LOOK)
app.add_typer(review_commands.app, name="reviews", rich_help_panel=LOOK)
app.add_typer(conversations.app, name="conversations", rich_help_panel=LOOK)
app.add_typer(contact_commands.app, name="contacts", rich_help_panel=LOOK)
app.add_typer(calendar_commands.app, name="calendar", rich_help_panel=LOOK)
app.add_typer(modes.app, name="modes", rich_help_panel=LOOK)
app.command(rich_help_panel=LOOK)(replay)
app.add_typer(flow.app, name="flow", rich_help_panel=DESK)
app.command(rich_help_panel=DESK)(flow.schema)
app.add_typer(policy.app, name="policy", rich_help_panel=DESK)
app.add_typer(eval.app, name="eval", rich_help_panel=DESK)
app.command(rich_help_panel=DESK)(route)
app.command(rich_help_panel=DESK)(parse)
app.add_typer(kb.app, name="kb", rich_help_panel=DESK)
app.add_typer(intents.app, name="intents", rich_help_panel=DESK)
app.add_typer(mcp.app, name="mcp", rich_help_panel=DESK)
app.command(rich_help_panel=OPERATE)(worker)
app.add_typer(mail.app, name="mail", rich_help_panel=OPERATE)
app.add_typer(workers.app, name="workers", rich_help_panel=OPERATE)
app.command(rich_help_panel=OPERATE)(doctor)
app.command(rich_help_panel=OPERATE)(stop)
app.command(rich_help_panel=OPERATE)(resume)
app.add_typer(keys.app, name="keys", rich_help_panel=OPERATE)
app.add_typer(user_commands.app, name="users", rich_help_panel=OPERATE)
app.add_typer(db.app, name="db", rich_help_panel=OPERATE)
app.add_typer(audit.app, name="audit", rich_help_panel=OPERATE)
app.command(rich_help_panel=OPERATE)(audit.erase)
