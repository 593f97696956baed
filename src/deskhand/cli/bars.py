"""A bar on stderr while long work goes on, where somebody looks."""

from typing import Any

from deskhand.cli.terminal import console


class Bar:
    def __init__(self, what: str, total: int) -> None:
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
        to = console(to_stderr=True)
        self._bars = Progress(*columns, console=to, transient=True, disable=not to.is_terminal)
        self._task = self._bars.add_task(what, total=total)

    def __enter__(self) -> "Bar":
        self._bars.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._bars.stop()

    def advance(self, by: int = 1, what: str | None = None) -> None:
        self._bars.update(self._task, advance=by, description=what)
