"""How often a reply without an LLM quotes the right article, and how often it keeps silent when
there is none.

`python -m bench.quoting [--json]`. The questions are in quoting.yaml, which says what was used for
fitting.
"""

import asyncio
import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

from deskhand.brain.embedded import EmbeddedBrain
from deskhand.brain.embedded_desk import EmbeddedDesk
from deskhand.config.yaml import read_yaml
from deskhand.knowledge.ingest import Indexer
from deskhand.model.tasks import Task, TaskKind
from deskhand.wiring import embedder, embedder_name, open_database, open_knowledge

SETS = Path(__file__).with_name("quoting.yaml")
LANGUAGES = ("en", "cs", "de", "es", "fr")


async def measure(name: str) -> dict[str, Any]:
    chosen = read_yaml(SETS).data[name]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "knowledge"
        home.mkdir()
        for key, article in chosen["articles"].items():
            head = f"---\nid: {key}\ntitle: {article['title']}\nlanguage: en\n---\n"
            (home / f"{key}.md").write_text(f"{head}{article['text']}\n")
        async with open_database(f"{folder}/d.db") as database:
            knowledge = open_knowledge(database, "bench")
            await Indexer(knowledge.store, home, embedder(), embedder_name()).rebuild()
            brain = EmbeddedBrain(EmbeddedDesk(embedder, languages=LANGUAGES, knowledge=knowledge))
            found = {}
            for code, asked in chosen["questions"].items():
                pairs = [(one["article"], await _quoted(brain, one["text"])) for one in asked]
                found[code] = pairs
            strange = [await _quoted(brain, text) for text in chosen["out_of_scope"]]
    rows = {code: _row(pairs) for code, pairs in found.items()}
    every = _row([pair for pairs in found.values() for pair in pairs])
    kept = sum(not quoted for quoted in strange)
    return {
        "languages": rows,
        "all": every,
        "out_of_scope": {"questions": len(strange), "silent": kept},
    }


async def _quoted(brain: EmbeddedBrain, text: str) -> list[str]:
    answer = await brain.answer(Task(kind=TaskKind.DRAFT, stage="draft", text=text))
    return [source["article"] for source in answer.data.get("sources", ())]


def _row(pairs: list[tuple[str, list[str]]]) -> dict[str, Any]:
    answered = [(want, quoted) for want, quoted in pairs if quoted]
    right = sum(want in quoted for want, quoted in answered)
    row: dict[str, Any] = {"questions": len(pairs), "answered": len(answered), "right": right}
    return row | {"interval": _interval(right, len(answered))}


def _interval(hits: int, total: int) -> list[float]:
    """Wilson, 95%."""
    if not total:
        return [0.0, 1.0]
    z, share = 1.96, hits / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = (
        z
        * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
        / (1 + z * z / total)
    )
    return [round(middle - half, 3), round(middle + half, 3)]


def main() -> None:
    found = {name: asyncio.run(measure(name)) for name in read_yaml(SETS).data}
    if "--json" in sys.argv:
        print(json.dumps(found))
        return
    for name, one in found.items():
        print(name)
        for code, row in {**one["languages"], "all": one["all"]}.items():
            low, high = row["interval"]
            right = f"{row['right']} right ({low:.0%} to {high:.0%})"
            print(f"  {code:4}{row['answered']:3} of {row['questions']} answered, {right}")
        strange = one["out_of_scope"]
        print(f"  out of scope: silent on {strange['silent']} of {strange['questions']}")


if __name__ == "__main__":
    main()
