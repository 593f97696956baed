"""A thousand runs in flight in one process, each with three model calls of five seconds."""

import asyncio
import itertools
from pathlib import Path
from typing import Any

from bench.case import measuring, peak_rss_mb
from bench.desks import CATEGORIES, MODEL, chain, chat_model, message, working
from bench.harness import Floor, Report, Result, alternate, medians, model_server, spread
from deskhand.adapters.chat_models.recording import RecordingChatModel
from deskhand.agents.parts import Parts
from deskhand.brain.llm import LlmBrain
from deskhand.engine.clock import SystemClock

CALLS = ("classify", "decide", "answer")
SUBMITTERS = 50


async def ours(folder: Path, url: str, in_flight: int, n: int) -> Result:
    chat = chat_model(url)
    flow = chain("waiting", CALLS, has_llm=True, task="classify", choices=CATEGORIES)

    def parts(store: Any) -> Parts:
        return Parts(
            brain=LlmBrain(RecordingChatModel(chat, store.record_call, SystemClock()), {}, MODEL)
        )

    async with working(folder, {"waiting": flow}, parts, in_flight=in_flight) as desk:
        numbers, runs = itertools.count(), []

        async def submit() -> None:
            while (number := next(numbers)) < n:
                runs.append((await desk.dispatcher.submit(message(number))).run_id)

        with measuring() as meter:
            await asyncio.gather(*(submit() for _ in range(SUBMITTERS)))
            statuses = [await desk.dispatcher.wait(run) for run in runs]
        calls = len(await desk.store.calls(runs[0]))
    await chat.aclose()
    assert set(statuses) == {"done"}, set(statuses)
    assert calls == len(CALLS), calls
    return {
        "runs_s": n / meter.wall,
        "cpu_ms": meter.cpu / n * 1000,
        "rss_mb": peak_rss_mb(),
        "wall_s": meter.wall,
    }


CASES = {"ours": ours}


def bench(*, quick: bool) -> Report:
    in_flight, delay, n, rounds = (200, 1.0, 600, 1) if quick else (1000, 5.0, 3000, 3)
    ideal = in_flight / (delay * len(CALLS))
    report = Report(
        "in_flight",
        f"{in_flight:,} runs in flight, three model calls of {delay:g} s each, one process",
    )
    with model_server("--delay", str(delay)) as url:
        case = ("in_flight.ours", {"url": url, "in_flight": in_flight, "n": n})
        report.runs = alternate({"Deskhand": case}, rounds)
    found = medians(report.runs["Deskhand"])
    report.table.append(
        {
            "runs": n,
            "runs/s": found["runs_s"],
            "(min to max)": spread(report.runs["Deskhand"], "runs_s"),
            "ideal": ideal,
            "share of ideal": found["runs_s"] / ideal,
            "CPU ms/run": found["cpu_ms"],
            "busy": found["cpu_ms"] * found["runs_s"] / 1000,
            "peak RSS MB": found["rss_mb"],
        }
    )
    report.floors = [
        Floor("share of the ideal rate", found["runs_s"] / ideal * 100, least=85, unit="%")
    ]
    return report
