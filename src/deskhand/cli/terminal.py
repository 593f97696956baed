"""Writing to the terminal: JSON and answers to stdout, complaints to stderr."""

import asyncio
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from deskhand.cli.plain_table import plain_table

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")

_PIPED_WIDTH = 180
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_COLOURS = {
    "sent": "green",
    "answered": "green",
    "done": "green",
    "queued": "cyan",
    "running": "cyan",
    "waiting_user": "yellow",
    "waiting_review": "yellow",
    "needs_review": "red",
    "failed": "red",
    "rejected": "magenta",
    "cancelled": "bright_black",
    "open": "yellow",
    "decided": "green",
}


@cache
def console(*, to_stderr: bool = False) -> "Console":
    """Colour and the window's width on a terminal; plain and wide lines in a pipe."""
    from rich.console import Console

    stream = sys.stderr if to_stderr else sys.stdout
    piped = not stream.isatty() and "COLUMNS" not in os.environ
    return Console(
        stderr=to_stderr, width=_PIPED_WIDTH if piped else None, highlight=False, emoji=False
    )


def program() -> str:
    """How this program is called from the same folder, to be copied into a shell: `deskhand` only
    where that word finds it."""
    called = Path(sys.argv[0])
    if called.stem != "deskhand":
        return f"{shlex.quote(sys.executable)} -m deskhand.cli"
    on_path = shutil.which("deskhand")
    if on_path is not None and called.exists() and called.samefile(on_path):
        return "deskhand"
    return shlex.quote(str(called))


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """The one bridge between the synchronous command line and everything else."""
    return asyncio.run(work)


def print_json(document: Any) -> None:
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(document, ensure_ascii=ascii_only, indent=2, default=str)
    sys.stdout.write(text.encode(errors="replace").decode() + "\n")


def print_plain(text: str) -> None:
    """Text as it is: no markup, no wrapping."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def print_line(*parts: tuple[str, str]) -> None:
    """One line, however long, of texts with their styles."""
    if is_plain():
        sys.stdout.write("".join(text for text, _ in parts) + "\n")
        return
    from rich.text import Text

    console().print(Text.assemble(*parts), soft_wrap=True)


def is_plain() -> bool:
    """Whether stdout takes neither colours nor the width of a window: then Rich, whose import is
    a twentieth of the time in which a command starts, has nothing to do."""
    asked_for = ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
    return not sys.stdout.isatty() and not any(name in os.environ for name in asked_for)


def complain(text: str) -> None:
    from rich.text import Text

    to = console(to_stderr=True)
    for line in printable(text).splitlines():
        fix = line.lstrip().startswith("fix:")
        start = Text() if fix else Text("error: ", style="bold red")
        to.print(start.append(line, style="dim" if fix else ""), soft_wrap=True)


def status_text(status: str) -> str:
    """A status in its colour, as rich markup."""
    return f"[{_COLOURS.get(status, 'default')}]{status}[/]"


def print_table(
    fixed: Sequence[str], flexible: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Columns without a frame: fixed ones are never cut, flexible ones share what room is left.
    Cells are markup."""
    lines = plain_table((*fixed, *flexible), rows, _PIPED_WIDTH) if is_plain() else None
    if lines is not None:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        return
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for number, name in enumerate(fixed):
        cells = (Text.from_markup(row[number]).cell_len for row in rows)
        made.add_column(name, no_wrap=True, min_width=max([len(name), *cells]))
    for name in flexible:
        made.add_column(name, no_wrap=True, overflow="ellipsis")
    for row in rows:
        made.add_row(*row)
    console().print(made)


class ProgressBar:
    """A bar on stderr while long work goes on; shown only where stderr is a terminal."""

    def __init__(self, label: str, total: int) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        stderr = console(to_stderr=True)
        self._progress = Progress(
            *columns, console=stderr, transient=True, disable=not stderr.is_terminal
        )
        self._task = self._progress.add_task(label, total=total)

    def __enter__(self) -> "ProgressBar":
        self._progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._progress.stop()

    def advance(self, by: int = 1, label: str | None = None) -> None:
        self._progress.update(self._task, advance=by, description=label)


def when(at: float | str) -> str:
    """A time, in seconds or as a document has it, in a table: the clock today, the date before."""
    then, now = _local(at), datetime.now(UTC).astimezone()
    return then.strftime("%H:%M:%S" if then.date() == now.date() else "%Y-%m-%d")


def moment(at: float | str | None) -> str:
    """A time as a person on this machine reads it."""
    return "" if at is None else _local(at).strftime("%Y-%m-%d %H:%M:%S")


def _local(at: float | str) -> datetime:
    then = datetime.fromisoformat(at) if isinstance(at, str) else datetime.fromtimestamp(at, UTC)
    return then.astimezone()


def milliseconds(value: float) -> str:
    if value >= 1000:
        return f"{value / 1000:.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def elapsed(seconds: float) -> str:
    """How long after something, in the unit a person would say it in."""
    for limit, size, unit in ((60, 1, "s"), (3600, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            value = max(0.0, seconds) / size
            return f"+{value:.1f} {unit}" if value < 10 else f"+{value:.0f} {unit}"
    return f"+{seconds / 86400:.0f} days"


def printable(text: str) -> str:
    """Text that others wrote, without what a terminal would obey: escape sequences, bells,
    reversed writing."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def shortened(text: str, length: int) -> str:
    """One printable line of at most `length` characters."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= length else line[: length - 1] + "…"
