"""A `deskhand` command that is killed and begun again and again."""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

from tests.forked import ForkedCommand

ROOT = Path(__file__).parents[2]


class StartedCommand:
    """The real program, as a shell starts it."""

    COMMAND = (sys.executable, "-m", "deskhand.cli")

    def __init__(self, arguments: tuple[str, ...], output: Path, folder: Path) -> None:
        self._arguments, self._output, self._folder = arguments, output, folder
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        path = f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        with self._output.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                *(*self.COMMAND, *self._arguments),
                cwd=self._folder,
                env={**os.environ, "PYTHONPATH": path},
                stdout=output,
                stderr=output,
            )

    async def end(self, number: signal.Signals) -> int:
        """Send the signal and wait until the process is over; returns its exit code."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)
        return await self._process.wait()


class DeskProcess:
    """`deskhand serve`, or one of several workers, as an operator starts it.

    It is a copy of a process that has imported everything (`tests/forked.py` says what differs).
    Where it `begins_for_real` it is the real program the first time, started as from a shell.
    """

    def __init__(self, desk: Path, url: str, *command: str, begins_for_real: bool = False) -> None:
        self._folder = desk.parent
        self._arguments = (*command, str(desk), "--database", url)
        self._is_real = begins_for_real
        self._running: StartedCommand | ForkedCommand | None = None

    async def start(self) -> None:
        kind = StartedCommand if self._is_real else ForkedCommand
        self._is_real = False
        self._running = kind(self._arguments, self._folder / "serve.log", self._folder)
        await self._running.start()

    async def end(self, number: signal.Signals) -> int:
        """Send the signal and wait until the process is over; returns its exit code, negative for
        the signal that killed it."""
        assert self._running is not None
        return await self._running.end(number)


async def run_command(folder: Path, *arguments: str) -> int:
    """Run a `deskhand` command to its end; returns its exit code."""
    command = ForkedCommand(arguments, folder / "commands.log", folder)
    await command.start()
    return await command.wait()
