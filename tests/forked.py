"""Scenarios in processes of their own that begin with everything imported.

What is killed must be a process. Starting Python and importing the engine takes such a process two
seconds of CPU, most of what it does. A copy of a process that has done both begins at once, and
dies as any other.
"""

import asyncio
import atexit
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import NoReturn

from deskhand.crashpoints import VARIABLE, arm_from

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Order:
    """What a process is to do: call `main` of a module."""

    module: str
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    code: int
    """Negative for the signal that killed it, as `subprocess` says it."""
    errors: str
    """All that it wrote."""


def run_forked(module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> Ended:
    """Call `main` of a module of tests/ with these words in a process of its own, and wait for its
    end. A crash point in the environment is armed in that process alone."""
    return _fork_server().run(Order(module, arguments, dict(environment or {})))


class ForkServer:
    """A process that imports what it is asked for, and does the work in copies of itself."""

    def __init__(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.forked"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lock = Lock()

    def run(self, order: Order) -> Ended:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(f"{json.dumps(asdict(order))}\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        assert answer, "the fork server is gone"
        return Ended(**json.loads(answer))

    def end(self) -> None:
        """It ends when nobody can ask it any more."""
        self._process.communicate()


@cache
def _fork_server() -> ForkServer:
    server = ForkServer()
    atexit.register(server.end)
    return server


# --- in the server


def serve() -> None:
    for line in sys.stdin:
        order = Order(**json.loads(line))
        module = import_module(order.module)
        with tempfile.TemporaryFile() as written:
            process = os.fork()
            if process == 0:
                _work(module, order, written.fileno())
            _, status = os.waitpid(process, 0)
            written.seek(0)
            errors = written.read().decode(errors="replace")
        ended = Ended(os.waitstatus_to_exitcode(status), errors)
        sys.stdout.write(f"{json.dumps(asdict(ended))}\n")
        sys.stdout.flush()


def _work(module: ModuleType, order: Order, output: int) -> NoReturn:
    """The copy's whole life. What it prints must not reach the one who waits for an answer."""
    for descriptor in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(output, descriptor)
    code = 1
    try:
        os.environ.update(order.environment)
        if crash_at := os.environ.get(VARIABLE):
            arm_from(crash_at)
        asyncio.run(module.main(*order.arguments))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()
