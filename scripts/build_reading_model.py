"""Train the model that reads messages, and write it beside the embedding model.

    python -m venv /tmp/training && /tmp/training/bin/pip install \\
        torch==2.13.0 numpy onnx onnxruntime tokenizers pyyaml
    /tmp/training/bin/python scripts/build_reading_model.py training/reading \\
        src/deskhand/language/models/multilingual-e5-small-int8 --weights all.pt
    cp all.pt msgs.pt
    /tmp/training/bin/python scripts/build_reading_model.py training/reading \\
        src/deskhand/language/models/multilingual-e5-small-int8 --only messages --weights msgs.pt
    cp all.pt turns.pt
    /tmp/training/bin/python scripts/build_reading_model.py training/reading \\
        src/deskhand/language/models/multilingual-e5-small-int8 --only turns --weights turns.pt

With `--half` it learns in bfloat16, three times as fast on processors that have it.

It learns from seven of eight lines of the corpus and measures on the others. First from all of it
(half an hour a pass on one busy core), then, each from those weights, from messages, pairs, tickets
and turns `--only`: `reading.onnx`, `reading-pairs.onnx`, `reading-tickets.onnx` and
`reading-turns.onnx` (six to twelve minutes a pass). `reading-measured.jsonl` in the working folder
tells what it said of every line that was held out. What came of it: docs/decisions/0069.

Pairs of a message and a ticket are learned as cases (`pair_cases.py`): the tickets of one customer
compete. `--without w50,w51-01` leaves files out of what is learned and has them measured as well;
`--into` keeps the graph of such a training apart.

Layers that know enough go on from where they are: `--begin reading.onnx --newest w60,w61 --older
2500 --pairs 0` learns all lines of the files named and draws that many of the others for each pass.
So the layers for messages and for tickets were trained last (five to eight minutes).
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from answer_graphs import write_lower
from graph_weights import begin_with
from pair_cases import PairLine, read_pair_lines
from pair_training import begin_comparing, loss_of_cases, measure_cases, passes_of_cases
from reading_corpus import Item, Variations, read_corpus
from reading_graph import write_reading
from reading_network import LABELS, VALUES, ReadingNetwork, group_loss
from reading_texts import LOWER, MOST_CONTEXT, MOST_TEXT, Texts, one_line, session
from torch import Tensor
from torch.nn import functional

AT_ONCE = 16
PARTS = {
    "messages": frozenset({"concerns", "pieces", "pairs", "ordinary"}),
    "pairs": frozenset({"pairs"}),
    "tickets": frozenset({"tickets"}),
    "turns": frozenset({"turns"}),
}
"""What each part is learned from, if only that part is."""
FIRST_RATES, LATER_RATES = (2e-4, 2e-3), (1.5e-4, 1e-3)
"""How fast the upper layers and the heads learn: from everything, then from one part."""
COMPARING_RATE = 4e-3
WARMING = 0.06
GROUP_WEIGHTS = {"concern": 1.0, "fact": 1.0, "type": 0.6, "sentiment": 0.6, "turn": 1.0}
WORDS = 30.0
ORDINARY = 900
"""Ordinary asks that are learned from in one pass."""
OLDER = "older"
_MAY_BE_OLDER = ("concerns", "pieces", "tickets")
END = 2


class Prepared:
    """An item as numbers."""

    def __init__(self, item: Item, texts: Texts) -> None:
        self.item = item
        text = one_line(f"query: {item.text}")
        self.text = texts.states(text, MOST_TEXT)
        self.context: Tensor | None = None
        if item.context is not None:
            self.context = texts.states(one_line(f"passage: {item.context}"), MOST_CONTEXT)
        self.targets = item.targets()
        self.words = self._words(texts.tokens(text, MOST_TEXT)[1], text)

    @property
    def length(self) -> int:
        return len(self.text) + (0 if self.context is None else len(self.context))

    def _words(self, offsets: Sequence[tuple[int, int]], text: str) -> Tensor | None:
        if self.item.values is None:
            return None
        marked = torch.zeros(len(offsets), len(VALUES))
        for name, value in self.item.values.items():
            start = text.find(one_line(value))
            end = start + len(one_line(value))
            column = VALUES.index(name)
            for row, (left, right) in enumerate(offsets):
                marked[row, column] = float(left < end and right > start and right > left)
        return marked


def loss_of(network: ReadingNetwork, batch: Sequence[Prepared]) -> Tensor:
    texts = [each.text for each in batch]
    contexts = [each.context for each in batch]
    scores, words, _ = network(texts, contexts)
    loss = torch.zeros(())
    at = 0
    for group, labels in LABELS.items():
        weights = torch.zeros(len(batch))
        wanted = torch.zeros(len(batch), len(labels))
        for row, each in enumerate(batch):
            if group in each.targets:
                weights[row] = 1.0
                wanted[row] = torch.tensor(each.targets[group])
        if weights.any():
            part = group_loss(group, scores[:, at : at + len(labels)], wanted, weights)
            share = float(weights.mean())
            loss = loss + GROUP_WEIGHTS.get(group, 1.0) * share * part
        at += len(labels)
    for row, each in enumerate(batch):
        if each.words is not None:
            found = words[row, : len(each.text)]
            part = functional.binary_cross_entropy_with_logits(found, each.words)
            loss = loss + WORDS * part / len(batch)
    return loss


def train(
    network: ReadingNetwork,
    a_pass: Callable[[], list[list[Any]]],
    loss_of_batch: Callable[[ReadingNetwork, Any], Tensor],
    asked: Any,
) -> None:
    rate, head_rate = LATER_RATES if asked.only else FIRST_RATES
    upper = list(network.layers.parameters())
    comparing = [] if network.likeness is None else list(network.likeness.parameters())
    known = {id(parameter) for parameter in (*upper, *comparing)}
    heads = [parameter for parameter in network.parameters() if id(parameter) not in known]
    groups: list[dict[str, Any]] = [{"params": upper, "rate": rate}]
    groups += [{"params": heads, "rate": head_rate}]
    groups += [{"params": comparing, "rate": COMPARING_RATE, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.02)
    batches = a_pass()
    steps = asked.epochs * len(batches)
    started, step, seen = time.monotonic(), 0, 0.0
    network.train()
    for epoch in range(asked.epochs):
        if epoch:
            batches = a_pass()
        for batch in batches:
            share = min(1.0, step / (WARMING * steps)) * max(0.02, 1 - step / steps)
            for group in optimizer.param_groups:
                group["lr"] = group["rate"] * share
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=asked.half):
                loss = loss_of_batch(network, batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            step += 1
            seen += float(loss.detach())
            if step % 25 == 0:
                minutes = (time.monotonic() - started) / 60
                _tell(f"epoch {epoch + 1}, {step} of {steps}: {seen / 25:.3f}, {minutes:.1f} min")
                seen = 0.0


def _passes_of_items(
    items: Sequence[Item], texts: Texts, asked: Any
) -> Callable[[], list[list[Prepared]]]:
    chance = random.Random(asked.seed)
    variations = Variations(list(items), chance)
    most = {"ordinary": ORDINARY}
    if asked.only == "messages":
        most["pairs"] = asked.pairs
    if asked.newest:
        most[OLDER] = asked.older
        newest = tuple(asked.newest.split(","))
        items = [_as_older(item, newest) for item in items]
    return lambda: _batches(_of_a_pass(items, most, chance), variations, texts, chance)


def _as_older(item: Item, newest: tuple[str, ...]) -> Item:
    """The item, under the source `OLDER` where its file is none of the newest ones."""
    if item.source not in _MAY_BE_OLDER or item.file.startswith(newest):
        return item
    return replace(item, source=OLDER)


def _of_a_pass(items: Sequence[Item], most: Mapping[str, int], chance: random.Random) -> list[Item]:
    """All items, but of a source under `most` only as many, chosen anew."""
    chosen = [item for item in items if item.source not in most]
    for source, count in most.items():
        of_source = [item for item in items if item.source == source]
        chosen += chance.sample(of_source, min(count, len(of_source)))
    return chosen


def _batches(
    items: Sequence[Item], variations: Variations, texts: Texts, chance: random.Random
) -> list[list[Prepared]]:
    """Items of like length together, in any order."""
    made: list[tuple[float, Prepared]] = []
    for item in items:
        prepared = Prepared(variations.of(item), texts)
        made.append((prepared.length + 12 * chance.random(), prepared))
    made.sort(key=lambda pair: pair[0])
    prepared_items = [prepared for _, prepared in made]
    starts = range(0, len(prepared_items), AT_ONCE)
    batches = [prepared_items[start : start + AT_ONCE] for start in starts]
    chance.shuffle(batches)
    return batches


def measure(items: Sequence[Item], graph: Path, texts: Texts, target: Path) -> None:
    """Write what the graph says of items."""
    reading = session(graph)
    with target.open("w", encoding="utf-8") as lines:
        for item in items:
            prepared = Prepared(item, texts)
            context = np.zeros((1, 0, 384), dtype=np.float32)
            if prepared.context is not None:
                context = prepared.context.numpy().astype(np.float32)[None]
            given = {"text": prepared.text.numpy().astype(np.float32)[None], "context": context}
            labels, words = reading.run(["labels", "words"], given)
            line: dict[str, Any] = {"source": item.source, "language": item.language}
            line |= {"text": item.text, "context": item.context, "values": item.values}
            line["wanted"] = {group: list(labels) for group, labels in item.wanted.items()}
            line["scores"] = [round(float(score), 3) for score in labels[0]]
            line["found"] = _found(words[0], item, texts)
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")


def _found(words: Any, item: Item, texts: Texts) -> dict[str, str]:
    """The words of each value: from the first to the last likely token."""
    if item.values is None:
        return {}
    text = one_line(f"query: {item.text}")
    offsets = texts.tokens(text, MOST_TEXT)[1]
    found: dict[str, str] = {}
    for column, name in enumerate(VALUES):
        likely = [offsets[row] for row in range(len(offsets)) if words[row, column] > 0]
        if likely:
            found[name] = text[likely[0][0] : likely[-1][1]].strip()
    return found


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("folder", type=Path, help="where the embedding model lies")
    parser.add_argument("--ordinary", type=Path, default=Path("training/answers"))
    parser.add_argument("--only", choices=tuple(PARTS), default="")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--newest", default="", help="files to learn whole: w52,w60")
    parser.add_argument("--older", type=int, default=4000, help="lines of other files a pass")
    parser.add_argument("--pairs", type=int, default=1500, help="pairs a pass among messages")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--begin", type=Path, help="a graph of this script to go on from")
    parser.add_argument("--weights", type=Path, help="go on from these, and keep them there")
    parser.add_argument("--into", type=Path, help="where the graph goes, if not beside the model")
    parser.add_argument("--half", action="store_true", help="learn in bfloat16")
    parser.add_argument("--without", default="", help="pairs: beginnings of files to leave out")
    parser.add_argument("--measured", type=Path, default=Path("reading-measured.jsonl"))
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    torch.set_num_threads(1)
    (asked.into or asked.folder).mkdir(parents=True, exist_ok=True)

    embedding = asked.folder / "model.onnx"
    if not (asked.folder / LOWER).exists():
        write_lower(embedding, asked.folder / LOWER)
    texts = Texts(asked.folder)
    network = ReadingNetwork(onnx.load(embedding), compares=asked.only == "pairs")
    if asked.begin is not None:
        begin_with(network, asked.begin, ("text", "context"))
    if asked.weights is not None and asked.weights.exists():
        network.load_state_dict(torch.load(asked.weights, weights_only=True))
    if asked.only == "pairs":
        measured = _learn_cases(network, texts, asked)
    else:
        measured = _learn_items(network, texts, asked)
    if asked.weights is not None:
        torch.save(network.state_dict(), asked.weights)
    name = f"reading-{asked.only}" if asked.only not in ("", "messages") else "reading"
    graph = (asked.into or asked.folder) / f"{name}.onnx"
    write_reading(network.state_dict(), embedding, graph)
    measured(graph)


def _learn_items(network: ReadingNetwork, texts: Texts, asked: Any) -> Callable[[Path], None]:
    """What is to be done with the graph then: measure it on the others."""
    items = read_corpus(asked.corpus, asked.ordinary)
    if asked.only:
        items = [item for item in items if item.source in PARTS[asked.only]]
    learned = [item for item in items if not item.is_held_out]
    others = [item for item in items if item.is_held_out]
    _tell(f"{len(items)} texts; learning from {len(learned)}")
    train(network, _passes_of_items(learned, texts, asked), loss_of, asked)
    return lambda graph: measure(others, graph, texts, asked.measured)


def _learn_cases(network: ReadingNetwork, texts: Texts, asked: Any) -> Callable[[Path], None]:
    left_out = tuple(filter(None, asked.without.split(",")))
    learned, others = list[PairLine](), list[PairLine]()
    for line in read_pair_lines(asked.corpus):
        is_apart = line.is_held_out or line.is_of(left_out)
        (others if is_apart else learned).append(line)
    _tell(f"learning from {len(learned)} messages, {len(others)} others")
    begin_comparing(network, learned, texts, asked.seed)
    train(network, passes_of_cases(learned, texts, asked.seed), loss_of_cases, asked)
    return lambda graph: measure_cases(others, graph, texts, asked.measured)


if __name__ == "__main__":
    main()
