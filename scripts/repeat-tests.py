#!/usr/bin/env python3
"""Show that the tests always tell the truth: repeat them beside two busy loops.

    scripts/repeat-tests.py                # three whole runs, then each `real` test twenty times
    scripts/repeat-tests.py --whole 0      # the `real` tests alone
    scripts/repeat-tests.py --select "tests/integration -k dbos" --whole 0 --rounds 5

First come whole runs until so many in a row are green, then every test marked `real` until it has
passed so many times in a row. The tally is kept in a file after every test: interrupt it and start
it again, and it goes on where it was. A failure sets the count of its test back to nothing and is
kept with the file that holds the output. Ends with 1 when anything failed or is short of its count.
"""

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUSY_LOOPS = 2
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    sum(range(100_000))"
ENDED_WELL = 0
INTERRUPTED = 130


@dataclass
class Count:
    """How one test has fared."""

    in_a_row: int = 0
    runs: int = 0
    failures: list[str] = field(default_factory=list)
    """The files with the output of each run in which it failed."""


@dataclass
class Tally:
    """What is kept in the file."""

    commit: str = ""
    whole_in_a_row: int = 0
    whole_failures: list[str] = field(default_factory=list)
    invocations: int = 0
    tests: dict[str, Count] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Tally":
        if not path.exists():
            return cls()
        kept = json.loads(path.read_text())
        tests = {name: Count(**count) for name, count in kept.pop("tests").items()}
        return cls(**kept, tests=tests)

    def write(self, path: Path) -> None:
        """Whole or not at all."""
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(self), indent=1))
        part.replace(path)

    def count(self, test: str, outcome: str, output: Path) -> None:
        """A test that was left out counts neither way."""
        count = self.tests.setdefault(test, Count())
        if outcome == "passed":
            count.in_a_row += 1
            count.runs += 1
        elif outcome == "failed":
            count.in_a_row = 0
            count.runs += 1
            count.failures.append(str(output))


class Repeater:
    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._path = Path(options.tally).resolve()
        self._folder = self._path.with_suffix(".outputs")
        self._folder.mkdir(parents=True, exist_ok=True)
        self.tally = Tally() if options.fresh else Tally.read(self._path)
        self._note_commit()

    def whole_runs(self) -> None:
        """Whole runs until so many in a row are green; a failure ends the attempt."""
        while self.tally.whole_in_a_row < self._options.whole:
            number = self.tally.whole_in_a_row + 1
            code, outcomes, output = self._run(f"whole run {number} of {self._options.whole}", [])
            if code == ENDED_WELL:
                self.tally.whole_in_a_row += 1
            else:
                self.tally.whole_in_a_row = 0
                self.tally.whole_failures.append(str(output))
            self._keep()
            if code != ENDED_WELL:
                _say_failed(outcomes, output)
                return

    def rounds(self) -> None:
        """As many rounds as are asked for, each over the tests that are short of their count."""
        selected = self._select()
        for number in range(1, self._options.rounds + 1):
            short = [test for test in selected if self._is_short(test)]
            if not short:
                return
            self._round(f"round {number} of {self._options.rounds}", short)

    def report(self) -> int:
        """Print the final table; the exit code."""
        short = [test for test in self._select() if self._is_short(test)]
        failed = {test: count for test, count in self.tally.tests.items() if count.failures}
        whole = self.tally.whole_in_a_row
        print(f"\nwhole runs in a row: {whole} of {self._options.whole}")
        for output in self.tally.whole_failures:
            print(f"  a whole run failed: {output}")
        print(f"real tests short of {self._options.rounds} in a row: {len(short)}")
        print(f"real tests that ever failed: {len(failed)}")
        for test, count in sorted(failed.items()):
            print(f"  {count.in_a_row:3} in a row, {len(count.failures)} of {count.runs} failed")
            print(f"      {shlex.quote(test)}")
            print(f"      {count.failures[-1]}")
        is_firm = whole >= self._options.whole and not short and not failed
        return 0 if is_firm and not self.tally.whole_failures else 1

    def _round(self, title: str, tests: list[str]) -> None:
        arguments = self._folder / "selected.txt"
        arguments.write_text("\n".join(tests))
        self._run(title, [f"@{arguments}"], counted=True)

    def _run(
        self, title: str, arguments: list[str], *, counted: bool = False
    ) -> tuple[int, dict[str, str], Path]:
        """One invocation of pytest: its exit code, the outcomes and the file with its output."""
        self.tally.invocations += 1
        name = f"{self.tally.invocations:04}-{title.replace(' ', '-')}"
        output = self._folder / f"{name}.log"
        results = self._folder / f"{name}.jsonl"
        command = [*_pytest(), "-p", "tests.results", *_beside(self._options), *arguments]
        begun = time.monotonic()
        print(f"{title}: {output}", flush=True)
        outcomes: dict[str, str] = {}
        try:
            code = _call(command, output, results)
        finally:
            outcomes = _read_results(results)
            if counted:
                for test, outcome in outcomes.items():
                    self.tally.count(test, outcome, output)
            self._keep()
        self._say(title, outcomes, time.monotonic() - begun)
        return code, outcomes, output

    def _select(self) -> list[str]:
        """The ids of all `real` tests, of the selection alone where one is given."""
        if not hasattr(self, "_selected"):
            marked = "real and not chaos and not soak"
            command = [*_pytest(), "--collect-only", "-m", marked]
            command += shlex.split(self._options.select)
            listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            if listed.returncode not in (0, 5):
                sys.exit(f"cannot collect the tests:\n{listed.stdout}{listed.stderr}")
            self._selected = [line for line in listed.stdout.splitlines() if "::" in line]
        return self._selected

    def _is_short(self, test: str) -> bool:
        return self.tally.tests.get(test, Count()).in_a_row < self._options.rounds

    def _say(self, title: str, outcomes: dict[str, str], seconds: float) -> None:
        failed = [test for test, outcome in outcomes.items() if outcome == "failed"]
        took = f"{seconds // 60:.0f}:{seconds % 60:02.0f}"
        print(f"{title}: {len(outcomes)} tests, {len(failed)} failed, {took}", flush=True)
        for test in failed:
            print(f"  failed: {test}", flush=True)

    def _keep(self) -> None:
        self.tally.write(self._path)

    def _note_commit(self) -> None:
        command = ["git", "rev-parse", "--short", "HEAD"]
        asked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        commit = asked.stdout.strip()
        if self.tally.commit and self.tally.commit != commit:
            print(f"the tally goes back to {self.tally.commit}, the code is now at {commit}")
        self.tally.commit = self.tally.commit or commit


def _pytest() -> list[str]:
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]


def _beside(options: argparse.Namespace) -> list[str]:
    return ["--numprocesses", str(options.numprocesses), "--dist", "worksteal"]


def _call(command: list[str], output: Path, results: Path) -> int:
    environment = {**os.environ, "DESKHAND_TEST_RESULTS": str(results)}
    with output.open("w") as file:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT
        )
        try:
            return process.wait()
        except BaseException:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise


def _read_results(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {line["test"]: line["outcome"] for line in lines}


def _say_failed(outcomes: dict[str, str], output: Path) -> None:
    if "failed" not in outcomes.values():
        print(f"  pytest itself failed: {output}", flush=True)


@contextmanager
def busy_loops(number: int) -> Iterator[None]:
    """Programs that leave less of the machine to the tests; they end when this one does."""
    command = [sys.executable, "-c", BUSY, str(os.getpid())]
    loops = [subprocess.Popen(command) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def read_options() -> argparse.Namespace:
    summary = str(__doc__).partition("\n\n")[0]
    parser = argparse.ArgumentParser(description=summary)
    parser.add_argument("--whole", type=int, default=3, help="whole runs in a row (3)")
    parser.add_argument("--rounds", type=int, default=20, help="passes in a row of each (20)")
    parser.add_argument("--no-load", action="store_true", help="without the two busy loops")
    parser.add_argument("--select", default="", help="arguments for pytest that pick real tests")
    parser.add_argument("--numprocesses", type=int, default=3, help="of pytest-xdist (3)")
    parser.add_argument("--tally", default=str(ROOT / ".repeat-tests.json"), help="the file")
    parser.add_argument("--fresh", action="store_true", help="begin with an empty tally")
    return parser.parse_args()


def main() -> int:
    options = read_options()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    repeater = Repeater(options)
    loops = 0 if options.no_load else BUSY_LOOPS
    try:
        with busy_loops(loops):
            repeater.whole_runs()
            repeater.rounds()
    except KeyboardInterrupt:
        print("interrupted; start it again to go on", flush=True)
        return INTERRUPTED
    return repeater.report()


if __name__ == "__main__":
    sys.exit(main())
