"""Hostile mail against a running server: how long `/healthz` takes meanwhile, and how much
computing each mail is given.

`python -m bench.hostile [--desk inbox]` (in `.venv`) hands every kind of tests/hostile_mail.py
to `deskhand serve` by a folder of `.eml` files, and prints the figures as JSON. With `--each` the
mails come one after the other, and the figures say how much computing each of them takes, in the
server and in the processes that read for it.
"""

import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from statistics import median, quantiles

import deskhand
from tests.hostile_mail import SIZES, HostileMail, hostile_mails

DESK = """
desk: hostile
brain: {brain}
channels: {{try: {{files: ../mail}}}}
flows:
  answer:
    stages:
      classify: {{task: classify, categories: [order, invoice, other], next: draft}}
      draft: {{task: draft, next: dispatch}}
      dispatch: {{service: dispatch}}
"""
SCRIPT = """
rules:
  - when: {stage: classify}
    answer: {category: order, confidence: 0.9}
  - answer: {text: It is on its way., language: en}
"""
_AGO = 60
_TICKS = os.sysconf("SC_CLK_TCK")


SHIPPED = Path(deskhand.__file__).parent / "desks"


def write_desk(folder: Path, brain: str) -> None:
    """A small desk that answers every mail."""
    folder.mkdir()
    (folder / "desk.yaml").write_text(DESK.format(brain=brain))
    (folder / "brain.yaml").write_text(SCRIPT)


def copy_desk(name: str, folder: Path) -> None:
    """A shipped desk, with the folder of mails as its channel."""
    shutil.copytree(SHIPPED / name, folder)
    with (folder / "desk.yaml").open("a") as written:
        written.write("\nchannels: {try: {files: ../mail}}\n")


def write_mails(folder: Path, sizes: tuple[int, ...]) -> int:
    """All mails at once; returns how many there are."""
    count = 0
    for count, mail in enumerate(hostile_mails(sizes), 1):
        write_mail(folder, count, mail)
    return count


def write_mail(folder: Path, number: int, mail: HostileMail) -> None:
    """A mail as an old file, so that it is read at once."""
    file = folder / "mail" / f"{number:04}.eml"
    unique = b"<hostile%d@example.com>" % number
    hidden = file.with_suffix(".part")
    hidden.write_bytes(mail.raw.replace(b"<hostile@example.com>", unique))
    os.utime(hidden, (time.time() - _AGO, time.time() - _AGO))
    hidden.rename(file)


def computing(pid: int) -> float:
    """Seconds of computing of a process and of those it started and waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def tree_computing(root: int) -> float:
    """Seconds of computing of a process and of all those below it, ended or not."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
    tree = {root}
    while below := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= below
    used = 0.0
    for pid in tree:
        with suppress(OSError):
            used += computing(pid)
    return used


def statuses(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "desk.db", timeout=60)) as database:
        return [row[0] for row in database.execute("SELECT status FROM runs")]


def wait_for_rest(pid: int) -> None:
    """Until the server has loaded what it loads when it starts: no mail is the cause of that."""
    before = -1.0
    while (used := tree_computing(pid)) - before > 0.05:
        before = used
        time.sleep(2)


def measure_each(folder: Path, sizes: tuple[int, ...]) -> dict[str, object]:
    """How much computing each mail takes, from the file that appears to its run at rest."""
    used: list[tuple[float, str]] = []
    with served(folder) as (server, _, log):
        wait_for_rest(server.pid)
        for number, mail in enumerate(hostile_mails(sizes), 1):
            before = tree_computing(server.pid)
            write_mail(folder, number, mail)
            while len(found := statuses(folder)) < number or {"queued", "running"} & set(found):
                time.sleep(0.05)
            used.append((round(tree_computing(server.pid) - before, 2), mail.kind))
            print(f"{number}: {used[-1]}", file=sys.stderr)
        unread = log.read_text().count("could not be read")
    used.sort(reverse=True)
    seconds = sorted(one[0] for one in used)
    return {
        "mails": len(used),
        "computing of a mail": {
            "median s": median(seconds),
            "worst s": seconds[-1],
            "over 2 s": [one for one in used if one[0] > 2],
            "worst mails": used[:10],
        },
        "could not be read": unread,
    }


def runs_in(folder: Path) -> dict[str, int]:
    command = [sys.executable, "-m", "deskhand.cli", "runs", "list", "--json", "--limit", "1000"]
    found = subprocess.run(
        [*command, "--database", str(folder / "desk.db")], capture_output=True, check=True
    )
    counts: dict[str, int] = {}
    for run in json.loads(found.stdout)["runs"]:
        counts[run["status"]] = counts.get(run["status"], 0) + 1
    return counts


def healthz(url: str) -> float:
    began = time.perf_counter()
    with urllib.request.urlopen(f"{url}/healthz", timeout=300) as answer:
        answer.read()
    return time.perf_counter() - began


@contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], str, Path]]:
    """The server at work, its address and its log."""
    command = [sys.executable, "-m", "deskhand.cli", "serve", str(folder / "desk"), "--port", "0"]
    command += ["--database", str(folder / "desk.db"), "--outbox", str(folder / "outbox")]
    log = folder / "log"
    with log.open("wb") as written:
        server = subprocess.Popen(command, stdout=written, stderr=written)
    try:
        while not (url := re.search(r"http://127\.0\.0\.1:\d+", log.read_text())):
            if server.poll() is not None:
                raise SystemExit(log.read_text())
            time.sleep(0.1)
        yield server, url[0], log
    finally:
        server.terminate()
        server.wait()


def measure(folder: Path, count: int) -> dict[str, object]:
    with served(folder) as (server, url, log):
        waits: list[float] = []
        counts: dict[str, int] = {}
        began = looked = time.time()
        while sum(counts.values()) < count or set(counts) & {"queued", "running"}:
            waits.append(healthz(url))
            time.sleep(0.02)
            if time.time() - looked > 10:
                counts, looked = runs_in(folder), time.time()
                print(f"{time.time() - began:.0f} s: {counts}", file=sys.stderr)
        used = tree_computing(server.pid)
        milliseconds = [wait * 1000 for wait in waits]
        hundredths = quantiles(milliseconds, n=100)
        return {
            "mails": count,
            "runs": counts,
            "seconds": round(time.time() - began, 1),
            "computing of the server": round(used, 1),
            "healthz": {
                "asked": len(waits),
                "p50 ms": round(hundredths[49], 1),
                "p99 ms": round(hundredths[98], 1),
                "worst ms": round(max(milliseconds), 1),
            },
            "could not be read": log.read_text().count("could not be read"),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description="Hostile mail against a running server.")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--embedded", action="store_true", help="let the embedded brain read them")
    parser.add_argument("--desk", help="a shipped desk, as `inbox`, instead of a small one")
    parser.add_argument("--each", action="store_true", help="measure each mail by itself")
    options = parser.parse_args()
    brain = "embedded" if options.embedded else "{scripted: brain.yaml}"
    with tempfile.TemporaryDirectory(prefix="deskhand-hostile-") as name:
        folder = Path(name)
        if options.desk:
            copy_desk(options.desk, folder / "desk")
        else:
            write_desk(folder / "desk", brain)
        (folder / "mail").mkdir()
        sizes = tuple(options.sizes)
        if options.each:
            print(json.dumps(measure_each(folder, sizes), indent=2))
            return
        count = write_mails(folder, sizes)
        print(json.dumps(measure(folder, count), indent=2))


if __name__ == "__main__":
    main()
