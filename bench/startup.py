"""CPU from starting Python to having the package, or to the end of a command."""

import math
import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness import ROOT, Floor, Report

TIMES = 5
MAIL = ROOT / "src" / "deskhand" / "desks" / "inbox" / "samples" / "en-quote-standing-desks.eml"
FLOORS = {
    "import deskhand": 0.5,
    "deskhand --help": 0.7,
    "deskhand runs list": 1.0,
    "deskhand reviews list": 1.0,
    "deskhand modes show inbox": 1.0,
    "deskhand doctor inbox": 1.0,
    "deskhand run, embedded brain": 4.0,
}


def cpu_of(*command: str) -> float:
    """Infinite for a command that fails: no floor holds for it."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime if process.returncode == 0 else math.inf


def bench(*, quick: bool) -> Report:
    report = Report("startup", "CPU of a fresh process, the interpreter's own start included")
    with TemporaryDirectory(prefix="deskhand-bench-") as folder:
        commands = _commands(Path(folder))
        for _ in range(TIMES):
            for what, command in commands.items():
                report.runs.setdefault(what, []).append({"cpu_s": cpu_of(*command)})
    found = {}
    for what, runs in report.runs.items():
        found[what] = statistics.median(run["cpu_s"] for run in runs)
    failed = ", ".join(what for what, cpu in found.items() if cpu == math.inf)
    if failed:
        report.notes.append(f"FAILED, see above: {failed}")
    report.table = [{"what": what, f"CPU s, median of {TIMES}": cpu} for what, cpu in found.items()]
    for what, most in FLOORS.items():
        report.floors.append(Floor(what, found[what], most=most, unit=" s"))
    return report


def _commands(folder: Path) -> dict[str, tuple[str, ...]]:
    """What is measured. The database holds one message, and the cache what reading it took."""
    deskhand = str(Path(sys.executable).with_name("deskhand"))
    database = ("--database", str(folder / "desk.db"))
    os.environ["DESKHAND_CACHE"] = str(folder / "cache")
    run = (deskhand, "run", str(MAIL), "--desk", "inbox")
    subprocess.run(
        (*run, "--live", *database, "--outbox", str(folder / "outbox")),
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return {
        "python -c pass": (sys.executable, "-c", "pass"),
        "import deskhand": (sys.executable, "-c", "import deskhand"),
        "import deskhand.wiring": (sys.executable, "-c", "import deskhand.wiring"),
        "deskhand --help": (deskhand, "--help"),
        "deskhand runs list": (deskhand, "runs", "list", *database),
        "deskhand reviews list": (deskhand, "reviews", "list", *database),
        "deskhand modes show inbox": (deskhand, "modes", "show", "inbox", *database),
        "deskhand doctor inbox": (deskhand, "doctor", "inbox", "--port", "0", *database),
        "deskhand run, embedded brain": run,
    }
