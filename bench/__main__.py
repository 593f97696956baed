"""`python -m bench [NAME ...] [--quick] [--json FILE]`: every benchmark, or those named."""

import argparse
import json
import os
import sys
from pathlib import Path

from bench import (
    durable,
    evals,
    gate,
    growth,
    in_flight,
    inbox,
    intents,
    knowledge,
    llm_stage,
    loop,
    policy,
    recovery,
    routing,
    scale,
    startup,
    tickets,
    whole_path,
)
from bench.harness import Neighbours, Report, machine, show

BENCHMARKS = {
    "startup": startup.bench,
    "durable": durable.bench,
    "growth": growth.bench,
    "llm_stage": llm_stage.bench,
    "loop": loop.bench,
    "in_flight": in_flight.bench,
    "knowledge": knowledge.bench,
    "scale": scale.bench,
    "recovery": recovery.bench,
    "intents": intents.bench,
    "policy": policy.bench,
    "evals": evals.bench,
    "gate": gate.bench,
    "routing": routing.bench,
    "inbox": inbox.bench,
    "whole_path": whole_path.bench,
    "tickets": tickets.bench,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure Deskhand beside other engines."
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of: {', '.join(BENCHMARKS)} (default: all)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="one short run of each; its figures mean little"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write everything that was measured there"
    )
    options = parser.parse_args()
    unknown = sorted(set(options.names) - BENCHMARKS.keys())
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")

    about = machine()
    print(", ".join(f"{key}: {value}" for key, value in about.items()))
    if about["load_average"][0] > 0.5 * (os.cpu_count() or 1):
        print(
            f"WARNING: the load average is {about['load_average'][0]}: somebody else is at work,"
            " expect noise"
        )
    reports: list[Report] = []
    for name in options.names or BENCHMARKS:
        neighbours = Neighbours()
        report = BENCHMARKS[name](quick=options.quick)
        report.others_cpu = neighbours.share()
        reports.append(report)
        show(report)
    if options.json is not None:
        figures = {
            "machine": about,
            "quick": options.quick,
            "benchmarks": [report.as_json() for report in reports],
        }
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    floors = [floor for report in reports for floor in report.floors]
    failed = [floor for floor in floors if not floor.passed]
    print(f"\n{len(floors) - len(failed)} of {len(floors)} floors reached")
    for floor in failed:
        print(floor)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
