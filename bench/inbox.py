"""The full cycle of a mail through the inbox desk on one core: from acceptance to the reply in
the outbox."""

import os
import statistics
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.case import cpu_seconds
from bench.harness import Floor, Report, Result, alternate, medians, spread
from deskhand import wiring
from deskhand.brain.scripted import ScriptedBrain
from deskhand.knowledge.ingest import Indexer
from deskhand.model.message import Address, Message
from deskhand.model.tasks import Task
from deskhand.wiring import assembly, serving

MAILS = (
    (
        "Good morning,\n\nwe are {n} people on two floors and our old coffee machine has given up."
        " Which of your machines would you recommend, and what does it cost? It should take fresh"
        " milk.\n\nThank you\nSue Lane"
    ),
    (
        "Hello, what sizes do your standing desks come in and how much is the one that is 160 cm"
        " wide? We would need {n}."
    ),
    (
        "Dobrý den,\n\nmáme {n} skleněných stolů. Dá se na ně lampa Mira připevnit a v jakých"
        " barvách ji dodáváte?\n\nDěkuji\nEva Malá"
    ),
    (
        "Guten Tag,\n\nwas kostet bei Ihnen ein Wartungsvertrag für {n} Kaffeemaschinen im Jahr,"
        " und wie schnell kommt im Störungsfall jemand zu uns?\n\nMit freundlichen Grüßen\nKarl"
        " Maier"
    ),
    (
        "Buenos días:\n\n¿Qué sillas de oficina tienen y cuánto cuestan? Buscamos {n} con apoyo"
        " lumbar y brazos regulables.\n\nUn saludo,\nMarta Gil"
    ),
    (
        "Hello, I'd like to talk to somebody about furnishing floor {n}. Could we speak on the"
        " phone one day next week?"
    ),
)


_REPLY = """Dear Sue Lane,

Thank you for your message.

Our article “Which coffee machine for how many people” says:

> The Piccolo is made for small offices. The Grande takes fresh milk. Both work from a tank; only the Grande can be
> connected to a water pipe.

Source: coffee-machines

Kind regards
Acme"""  # noqa: E501


def _message(number: int) -> Message:
    """No two alike: nothing that was computed for one is known for the next."""
    return Message(
        id=f"m{number}",
        conversation=f"c{number}",
        sender=Address(address=f"customer{number}@example.com", name="Sue Lane"),
        subject=f"A question ({number})",
        body=MAILS[number % len(MAILS)].format(n=number + 12),
        received_at=datetime.now(UTC),
    )


def _at_once(task: Task) -> Mapping[str, Any]:
    """A brain that costs nothing: what is left is the engine."""
    match task.stage:
        case "classify":
            return {"category": "inquiry", "confidence": 0.95}
        case "decide":
            return {"steps": [{"tool": "get_contact"}, {"tool": "create_draft"}], "reasoning": ""}
        case _:
            return {"text": _REPLY, "language": "en"}


async def cycle(folder: Path, *, mails: int, reading: bool) -> Result:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ["DESKHAND_EMBED_THREADS"] = "1"
    loaded = wiring.read_desk("inbox")
    loaded = replace(
        loaded, spec=loaded.spec.model_copy(update={"mode": "auto", "modes": {}, "trust": None})
    )
    if not reading:
        vars(serving).update(
            build_brain=lambda *args, **more: ScriptedBrain(_at_once),
            remembers=lambda spec: False,
        )
        vars(assembly).update(context_sources=lambda *args: [])
    async with wiring.open_database(str(folder / "inbox.db")) as database:
        if reading:
            store, home = (
                wiring.knowledge_store(database, "inbox"),
                loaded.spec.folder / "knowledge",
            )
            await Indexer(store, home, wiring.embedder(), wiring.embedder_name()).add([home])
        async with wiring.open_desk(loaded, database, outbox=folder / "outbox") as desk:
            walls, cpus, sent = [], [], 0
            for number in range(-3, mails):
                wall, cpu = time.perf_counter(), cpu_seconds()
                accepted = await desk.dispatcher.submit(_message(number + 3))
                status = await desk.dispatcher.wait(accepted.run_id)
                if number >= 0:
                    walls.append((time.perf_counter() - wall) * 1000)
                    cpus.append((cpu_seconds() - cpu) * 1000)
                    sent += status == "sent"
    late = statistics.quantiles(walls, n=20)[18]
    return {
        "p50_ms": statistics.median(walls),
        "p95_ms": late,
        "cpu_ms": statistics.median(cpus),
        "sent": sent,
    }


CASES = {"cycle": cycle}


def bench(*, quick: bool) -> Report:
    report = Report(
        "inbox", "the full cycle of a mail through the inbox desk, one at a time, on one core"
    )
    mails, rounds = (12, 1) if quick else (60, 3)
    report.runs = alternate(
        {
            "embedded brain": ("inbox.cycle", {"mails": mails, "reading": True}),
            "engine alone": ("inbox.cycle", {"mails": mails, "reading": False}),
        },
        rounds,
    )
    for label, results in report.runs.items():
        found = medians(results)
        report.table.append(
            {
                "what": label,
                "p50 ms": round(found["p50_ms"], 1),
                "p95 ms": round(found["p95_ms"], 1),
                "CPU ms": round(found["cpu_ms"], 1),
                "(p50 from, to)": spread(results, "p50_ms"),
                "sent": f"{found['sent']:g} of {mails}",
            }
        )
    whole, engine = (medians(report.runs[label]) for label in ("embedded brain", "engine alone"))
    report.floors.append(Floor("p50 of a full cycle", whole["p50_ms"], most=400, unit=" ms"))
    report.floors.append(
        Floor("the engine's share of the CPU", engine["cpu_ms"], most=15, unit=" ms")
    )
    return report
