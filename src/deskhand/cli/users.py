"""`deskhand users`: who may log in to the console."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.databases import noted, opened_database
from deskhand.cli.terminal import console, print_json, print_table, run_async, when
from deskhand.model.access import Role
from deskhand.model.documents import document

if TYPE_CHECKING:
    from deskhand.model.access import User

app = typer.Typer(help="Who may log in to the console.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The person's name; decisions are signed with it.")]
PasswordFile = Annotated[
    Path | None,
    typer.Option("--password-file", help="A file that holds the password; else it is asked for."),
]
Limit = Annotated[
    str | None,
    typer.Option("--limit", help="The most that the person may let move, as '500 EUR'."),
]
Mail = Annotated[
    str | None,
    typer.Option("--mail", help="The person's own address; others decide what it asks for."),
]
Generate = Annotated[bool, typer.Option("--generate", help="Make a password up and show it once.")]


@app.command("add")
def add(
    name: Name,
    desk: Annotated[
        list[str], typer.Option("--desk", help="Which desk, * for all; repeat for several.")
    ],
    role: Annotated[Role, typer.Option("--role", help="What the person may do.")] = Role.APPROVER,
    limit: Limit = None,
    mail: Mail = None,
    password_file: PasswordFile = None,
    generate: Generate = False,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Let somebody log in to these desks."""
    from deskhand.cli.databases import name_of

    password = _password(password_file, generate)
    desks = [name_of(desk_name) for desk_name in desk]

    async def work() -> "User":
        from deskhand.wiring import open_database, user_accounts

        async with open_database(database or options.DEFAULT_DATABASE) as opened:
            accounts = user_accounts(opened)
            async with noted(opened, f"users add {name}"):
                return await accounts.add(name, password, desks, role=role, limit=limit, mail=mail)

    user = run_async(work())
    words = f"is {user.role} of {', '.join(user.desks)}"
    _tell(user, password if generate else None, words, as_json)


@app.command("role")
def role(
    name: Name,
    role: Annotated[Role, typer.Argument(help="What the person may do from now on.")],
    limit: Limit = None,
    mail: Mail = None,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Say what somebody may do; the person's sessions end."""
    said: dict[str, str | None] = {"role": role}
    if limit is not None:
        said["limit"] = limit
    if mail is not None:
        said["mail"] = mail

    async def work() -> "User":
        from deskhand.wiring import user_accounts

        async with (
            opened_database(database) as opened,
            noted(opened, f"users role {name}"),
        ):
            return await user_accounts(opened).set_rights(name, **said)

    user = run_async(work())
    words = f"is {user.role}" + (f", up to {user.limit}" if user.limit else "")
    _tell(user, None, words, as_json)


@app.command("list")
def list_users(database: options.Database = None, as_json: options.Json = False) -> None:
    """List the people, removed ones too."""
    users = run_async(_list(database))
    if as_json:
        print_json({"users": [_document(user) for user in users]})
        return
    if not users:
        console().print("nobody; let somebody log in with `deskhand users add`")
        return
    rows = []
    for user in users:
        state = "[bright_black]removed[/]" if user.removed_at else "[green]in use[/]"
        limit = "" if user.limit is None else str(user.limit)
        desks = ", ".join(user.desks)
        rows.append((user.name, user.role, limit, when(user.created_at), state, desks))
    print_table(("name", "role", "limit", "made", "state"), ("desks",), rows)


async def _list(database: str | None) -> "list[User]":
    from deskhand.wiring import user_accounts

    async with opened_database(database) as opened:
        return list(await user_accounts(opened).list())


@app.command("password")
def password(
    name: Name,
    password_file: PasswordFile = None,
    generate: Generate = False,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Set a new password; every session of the person ends, and somebody removed is back."""
    chosen = _password(password_file, generate)

    async def work() -> "User":
        from deskhand.wiring import user_accounts

        async with (
            opened_database(database) as opened,
            noted(opened, f"users password {name}"),
        ):
            return await user_accounts(opened).set_password(name, chosen)

    _tell(run_async(work()), chosen if generate else None, "has a new password", as_json)


@app.command("remove")
def remove(name: Name, database: options.Database = None, as_json: options.Json = False) -> None:
    """Shut somebody out at once."""

    async def work() -> "User":
        from deskhand.wiring import user_accounts

        async with (
            opened_database(database) as opened,
            noted(opened, f"users remove {name}"),
        ):
            return await user_accounts(opened).remove(name)

    _tell(run_async(work()), None, "cannot log in any more", as_json)


def _password(file: Path | None, generate: bool) -> str:
    """The password from a file, made up, or typed twice; never an argument, which others could
    read."""
    import secrets

    from deskhand.errors import ConfigError

    if generate:
        return secrets.token_urlsafe(12)
    if file is not None:
        try:
            return file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            problem = getattr(error, "strerror", None) or "it is not UTF-8"
            raise ConfigError(
                f"cannot be read: {problem}", file=file, fix="name a file with a password"
            ) from None
    if not sys.stdin.isatty():
        raise ConfigError(
            "there is no terminal on which to ask for the password",
            fix="name a file with --password-file, or have one made up with --generate",
        )
    typed: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return typed


def _tell(user: "User", shown_once: str | None, words: str, as_json: bool) -> None:
    if as_json:
        print_json(_document(user) | ({"password": shown_once} if shown_once else {}))
        return
    console().print(f"{user.name} {words}", markup=False, soft_wrap=True)
    if shown_once:
        console().print("[dim]Keep this, it is shown only now:[/]")
        console().print(shown_once, markup=False, soft_wrap=True)


def _document(user: "User") -> dict[str, Any]:
    return document(user) | {"limit": None if user.limit is None else str(user.limit)}
