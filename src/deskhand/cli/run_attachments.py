"""`deskhand runs attachments`: the files of a run, listed or saved into a folder."""

from asyncio import to_thread
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.cli import options, runs
from deskhand.cli.databases import opened_store
from deskhand.cli.runs import RunId
from deskhand.cli.terminal import console, print_json, print_table, run_async, shortened
from deskhand.model.documents import document

if TYPE_CHECKING:
    from deskhand.engine.attachment_list import ListedFile

app = runs.app


@app.command("attachments")
def attachments(
    run: RunId,
    save: Annotated[
        Path | None, typer.Option("--save", help="Write the files into this folder.")
    ] = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """List the files that came with a message, and those that reviewers attached to replies."""
    files, saved = run_async(_attachments(database, desk, run, save))
    if as_json:
        listed = [document(file) for file in files]
        print_json({"attachments": listed, "saved": list(map(str, saved))})
        return
    if not files:
        console().print("no files came with it")
        return
    from rich.markup import escape

    rows = [
        (
            file.attachment or "-",
            escape(shortened(file.name, 60)),
            escape(shortened(file.type, 40)),
            f"{file.size:,}",
            escape(shortened(_remark(file), 100)),
        )
        for file in files
    ]
    print_table(("attachment", "name", "type", "bytes"), ("remark",), rows)
    for path in saved:
        console().print(f"saved {path}", markup=False, soft_wrap=True)


def _remark(file: "ListedFile") -> str:
    if file.not_kept is not None:
        return f"not kept: {file.not_kept}"
    return f"from {file.by}" if file.by else ""


async def _attachments(
    database: str | None, desk: str | None, run: str, folder: Path | None
) -> "tuple[list[ListedFile], list[Path]]":
    from deskhand.engine.attachment_list import read_attachments
    from deskhand.model.attached_files import safe_file_name

    async with opened_store(database, desk) as store:
        files = await read_attachments(store, run)
        if folder is None:
            return files, []
        saved: list[Path] = []
        for number, listed in enumerate(files, 1):
            if listed.attachment is None:
                continue
            file = await store.file(run, listed.attachment)
            path = folder / f"{number:02}-{safe_file_name(listed.name)}"
            await to_thread(_write, path, file.content)
            saved.append(path)
    return files, saved


def _write(path: Path, content: bytes) -> None:
    from deskhand.private_files import make_private_folder, write_private_file

    make_private_folder(path.parent)
    write_private_file(path, content)
