"""Processes that begin with everything imported.

What is killed must be a process. Starting Python and importing the engine takes each two to three
seconds of CPU, most of what it does in a test. A copy of a process that has done both begins at
once, and dies as any other: it has its own id, its own memory and its own files.

A copy of a desk differs from `deskhand serve` of a shell in what it did before its own first line:
its modules are imported, the files that come with the package and never change (the graph of the
encoder, its words, endings of domains) are read, and the graph uses one thread, since threads are
not copied. From the command line's function on it is the same code: it reads its desk, opens its
database, takes its lease and listens by itself.
"""

import asyncio
import atexit
import contextlib
import gc
import inspect
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from deskhand.crashpoints import VARIABLE, arm_from
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[1]
SERVES = (
    "deskhand.adapters.calendar.database_calendar",
    "deskhand.adapters.channels.files_channel",
    "deskhand.adapters.channels.mail_channel",
    "deskhand.adapters.chat_models.chat_completions",
    "deskhand.adapters.chat_models.spending_cap",
    "deskhand.adapters.chat_models.wires",
    "deskhand.adapters.stores.contacts",
    "deskhand.adapters.stores.knowledge",
    "deskhand.adapters.stores.notices",
    "deskhand.adapters.stores.own_tables",
    "deskhand.adapters.stores.run_figures",
    "deskhand.adapters.stores.sqlite_backend",
    "deskhand.brain.cascade",
    "deskhand.brain.embedded",
    "deskhand.cli.app",
    "deskhand.cli.serve",
    "deskhand.engine.trust_report",
    "deskhand.knowledge.articles",
    "deskhand.language.answer_language",
    "deskhand.language.turns",
    "deskhand.web.api.app",
    "deskhand.web.api.chat",
    "deskhand.web.api.environment_key",
    "deskhand.web.api.health",
    "deskhand.web.api.messages",
    "deskhand.web.api.reviews",
    "deskhand.web.api.runs",
    "deskhand.web.chat_widget",
    "deskhand.web.console",
    "deskhand.web.header_timeout",
    "deskhand.web.joined_writes",
    "deskhand.wiring.serving",
    "deskhand.wiring.webhooks",
    "encodings.idna",
    "encodings.utf_8_sig",
    "fasttext",
    "fastapi.telemetry._runtime",
    "mailbox",
    "onnxruntime",
    "publicsuffixlist",
    "tokenizers",
    "typer._adapters",
    "uvicorn.lifespan.on",
    "uvicorn.protocols.http.httptools_impl",
    "uvicorn.protocols.websockets.auto",
    "yaml",
)
"""What `deskhand serve` imports sooner or later."""
WORKS = (
    *SERVES,
    "deskhand.adapters.dispatch.dbos_dispatcher",
    "deskhand.adapters.dispatch.worker_process",
    "deskhand.adapters.stores.postgres_backend",
    "deskhand.cli.worker",
)
"""What `deskhand worker` imports."""
READS = "tests.forked:read_shipped_files"
ONE_THREAD = ("DESKHAND_EMBED_THREADS", "OPENBLAS_NUM_THREADS")
"""What computes in threads is told not to: a copy has only the thread that was copied."""
DATABASES = (
    "alembic.command",
    "deskhand.adapters.stores.postgres_backend",
    "deskhand.adapters.stores.redis_tickets",
    "deskhand.adapters.stores.sqlite_backend",
    "sqlalchemy.dialects.postgresql.asyncpg",
    "sqlalchemy.dialects.sqlite.pysqlite",
)
"""What stores import once they are opened."""


@dataclass(frozen=True)
class Order:
    """What a process is to do: call `module:function` with these words."""

    target: str
    arguments: Sequence[str]
    output: str
    """The file that what it prints is added to."""
    errors: str = ""
    """The file for what it says on stderr, if that is another."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What differs from our own environment. A crash point in it is armed."""
    has_only: bool = False
    """Whether it has nothing else in its environment."""
    folder: str | None = None
    beforehand: Sequence[str] = ()
    """Modules to import before the process begins, and functions of such (`module:function`) to
    call once."""


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    code: int
    """Negative for the signal that killed it, as `subprocess` says it."""
    errors: str
    """All that it wrote."""


def run_forked(module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> Ended:
    """Call `main` of a module of tests/ with these words in a process of its own, and wait for its
    end."""
    with tempfile.NamedTemporaryFile() as output:
        order = Order(
            f"{module}:main",
            arguments,
            output.name,
            environment=environment or {},
            folder=str(ROOT),
            beforehand=DATABASES,
        )
        code = ForkedProcess(order).wait()
        return Ended(code, output.read().decode(errors="replace"))


def run_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A `deskhand` command in a process of its own, in our folder and environment, that has ended
    by itself."""
    with tempfile.NamedTemporaryFile() as output, tempfile.NamedTemporaryFile() as errors:
        code = start_command(arguments, output.name, errors.name).wait()
        said = [file.read().decode(errors="replace") for file in (output, errors)]
        return subprocess.CompletedProcess(arguments, code, *said)


def start_command(arguments: Sequence[str], output: str, errors: str) -> "ForkedProcess":
    """A `deskhand` command in a process of its own, in our folder and environment."""
    environment = dict(os.environ)
    environment.pop(VARIABLE, None)
    return ForkedProcess(
        Order(
            "deskhand.cli:main",
            arguments,
            output,
            errors,
            environment=environment,
            has_only=True,
            folder=str(Path.cwd()),
            beforehand=_beforehand(arguments),
        )
    )


def _beforehand(arguments: Sequence[str]) -> Sequence[str]:
    return WORKS if "worker" in arguments or "--workers" in arguments else SERVES


class ForkedProcess:
    """A process that has begun."""

    def __init__(self, order: Order) -> None:
        self._line = socket.socket(socket.AF_UNIX)
        self._line.settimeout(PATIENCE)
        self._line.connect(_fork_server().address)
        self._line.sendall(_written(order))
        self._answers = self._line.makefile()
        self.pid = int(self._answers.readline())

    def send(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait(self) -> int:
        """Its exit code, once it has ended."""
        code = _code_in(self._answers.readline())
        self._answers.close()
        self._line.close()
        return code


class KillableProcess:
    """A process that lives until it is told to end, or ends by itself."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self.pid = 0
        self._code: int | None = None
        self._answers: asyncio.StreamReader | None = None
        self._line: asyncio.StreamWriter | None = None

    async def start(self) -> None:
        """Also after an end: it is another process then."""
        self._code = None
        server = await asyncio.to_thread(_fork_server)
        self._answers, self._line = await asyncio.open_unix_connection(server.address)
        self._line.write(_written(self._order))
        self.pid = int(await self._answers.readline())

    async def end(self, number: signal.Signals) -> int:
        """Send the signal and wait until the process is over; returns its exit code."""
        if self._code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)
        return await self.wait()

    async def wait(self) -> int:
        """Wait until the process is over; returns its exit code, negative for a signal."""
        if self._code is None:
            assert self._answers is not None
            assert self._line is not None
            self._code = _code_in(await self._answers.readline())
            self._line.close()
        return self._code


class ForkedCommand(KillableProcess):
    """A `deskhand` command in a process of its own."""

    def __init__(self, arguments: Sequence[str], output: Path, folder: Path) -> None:
        order = Order(
            "deskhand.cli:main",
            arguments,
            str(output),
            folder=str(folder),
            beforehand=(*_beforehand(arguments), READS),
        )
        super().__init__(order)


_spent = 0.0


def seconds_of_forked() -> float:
    """The CPU of all processes so far that ended: they are not our children."""
    return _spent


def _code_in(ending: str | bytes) -> int:
    global _spent
    code, seconds = ending.split()
    _spent += float(seconds)
    return int(code)


def _written(order: Order) -> bytes:
    return f"{json.dumps(asdict(order))}\n".encode()


class ForkServer:
    """A process that imports what it is asked for, and does the work in copies of itself."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="deskhand-fork-")
        self.address = str(Path(self._folder.name) / "line")
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        environment |= dict.fromkeys(ONE_THREAD, "1")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.forked", self.address],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def end(self) -> None:
        """It ends when its input does, as it also would if we were killed."""
        self._process.communicate()
        self._folder.cleanup()


@cache
def _fork_server() -> ForkServer:
    server = ForkServer()
    atexit.register(server.end)
    return server


# --- in the server


def serve(address: str) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            ready, _, _ = select.select([listener, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            _take(listener)


def _take(listener: socket.socket) -> None:
    line, _ = listener.accept()
    with line, line.makefile() as orders:
        order = Order(**json.loads(orders.readline()))
        for what in (*order.beforehand, order.target.partition(":")[0]):
            _get_ready(what)
        gc.freeze()
        if os.fork() == 0:
            _watch(order, line)
    _reap()


@cache
def _get_ready(what: str) -> None:
    module, _, function = what.partition(":")
    imported = import_module(module)
    if function:
        getattr(imported, function)()


def read_shipped_files() -> None:
    """Read what a desk would read from the package's own files before its first reply."""
    from deskhand.language.embed import default_threads, model_session, tokenizer
    from deskhand.mail.public_suffixes import is_registered_ending

    tokenizer()
    model_session("model.onnx", default_threads())
    is_registered_ending("com")


def _reap() -> None:
    """Forget those that are over."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _watch(order: Order, line: socket.socket) -> NoReturn:
    """Tells the id of the process that works, and later how it ended."""
    worker = os.fork()
    if worker == 0:
        line.close()
        _work(order)
    with contextlib.suppress(OSError):
        line.sendall(f"{worker}\n".encode())
        _, status, used = os.wait4(worker, 0)
        seconds = used.ru_utime + used.ru_stime
        line.sendall(f"{os.waitstatus_to_exitcode(status)} {seconds:.3f}\n".encode())
    os._exit(0)


def _work(order: Order) -> NoReturn:
    """The copy's whole life."""
    for descriptor, file in ((1, order.output), (2, order.errors or order.output)):
        with Path(file).open("ab") as output:
            os.dup2(output.fileno(), descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    code = 1
    try:
        if order.has_only:
            os.environ.clear()
        os.environ.update(order.environment)
        if crash_at := os.environ.get(VARIABLE):
            arm_from(crash_at)
        if order.folder is not None:
            os.chdir(order.folder)
        code = _called(order)
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _called(order: Order) -> int:
    module, _, name = order.target.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    if not inspect.iscoroutinefunction(function):
        return int(function(list(order.arguments)))
    asyncio.run(function(*order.arguments))
    return 0


if __name__ == "__main__":
    serve(sys.argv[1])
