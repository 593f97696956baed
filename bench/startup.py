"""CPU from starting Python to having the package, or the command's help."""

import math
import os
import statistics
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from bench.harness import ROOT, Floor, Report

TIMES = 5


def cpu_of(*command: str) -> float:
    """Infinite for a command that fails: no floor holds for it."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime if process.returncode == 0 else math.inf


def bench(*, quick: bool) -> Report:
    report = Report("startup", "CPU of a fresh process, the interpreter's own start included")
    commands = {
        "python -c pass": (sys.executable, "-c", "pass"),
        "import deskhand": (sys.executable, "-c", "import deskhand"),
        "import deskhand.wiring": (sys.executable, "-c", "import deskhand.wiring"),
    }
    if find_spec("deskhand.cli") is None:
        report.notes.append("SKIPPED: deskhand --help, because deskhand.cli does not exist yet")
    else:
        commands["deskhand --help"] = (str(Path(sys.executable).with_name("deskhand")), "--help")
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
    report.floors.append(Floor("import deskhand", found["import deskhand"], most=0.5, unit=" s"))
    if "deskhand --help" in found:
        report.floors.append(
            Floor("deskhand --help", found["deskhand --help"], most=0.7, unit=" s")
        )
    return report
