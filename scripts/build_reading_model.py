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

It learns from seven of eight lines of the corpus and measures on the others. First from all of it
(half an hour a pass on one busy core), then, each from those weights, from messages, pairs, tickets
and turns `--only`: `reading.onnx`, `reading-pairs.onnx`, `reading-tickets.onnx` and
`reading-turns.onnx` (six to twelve minutes a pass). `reading-measured.jsonl` in the working folder
tells what it said of every line that was held out. What came of it: docs/decisions/0069.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from answer_graphs import write_lower
from graph_weights import begin_with
from reading_corpus import Item, Variations, read_corpus
from reading_graph import write_reading
from reading_network import LABELS, VALUES, ReadingNetwork, group_loss
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

LOWER = "answers-lower.onnx"
MOST_TEXT, MOST_CONTEXT = 160, 96
"""Tokens, as in `deskhand/language/message_reader.py`."""
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
WARMING = 0.06
GROUP_WEIGHTS = {"concern": 1.0, "fact": 1.0, "type": 0.6, "sentiment": 0.6, "turn": 1.0}
WORDS = 30.0
ORDINARY, PAIRS = 900, 1500
"""Ordinary asks that are learned from in one pass; pairs, where only messages are."""
END = 2


class Texts:
    """Texts as tokens, and what the lower layers make of them."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._lower = _session(folder / LOWER)
        self._states: dict[tuple[str, int], Tensor] = {}

    def tokens(self, text: str, most: int) -> tuple[list[int], list[tuple[int, int]]]:
        encoding = self._tokenizer.encode(text)
        ids, offsets = list(encoding.ids), list(encoding.offsets)
        if len(ids) > most:
            head = most * 2 // 3
            tail = most - head
            ids = ids[:head] + ids[-tail:]
            offsets = offsets[:head] + offsets[-tail:]
        return ids, offsets

    def states(self, text: str, most: int) -> Tensor:
        key = (text, most)
        if key not in self._states:
            given = {"input_ids": np.array([self.tokens(text, most)[0]], dtype=np.int64)}
            states = self._lower.run(None, given)[0][0]
            self._states[key] = torch.from_numpy(states.astype(np.float16))
        return self._states[key]


def _session(file: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


class Prepared:
    """An item as numbers."""

    def __init__(self, item: Item, texts: Texts) -> None:
        self.item = item
        text = _one_line(f"query: {item.text}")
        self.text = texts.states(text, MOST_TEXT)
        self.context: Tensor | None = None
        if item.context is not None:
            self.context = texts.states(_one_line(f"passage: {item.context}"), MOST_CONTEXT)
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
            start = text.find(_one_line(value))
            end = start + len(_one_line(value))
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


def train(network: ReadingNetwork, items: Sequence[Item], texts: Texts, asked: Any) -> None:
    chance = random.Random(asked.seed)
    rate, head_rate = LATER_RATES if asked.only else FIRST_RATES
    upper = list(network.layers.parameters())
    known = {id(parameter) for parameter in upper}
    heads = [parameter for parameter in network.parameters() if id(parameter) not in known]
    optimizer = torch.optim.AdamW(
        [{"params": upper, "rate": rate}, {"params": heads, "rate": head_rate}], weight_decay=0.02
    )
    variations = Variations(list(items), chance)
    most = {"ordinary": ORDINARY}
    if asked.only == "messages":
        most["pairs"] = PAIRS
    steps = asked.epochs * -(-len(_of_a_pass(items, most, random.Random(0))) // AT_ONCE)
    started, step, seen = time.monotonic(), 0, 0.0
    network.train()
    for epoch in range(asked.epochs):
        for batch in _batches(_of_a_pass(items, most, chance), variations, texts, chance):
            share = min(1.0, step / (WARMING * steps)) * max(0.02, 1 - step / steps)
            for group in optimizer.param_groups:
                group["lr"] = group["rate"] * share
            loss = loss_of(network, batch)
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
    reading = _session(graph)
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
    text = _one_line(f"query: {item.text}")
    offsets = texts.tokens(text, MOST_TEXT)[1]
    found: dict[str, str] = {}
    for column, name in enumerate(VALUES):
        likely = [offsets[row] for row in range(len(offsets)) if words[row, column] > 0]
        if likely:
            found[name] = text[likely[0][0] : likely[-1][1]].strip()
    return found


def _one_line(text: str) -> str:
    """As the package reads it: `deskhand/language/clean_text.py`."""
    return " ".join(text.split())


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
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--begin", type=Path, help="a graph of this script to go on from")
    parser.add_argument("--weights", type=Path, help="go on from these, and keep them there")
    parser.add_argument("--measured", type=Path, default=Path("reading-measured.jsonl"))
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    torch.set_num_threads(1)

    embedding = asked.folder / "model.onnx"
    if not (asked.folder / LOWER).exists():
        write_lower(embedding, asked.folder / LOWER)
    items, texts = read_corpus(asked.corpus, asked.ordinary), Texts(asked.folder)
    if asked.only:
        items = [item for item in items if item.source in PARTS[asked.only]]
    learned = [item for item in items if not item.is_held_out]
    others = [item for item in items if item.is_held_out]
    _tell(f"{len(items)} texts; learning from {len(learned)}")

    network = ReadingNetwork(onnx.load(embedding))
    if asked.begin is not None:
        begin_with(network, asked.begin, ("text", "context"))
    if asked.weights is not None and asked.weights.exists():
        network.load_state_dict(torch.load(asked.weights, weights_only=True))
    train(network, learned, texts, asked)
    if asked.weights is not None:
        torch.save(network.state_dict(), asked.weights)
    name = f"reading-{asked.only}" if asked.only not in ("", "messages") else "reading"
    graph = asked.folder / f"{name}.onnx"
    write_reading(network.state_dict(), embedding, graph)
    measure(others, graph, texts, asked.measured)


if __name__ == "__main__":
    main()
