"""How well the inbox desk knows whether an article answers what a mail asks, without an LLM.

`python -m bench.answers [--json]`. The mails lie in `training/inbox`; their writer knew neither the
desk's own questions nor the rules. It prints how many mails would be answered alone at each
threshold, and how many of them rightly: `answer_at` is chosen from it.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from bench.quoting import _interval
from deskhand.brain.build import _embedded
from deskhand.knowledge.ingest import Indexer
from deskhand.language.intent_examples import load_intents
from deskhand.model.tasks import Task, TaskKind
from deskhand.wiring import embedder, embedder_name, open_database, open_knowledge, read_desk

MAILS = Path(__file__).parents[1] / "training" / "inbox"
THRESHOLDS = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)


class Judged(NamedTuple):
    language: str
    least: float
    """The confidence of the mail's least sure ask."""
    is_right: bool
    """Whether each ask has the article that answers it, and none has no answer."""
    is_answerable: bool


async def measure() -> list[Judged]:
    spec = read_desk("inbox").spec
    judged: list[Judged] = []
    with tempfile.TemporaryDirectory() as folder:
        async with open_database(f"{folder}/d.db") as database:
            knowledge = open_knowledge(database, "bench")
            home = spec.folder / "knowledge"
            await Indexer(knowledge.store, home, embedder(), embedder_name()).rebuild()
            brain = _embedded(spec, load_intents(spec.folder), knowledge, embedder)
            for file in sorted(MAILS.glob("*_mails.jsonl")):
                for line in file.read_text(encoding="utf-8").splitlines():
                    judged.append(await _judged(brain, json.loads(line)))
    return judged


async def _judged(brain: Any, mail: dict[str, Any]) -> Judged:
    inputs = {"message": {"subject": mail["subject"]}}
    task = Task(kind=TaskKind.DRAFT, stage="draft", text=mail["body"], inputs=inputs)
    answer = await brain.answer(task)
    asks = answer.data.get("asks", [])
    wanted = [ask["article"] for ask in mail["asks"]]
    quoted = {(ask["article"] or "").partition(".")[0] for ask in asks}
    is_answerable = all(wanted)
    least = min((ask["confidence"] for ask in asks), default=0.0)
    is_right = is_answerable and quoted == set(wanted)
    return Judged(mail["language"], least, is_right, is_answerable)


def table(judged: list[Judged]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for threshold in THRESHOLDS:
        sent = [mail.is_right for mail in judged if mail.least >= threshold]
        row = {"answer_at": threshold, "sent": len(sent), "right": sum(sent)}
        rows.append(row | {"interval": _interval(sum(sent), len(sent))})
    return rows


def main() -> None:
    judged = asyncio.run(measure())
    answerable = sum(mail.is_answerable for mail in judged)
    rows = table(judged)
    if "--json" in sys.argv:
        print(json.dumps({"mails": len(judged), "answerable": answerable, "rows": rows}))
        return
    print(f"{len(judged)} mails, {answerable} of them answered by articles")
    for row in rows:
        low, high = row["interval"]
        share = f"{row['right']} right ({low:.0%} to {high:.0%})"
        print(f"  answer_at {row['answer_at']:.2f}: {row['sent']:3} sent, {share}")


if __name__ == "__main__":
    main()
