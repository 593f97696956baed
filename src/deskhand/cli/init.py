"""`deskhand init`: a new desk from a shipped one."""

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Annotated

import typer

from deskhand.cli import options
from deskhand.cli.terminal import console, print_json, program

SCHEMA_FILE = "desk.schema.json"
CASES_SCHEMA_FILE = "evals.schema.json"
_SCHEMA_LINE = f"# yaml-language-server: $schema=./{SCHEMA_FILE}\n"
_NAME = re.compile(r"[a-z][a-z0-9-]{0,59}")


def init(
    name: Annotated[str, typer.Argument(help="The new desk's name; it becomes a folder here.")],
    source: Annotated[
        str, typer.Option("--from", help="The desk to copy.", metavar="DESK")
    ] = "sample",
    as_json: options.Json = False,
) -> None:
    """Make a desk of your own from a shipped one."""
    folder = create_desk(Path(name), source)
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    from rich.markup import escape

    if as_json:
        print_json({"desk": folder.name, "folder": str(folder), "files": files})
        return
    sample = _sample(folder, files)
    names = dict.fromkeys(_top_level(path) for path in files)
    console().print(f"[bold green]{escape(str(folder))}/[/] is a desk now: {', '.join(names)}")
    console().print("\nNext:")
    here = shlex.quote(_typed(folder))
    steps = (
        (f"{program()} flow show {here}", "see its stages"),
        (
            f"{program()} run {shlex.quote(sample)} --desk {here}",
            "work a message; nothing is sent",
        ),
        (f"{program()} eval {here}", "hold it against its golden cases"),
        (f"$EDITOR {here}/desk.yaml", "make it yours; the editor knows the words"),
        (f"{program()} serve {here}", "take messages over HTTP"),
    )
    width = max(len(command) for command, _ in steps)
    for command, why in steps:
        console().print(f"  {command:<{width}}  [dim]{why}[/]", soft_wrap=True)


def _typed(folder: Path) -> str:
    """How a desk's folder is named to a command: not as a shipped desk is."""
    from deskhand.wiring import shipped_desks

    return f"./{folder}" if str(folder) in shipped_desks() else str(folder)


def _top_level(path: str) -> str:
    """The file or folder of the desk that a path begins with."""
    name, slash, _ = path.partition("/")
    return name + slash


def _sample(folder: Path, files: list[str]) -> str:
    """The mail to try first."""
    mails = [path for path in files if path.startswith("samples/") and path.endswith(".eml")]
    plain = [
        path
        for path in mails
        if path.endswith("order-status.eml") or path.startswith("samples/en-")
    ]
    return next((f"{folder}/{path}" for path in plain or mails), "MESSAGE.eml")


def create_desk(folder: Path, source: str) -> Path:
    """Copy a desk under its own name, with its schema; an existing folder is left alone."""
    from deskhand.config.schema import desk_schema
    from deskhand.errors import ConfigError
    from deskhand.evals.case_sections import cases_schema
    from deskhand.wiring import find_desk

    if not _NAME.fullmatch(folder.name):
        raise ConfigError(
            f"{folder.name!r} is no name for a desk",
            fix="lower case letters, digits and dashes, beginning with a letter: acme-support",
        )
    if folder.exists():
        raise ConfigError(
            "this exists already", file=folder, fix="choose another name, or move it away"
        )
    shutil.copytree(
        find_desk(source),
        folder,
        ignore=shutil.ignore_patterns("__pycache__", "*.pyc", "*.schema.json"),
    )
    for file, schema in ((SCHEMA_FILE, desk_schema()), (CASES_SCHEMA_FILE, cases_schema())):
        (folder / file).write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")
    desk_file = folder / "desk.yaml"
    text = desk_file.read_text(encoding="utf-8")
    text = re.sub(r"^desk:.*$", f"desk: {folder.name}", text, count=1, flags=re.MULTILINE)
    if "yaml-language-server" not in text.partition("\n")[0]:
        text = _SCHEMA_LINE + text
    desk_file.write_text(text, encoding="utf-8")
    return folder
