"""Train the model that says whether a passage answers an ask, and write it beside the embedding.

    python -m venv /tmp/training && /tmp/training/bin/pip install \\
        torch==2.13.0 numpy onnx onnxruntime tokenizers
    /tmp/training/bin/python scripts/build_answer_model.py training/answers \\
        src/deskhand/language/models/multilingual-e5-small-int8

It learns from most companies in the corpus and measures on the others, so what is written is about
companies that it never saw. With `--begin answers-upper.onnx` it goes on from the graph that is
there, with `--weights answers.pt` from the weights in that file; `--minutes` ends it in time. It
writes `answers-lower.onnx` and `answers-upper.onnx`, and `answers-measured.jsonl` in the working
folder with what it said of every held-out ask. How the shipped weights came about:
docs/decisions/0068-reading-answers.md.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from answer_corpus import Ask, Corpus, compared, held_out, read_corpus
from answer_graphs import write_lower, write_upper
from answer_network import SIDES, WIDTH, AnswerNetwork, Triple
from graph_weights import begin_with
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

LOWER, UPPER = "answers-lower.onnx", "answers-upper.onnx"
LONGEST = {"query": 72, "lead": 96, "passage": 144}
"""Tokens, as in `deskhand/language/answerability.py`."""
WRONG_ARTICLES = 2
ASKS_AT_ONCE = 6
RATE, HEAD_RATE = 6e-5, 4e-4
WARMING = 0.06
SMOOTHING = 0.02
LOST_LEADS = 0.1
"""How often an ask is learned without what was said before it."""
LISTED, EVIDENCE = 0.5, 0.3
"""How much choosing among articles and finding the words count beside answered or not."""
KEPT_EVERY = 250
"""Steps after which the weights are kept and a few held-out asks are read."""
TRIED = 300
READ = 8
"""Articles that are read for a held-out ask, the nearest by embedding."""
END = 2


class Texts:
    """Texts as tokens, and what the lower layers make of them."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._lower = _session(folder / LOWER)
        self._embedding = _session(folder / "model.onnx")
        self._states: dict[str, Tensor] = {}
        self._vectors: dict[str, Any] = {}

    def tokens(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Of a lead the last words count, and it is read as an ask is."""
        kind, _, said = text.partition(": ")
        if kind == "lead":
            text = f"query: {said}"
        encoding = self._tokenizer.encode(text)
        most, ids = LONGEST[kind], encoding.ids
        if len(ids) > most:
            ids = (
                [ids[0], *ids[len(ids) - most + 1 :]] if kind == "lead" else [*ids[: most - 1], END]
            )
        return ids, encoding.offsets[: len(ids)]

    def states(self, text: str) -> Tensor:
        if text not in self._states:
            given = {"input_ids": np.array([self.tokens(text)[0]], dtype=np.int64)}
            states = self._lower.run(None, given)[0][0]
            self._states[text] = torch.from_numpy(states.astype(np.float16))
        return self._states[text]

    def vector(self, text: str) -> Any:
        if text not in self._vectors:
            given = {"input_ids": np.array([self.tokens(text)[0]], dtype=np.int64)}
            self._vectors[text] = self._embedding.run(None, given)[0][0]
        return self._vectors[text]


def _session(file: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def find_nearest(corpus: Corpus, texts: Texts) -> None:
    """Tell every ask which articles of its company are near."""
    for company in sorted({ask.company for ask in corpus.asks}):
        articles = corpus.articles(company)
        passages = [f"passage: {corpus.passages[company, article]}" for article in articles]
        vectors = np.stack([texts.vector(passage) for passage in passages])
        for ask in corpus.asks:
            if ask.company == company:
                cosines = vectors @ texts.vector(f"query: {ask.text}")
                order = np.argsort(-cosines, kind="stable")
                ask.nearest = [(articles[place], float(cosines[place])) for place in order]


class Pair:
    """An ask and a passage, with what is to be learned of them."""

    def __init__(
        self, corpus: Corpus, texts: Texts, ask: Ask, article: str, answers: float
    ) -> None:
        passage = f"passage: {corpus.passages[ask.company, article]}"
        self.triple = triple_of(ask, passage, texts)
        self.answers = answers
        self.evidence: Tensor | None = None
        if answers and ask.evidence and ask.evidence in passage:
            start = passage.rindex(ask.evidence)
            end = start + len(ask.evidence)
            offsets = texts.tokens(passage)[1]
            marked = [float(left < end and right > start) for left, right in offsets]
            if any(marked):
                self.evidence = torch.tensor(marked) / sum(marked)

    @property
    def passage_start(self) -> int:
        ask, lead, _ = self.triple
        return len(ask) + len(lead)

    @property
    def length(self) -> int:
        return sum(map(len, self.triple))


def triple_of(ask: Ask, passage: str, texts: Texts) -> Triple:
    """The ask, what was said before it, and the passage, as numbers."""
    lead = torch.zeros(0, WIDTH, dtype=torch.float16)
    if ask.before:
        lead = texts.states(f"lead: {ask.before}")
    return texts.states(f"query: {ask.text}"), lead, texts.states(passage)


def loss_of(network: AnswerNetwork, asks: Sequence[Sequence[Pair]]) -> Tensor:
    """How wrong it is about some asks, each with the articles that it is compared with."""
    pairs = [pair for compared_with in asks for pair in compared_with]
    scores, evidence = network([pair.triple for pair in pairs])
    wanted = torch.tensor([pair.answers for pair in pairs])
    softened = wanted * (1 - 2 * SMOOTHING) + SMOOTHING
    loss = functional.binary_cross_entropy_with_logits(scores, softened)
    at = 0
    for compared_with in asks:
        if compared_with[0].answers and len(compared_with) > 1:
            among = torch.log_softmax(scores[at : at + len(compared_with)], dim=0)
            loss = loss - LISTED * among[0] / len(asks)
        at += len(compared_with)
    for row, pair in enumerate(pairs):
        if pair.evidence is not None:
            found = torch.log_softmax(evidence[row], dim=-1)[pair.passage_start : pair.length]
            loss = loss - EVIDENCE * (found * pair.evidence).sum() / len(asks)
    return loss


def train(
    network: AnswerNetwork,
    corpus: Corpus,
    asks: Sequence[Ask],
    tried: Sequence[Ask],
    texts: Texts,
    asked: Any,
) -> None:
    """Learn from asks, and tell now and then how well it reads those in `tried`."""
    chance = random.Random(asked.seed)
    upper = list(network.layers.parameters())
    known = {id(parameter) for parameter in upper}
    heads = [parameter for parameter in network.parameters() if id(parameter) not in known]
    optimizer = torch.optim.AdamW(
        [{"params": upper, "rate": RATE}, {"params": heads, "rate": HEAD_RATE}], weight_decay=0.01
    )
    steps = asked.epochs * -(-len(asks) // ASKS_AT_ONCE)
    started, step, seen = time.monotonic(), 0, 0.0
    _tell(f"before: {parted(network, corpus, tried, texts):.3f}")
    network.train()
    for epoch in range(asked.epochs):
        for batch in _batches(corpus, asks, texts, chance):
            minutes = (time.monotonic() - started) / 60
            done = max(step / steps, minutes / asked.minutes)
            if done >= 1:
                return
            share = min(1.0, done / WARMING) * max(0.02, 1 - done)
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
                _tell(f"epoch {epoch + 1}, {step} of {steps}: {seen / 25:.3f}, {minutes:.1f} min")
                seen = 0.0
            if step % KEPT_EVERY == 0:
                torch.save(network.state_dict(), asked.weights)
                _tell(f"{step}: {parted(network, corpus, tried, texts):.3f}")


@torch.no_grad()
def parted(network: AnswerNetwork, corpus: Corpus, asks: Sequence[Ask], texts: Texts) -> float:
    """How often an answered ask reads more like one than an unanswered one: the area under the
    curve, each with its own or its nearest article."""
    network.eval()
    scores: list[tuple[float, bool]] = []
    for ask in asks:
        article = ask.answered_by[0] if ask.answered_by else ask.near or ask.nearest[0][0]
        passage = f"passage: {corpus.passages[ask.company, article]}"
        found, _ = network([triple_of(ask, passage, texts)])
        scores.append((float(found[0]), bool(ask.answered_by)))
    network.train()
    right = [score for score, answered in scores if answered]
    wrong = [score for score, answered in scores if not answered]
    return float(np.mean([a > b for a in right for b in wrong]))


def _batches(
    corpus: Corpus, asks: Sequence[Ask], texts: Texts, chance: random.Random
) -> list[list[list[Pair]]]:
    """Asks with their articles, those of like length together, in any order."""
    made: list[tuple[float, list[Pair]]] = []
    for ask in asks:
        articles = compared(ask, WRONG_ARTICLES, chance)
        if ask.before and ask.answered_by and chance.random() < LOST_LEADS:
            ask = replace(ask, before="")
        pairs = [Pair(corpus, texts, ask, article, answers) for article, answers in articles]
        if pairs:
            made.append((max(pair.length for pair in pairs) + 20 * chance.random(), pairs))
    made.sort(key=lambda item: item[0])
    pairs_of = [pairs for _, pairs in made]
    starts = range(0, len(pairs_of), ASKS_AT_ONCE)
    batches = [pairs_of[start : start + ASKS_AT_ONCE] for start in starts]
    chance.shuffle(batches)
    return batches


def measure(corpus: Corpus, asks: Sequence[Ask], folder: Path, texts: Texts, target: Path) -> None:
    """Write what the graphs say of asks: score and cosine of the nearest articles."""
    upper = _session(folder / UPPER)
    with target.open("w", encoding="utf-8") as lines:
        for ask in asks:
            read: list[dict[str, Any]] = []
            for article, cosine in ask.nearest[:READ]:
                triple = triple_of(ask, f"passage: {corpus.passages[ask.company, article]}", texts)
                states = [part.numpy().astype(np.float32)[None] for part in triple]
                score = upper.run(["score"], dict(zip(SIDES, states, strict=True)))[0][0]
                read.append({"article": article, "cosine": cosine, "score": float(score)})
            line = {"company": ask.company, "language": ask.language, "ask": ask.text}
            line |= {"before": ask.before}
            line |= {"answered_by": ask.answered_by, "read": read}
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("folder", type=Path, help="where the embedding model lies")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e9, help="end after so many")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--begin", type=Path, help="a graph of this script to go on from")
    parser.add_argument(
        "--weights",
        type=Path,
        default=Path("answers.pt"),
        help="go on from these, and keep them there",
    )
    parser.add_argument("--measured", type=Path, default=Path("answers-measured.jsonl"))
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    torch.set_num_threads(asked.threads)

    embedding = asked.folder / "model.onnx"
    write_lower(embedding, asked.folder / LOWER)
    corpus, texts = read_corpus(asked.corpus), Texts(asked.folder)
    find_nearest(corpus, texts)
    others = held_out(corpus, asked.seed)
    learned = [ask for ask in corpus.asks if ask.company not in others]
    measured = [ask for ask in corpus.asks if ask.company in others]
    _tell(f"{len(corpus.asks)} asks; learning from {len(learned)}; held out: {sorted(others)}")

    network = AnswerNetwork(onnx.load(embedding))
    if asked.begin is not None:
        begin_with(network, asked.begin, SIDES)
    if asked.weights.exists():
        network.load_state_dict(torch.load(asked.weights, weights_only=True))
    tried = random.Random(asked.seed).sample(measured, min(TRIED, len(measured)))
    train(network, corpus, learned, tried, texts, asked)
    write_upper(network.state_dict(), embedding, asked.folder / UPPER)
    measure(corpus, measured, asked.folder, texts, asked.measured)


if __name__ == "__main__":
    main()
