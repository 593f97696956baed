"""Work on what strangers sent, in processes that are ended when it takes too much.

Whoever writes a mail chooses how long it takes to read. So functions over such bytes run in a
process of their own, which the kernel ends after so much computing. A few processes stay warm,
because a new one takes a third of a second to start.
"""

import asyncio
import atexit
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

CPU_SECONDS = 1.0
"""Computing that one call may take."""
PREPARE = "prepare"
"""A function of this name in the module of a call is called first, outside its limit: it imports
what every call needs."""
MEMORY = 1_500_000_000
"""Bytes of memory that such a process may have."""
PATIENCE = 300.0
"""Seconds of waiting, for machines that are busy; the CPU limit is what ends hostile work."""
PROCESSES = 2
_MOST_CALLS = 5000
_WORN_OUT = 300_000_000
"""Bytes of memory after which a process is replaced: one large mail must not cost for ever."""
_NICE = 5
"""Those who wait for a page come first."""
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH")
"""All that a process learns of our environment: there are passwords in it."""

_CALL = struct.Struct(">dIQ")
_ANSWER = struct.Struct(">BQ")
_DONE, _FAILED, _LAST = 0, 1, 2
_PIECE = 1 << 20


class WorkStopped(Exception):
    """The work was ended or failed; the words say why."""


class LimitedProcess:
    """One process that answers calls, one at a time."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-I", "-c", f"from {__name__} import serve; serve()"]
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        with theirs:
            self._process = subprocess.Popen(
                command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
        self._line = ours
        self._line.settimeout(PATIENCE)
        self.is_worn_out = False

    def call(self, function: str, payload: bytes, seconds: float) -> bytes:
        """What the function returns. Raises WorkStopped; then the process is at its end."""
        name = function.encode()
        try:
            self._line.sendall(_CALL.pack(seconds, len(name), len(payload)) + name)
            self._line.sendall(payload)
            state, length = _ANSWER.unpack(_received(self._line, _ANSWER.size))
            answer = _received(self._line, length)
        except (OSError, EOFError) as error:
            raise WorkStopped(self._reason(error)) from None
        self.is_worn_out = state == _LAST
        if state == _FAILED:
            raise WorkStopped(answer.decode("utf-8", "replace"))
        return answer

    def computing(self) -> float:
        """Seconds of computing of the process so far, by the kernel's count; Linux only."""
        status = Path(f"/proc/{self._process.pid}/stat").read_text()
        ticks = status.rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        self._line.close()
        self._process.kill()
        self._process.wait()

    def _reason(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return f"it gave no answer within {PATIENCE:g} s"
        self._line.close()
        code = self._process.wait()
        if code == -signal.SIGPROF:
            return "it takes more computing than one message is given"
        return f"the process that read it ended with {code}"


class LimitedProcesses:
    """Warm processes; one that was ended is replaced when it is needed."""

    def __init__(self, most: int = PROCESSES) -> None:
        self._most = most
        self._idle: list[LimitedProcess] = []
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(most)
        self._threads: ThreadPoolExecutor | None = None
        self._is_closed_at_exit = False

    def call(self, function: str, payload: bytes, seconds: float = CPU_SECONDS) -> bytes:
        """What `module:function` returns for the payload, computed in a limited process.

        Raises WorkStopped if that takes too much or fails. It waits: not for the event loop.
        """
        with self._slots:
            process = self._take()
            try:
                answer = process.call(function, payload, seconds)
            except BaseException:
                process.end()
                raise
            if process.is_worn_out:
                process.end()
            else:
                self._give_back(process)
            return answer

    async def ask(self, function: str, payload: bytes, seconds: float = CPU_SECONDS) -> bytes:
        """The same, without holding up the event loop."""
        with self._lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(self._most, "deskhand-limited")
            threads = self._threads
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(threads, self.call, function, payload, seconds)

    def close(self) -> None:
        """End the processes that wait for work."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    def _take(self) -> LimitedProcess:
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if not self._is_closed_at_exit:
                atexit.register(self.close)
                self._is_closed_at_exit = True
        return LimitedProcess()

    def _give_back(self, process: LimitedProcess) -> None:
        with self._lock:
            self._idle.append(process)


limited_processes = LimitedProcesses()
"""Those of this process; none is started before it is needed."""


def _received(line: socket.socket, length: int) -> bytes:
    """Exactly so many bytes. Raises EOFError where the other side ended."""
    pieces: list[bytes] = []
    while length:
        piece = line.recv(min(length, _PIECE))
        if not piece:
            raise EOFError
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


# --- inside the limited process


def serve() -> None:
    """Answer the calls on standard input until it is closed."""
    os.nice(_NICE)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
    with socket.socket(fileno=0) as line:
        for number in range(1, _MOST_CALLS + 1):
            try:
                seconds, name_length, length = _CALL.unpack(_received(line, _CALL.size))
                name = _received(line, name_length).decode()
                payload = _received(line, length)
            except (OSError, EOFError):
                return
            state, answer = _computed(name, payload, seconds)
            if state == _DONE and (number == _MOST_CALLS or _memory_used() > _WORN_OUT):
                state = _LAST
            line.sendall(_ANSWER.pack(state, len(answer)))
            line.sendall(answer)
            if state != _DONE:
                return


def _memory_used() -> int:
    """Bytes that this process has in memory now.

    What `getrusage` tells counts the memory of the process that started it, too.
    """
    try:
        with Path("/proc/self/statm").open("rb") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:  # not Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _computed(name: str, payload: bytes, seconds: float) -> tuple[int, bytes]:
    module, _, function = name.partition(":")
    try:
        brought = import_module(module)  # before the clock runs
        prepare = getattr(brought, PREPARE, None)
        if prepare is not None:
            prepare()
        work = getattr(brought, function)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        answer: bytes = work(payload)
    except MemoryError:
        return _FAILED, b"it takes more memory than one message is given"
    except Exception as error:
        return _FAILED, f"it failed with {type(error).__name__}".encode()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return _DONE, answer
