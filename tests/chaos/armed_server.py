"""`deskhand` in processes that a test tells, while they serve, at which point they are to kill
themselves.

`python -m tests.chaos.armed_server FOLDER` reads lines of JSON from its input, the arguments of one
command each, and forks a process for each: what takes seconds to import is there already. It prints
the process's id, and once that process is over its exit code. On SIGUSR1 the point in
FOLDER/crash_at is armed, and FOLDER/armed says so; passages count from then on, so a test need not
know how many a start takes.
"""

import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from deskhand.cli import main
from deskhand.crashpoints import arm_from, disarm
from tests.forked import SERVES

CRASH_AT, ARMED, LOG = "crash_at", "armed", "serve.log"


def arm_on_signal(folder: Path) -> None:
    def arm_now(number: int, frame: object) -> None:
        disarm()
        if setting := (folder / CRASH_AT).read_text():
            arm_from(setting)
        (folder / ARMED).touch()

    signal.signal(signal.SIGUSR1, arm_now)


def serve(folder: Path, arguments: list[str]) -> NoReturn:
    with (folder / LOG).open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os._exit(main(arguments))


def nurse(folder: Path) -> None:
    for module in SERVES:
        import_module(module)
    arm_on_signal(folder)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            serve(folder, json.loads(line))
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    nurse(Path(sys.argv[1]))
