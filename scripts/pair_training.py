"""How the network learns from cases: a message beside its customer's tickets."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from pair_cases import Case, PairLine, of_a_pass
from reading_network import SIGNS, ReadingNetwork
from reading_texts import MOST_CONTEXT, MOST_TEXT, Texts, one_line, session
from torch import Tensor
from torch.nn import functional

AT_ONCE = 16
SOFTENED = 0.05
THINNED = 0.1
"""Of the words of a text that are left out when it is learned from."""
BEGUN_WITH = 400


class PreparedCase:
    """A message beside its customer's tickets as numbers."""

    def __init__(self, case: Case, texts: Texts) -> None:
        self.case = case
        self.text = texts.states(one_line(f"query: {case.message}"), MOST_TEXT)
        self.contexts: list[Tensor] = []
        for ticket in case.tickets:
            self.contexts.append(texts.states(one_line(f"passage: {ticket}"), MOST_CONTEXT))

    @property
    def length(self) -> int:
        return len(self.text) + max(len(context) for context in self.contexts)


def loss_of_cases(network: ReadingNetwork, batch: Sequence[PreparedCase]) -> Tensor:
    """How unlikely the right tickets are, or none of them where none is right."""
    texts, contexts = list[Tensor](), list[Tensor]()
    for each in batch:
        texts += [_thinned(each.text)] * len(each.contexts)
        contexts += [_thinned(context) for context in each.contexts]
    scores = network(texts, contexts)[0][:, -1].float()
    loss, at = torch.zeros(()), 0
    for each in batch:
        own = torch.cat([torch.zeros(1), scores[at : at + len(each.contexts)]])
        at += len(each.contexts)
        right = 0 if each.case.continues is None else each.case.continues + 1
        loss = loss + functional.cross_entropy(own, torch.tensor(right), label_smoothing=SOFTENED)
    return loss / len(batch)


def _thinned(states: Tensor) -> Tensor:
    keep = torch.rand(len(states)) >= THINNED
    keep[:SIGNS] = True
    keep[-1] = True
    return states[keep]


def begin_comparing(
    network: ReadingNetwork, lines: Sequence[PairLine], texts: Texts, seed: int
) -> None:
    """Give the comparison of words what is usual, unless it was learned before."""
    assert network.likeness is not None
    if network.likeness.centre.any():
        return
    pairs: list[tuple[Tensor, Tensor]] = []
    for line in random.Random(seed).sample(list(lines), min(BEGUN_WITH, len(lines))):
        prepared = PreparedCase(line.case(), texts)
        pairs.append((prepared.text, prepared.contexts[0]))
    network.likeness.begin_at(pairs)


def passes_of_cases(
    lines: Sequence[PairLine], texts: Texts, seed: int
) -> Callable[[], list[list[PreparedCase]]]:
    chance = random.Random(seed)
    return lambda: _batches_of_cases(list(of_a_pass(lines, chance)), texts, chance)


def _batches_of_cases(
    cases: Sequence[Case], texts: Texts, chance: random.Random
) -> list[list[PreparedCase]]:
    """Cases of like length together, whole, in any order."""
    made: list[tuple[float, PreparedCase]] = []
    for case in cases:
        prepared = PreparedCase(case, texts)
        made.append((prepared.length + 12 * chance.random(), prepared))
    made.sort(key=lambda pair: pair[0])
    batches: list[list[PreparedCase]] = [[]]
    for _, prepared in made:
        if sum(len(each.contexts) for each in batches[-1]) >= AT_ONCE:
            batches.append([])
        batches[-1].append(prepared)
    chance.shuffle(batches)
    return batches


def measure_cases(lines: Sequence[PairLine], graph: Path, texts: Texts, target: Path) -> None:
    """Write the odds of each ticket of each line by the graph."""
    reading = session(graph)
    with target.open("w", encoding="utf-8") as measured:
        for line in lines:
            prepared = PreparedCase(line.case(), texts)
            text = prepared.text.numpy().astype(np.float32)[None]
            odds: list[float] = []
            for context in prepared.contexts:
                following = context.numpy().astype(np.float32)[None]
                labels = reading.run(["labels"], {"text": text, "context": following})[0]
                odds.append(round(float(labels[0, -1]), 3))
            measured.write(json.dumps({"line": prepared.case.key, "odds": odds}) + "\n")
