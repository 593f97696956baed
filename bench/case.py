"""One measured case in a process of its own: `python -m bench.case NAME.CASE OPTIONS` prints one
line of JSON."""

import asyncio
import gc
import json
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


class Meter:
    """Wall time and CPU of this process, threads included, while a `measuring` block ran."""

    wall = 0.0
    cpu = 0.0


@contextmanager
def measuring() -> Iterator[Meter]:
    meter = Meter()
    gc.collect()
    cpu, wall = cpu_seconds(), time.perf_counter()
    try:
        yield meter
    finally:
        meter.wall, meter.cpu = time.perf_counter() - wall, cpu_seconds() - cpu


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_rss_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    name, options = sys.argv[1], json.loads(sys.argv[2])
    module, _, case = name.partition(".")
    with TemporaryDirectory(prefix="deskhand-bench-", dir=options.pop("folder", None)) as folder:
        run = import_module(f"bench.{module}").CASES[case]
        result: dict[str, Any] = asyncio.run(run(Path(folder), **options))
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
