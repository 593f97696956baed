"""Runs cases in fresh processes, in turns; takes medians; checks floors; prints tables."""

import json
import os
import platform
import resource
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
QUIET = {"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false", "OPENAI_API_KEY": "none"}
BUSY = 0.10
"""The share of the machine that others may use before we warn."""

Result = dict[str, Any]
Case = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Floor:
    """A figure that must be reached: a smallest value, or a largest."""

    what: str
    measured: float
    least: float | None = None
    most: float | None = None
    unit: str = ""

    @property
    def passed(self) -> bool:
        over = self.least is None or self.measured >= self.least
        under = self.most is None or self.measured <= self.most
        return over and under

    def __str__(self) -> str:
        bound = f">= {self.least:g}" if self.least is not None else f"<= {self.most:g}"
        return (
            f"{'PASS' if self.passed else 'FAIL'}  {self.what}: {self.measured:.3g}{self.unit}"
            f" (floor {bound})"
        )


@dataclass
class Report:
    """What one benchmark found."""

    name: str
    about: str
    table: list[dict[str, Any]] = field(default_factory=list)
    floors: list[Floor] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    runs: dict[str, list[Result]] = field(default_factory=dict)
    others_cpu: float | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "floors": [asdict(floor) | {"passed": floor.passed} for floor in self.floors]
        }


def elsewhere(case: str) -> Path:
    """The Python of the environment that a case's module has to itself, where there is one."""
    return ROOT / f".venv-bench-{case.partition('.')[0].replace('_', '-')}" / "bin" / "python"


def run_case(name: str, **options: Any) -> Result:
    """The JSON that `bench.case` prints; what goes wrong in there ends the whole benchmark."""
    own = elsewhere(name)
    done = subprocess.run(
        [
            str(own) if own.exists() else sys.executable,
            "-m",
            "bench.case",
            name,
            json.dumps(options),
        ],
        cwd=ROOT,
        env=os.environ | QUIET,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(
            f"case {name} {options} failed (exit status {done.returncode}); its words are above"
        )
    result: Result = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def alternate(cases: Mapping[str, Case], rounds: int) -> dict[str, list[Result]]:
    """A, B, A, B, ...: whatever slows the machine down meanwhile slows all of them."""
    results: dict[str, list[Result]] = {label: [] for label in cases}
    for turn in range(rounds):
        for label, (name, options) in cases.items():
            begun = time.perf_counter()
            results[label].append(run_case(name, **options))
            print(
                f"  {label}, run {turn + 1} of {rounds}: {time.perf_counter() - begun:.1f} s",
                file=sys.stderr,
            )
    return results


def medians(results: Sequence[Result]) -> Result:
    """By key; what is not a number is taken from the first run."""
    middle = dict(results[0])
    for key, value in middle.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            middle[key] = statistics.median(result[key] for result in results)
    return middle


def spread(results: Sequence[Result], key: str) -> str:
    values = sorted(result[key] for result in results)
    return f"{values[0]:.3g} to {values[-1]:.3g}"


@contextmanager
def model_server(*arguments: str) -> Iterator[str]:
    """The OpenAI-shaped server in a process of its own; gives its base URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.server", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


# --- the machine


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "cpu": _cpu_name(),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "at": time.strftime("%Y-%m-%d %H:%M:%S %z"),
    }


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        "unknown",
    )


class Neighbours:
    """What share of the machine's cores was busy with work that is not ours (Linux; None
    elsewhere)."""

    def __init__(self) -> None:
        self._begun = self._now()

    def share(self) -> float | None:
        now = self._now()
        if now is None or self._begun is None:
            return None
        wall, busy, ours = (after - before for after, before in zip(now, self._begun, strict=True))
        return max(0.0, (busy - ours) / (wall * (os.cpu_count() or 1)))

    def _now(self) -> tuple[float, float, float] | None:
        try:
            fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
        except OSError:
            return None
        user, nice, system, _idle, _iowait, irq, softirq, steal = (int(field) for field in fields)
        busy = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return time.monotonic(), busy, sum(usage.ru_utime + usage.ru_stime for usage in used)


# --- output


def show(report: Report) -> None:
    print(f"\n## {report.name}: {report.about}\n")
    if report.table:
        print(_table(report.table))
        print()
    for note in report.notes:
        print(f"- {note}")
    if report.others_cpu is not None:
        heavy = (
            " WARNING: somebody else was at work; repeat when it is quiet"
            if report.others_cpu > BUSY
            else ""
        )
        print(f"- others used {report.others_cpu:.0%} of the machine meanwhile.{heavy}")
    for floor in report.floors:
        print(floor)
    print(json.dumps(report.as_json()), flush=True)


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    heads = list(dict.fromkeys(key for row in rows for key in row))
    lines = [heads]
    for row in rows:
        lines.append([_cell(row.get(head)) for head in heads])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
