"""The network of the reading model in PyTorch: what a message is about, wants and sounds like."""

from collections.abc import Sequence

import onnx
import torch
from answer_network import LAYERS, LOWER_LAYERS, WIDTH, Layer, fill
from torch import Tensor, nn
from torch.nn import functional

LABELS = {
    "concern": ("complaint", "legal", "medical", "cancellation", "machine"),
    "fact": (
        "outage",
        "outage_part",
        "data_loss",
        "security",
        "billing_error",
        "refund",
        "cancel",
        "legal",
        "regulator",
        "press",
    ),
    "type": ("billing", "technical", "general"),
    "sentiment": ("positive", "neutral", "confused", "frustrated", "angry", "urgent"),
    "turn": (
        "answer",
        "answers_several",
        "invalid",
        "correction",
        "aside",
        "other_matter",
        "cancel",
        "person",
        "why",
        "repeat",
    ),
    "continues": ("continues",),
}
"""What is told, in the order of the graph's outputs. `deskhand/language/message_reader.py` has the
same lists, from the graph's own description."""
ONE_OF = frozenset({"type", "sentiment", "turn"})
"""Groups of which exactly one label is right. Of the others any number may be."""
VALUES = ("order", "amount", "reason", "address", "summary", "date", "email")
"""What a word of a turn may belong to."""
POWERS = (1, 3, 6)
"""Of how near the nearest word lies: the higher, the more only what is nearly the same counts."""
BEGINNING = 0.2
SIGNS = 3
"""Tokens that say what a text is for, at its beginning: <s>, query or passage, a colon."""
_NOWHERE = -1e4


class TokenLikeness(nn.Module):
    """How much of a message speaks of the same things as a ticket, word by word, and the reverse.

    It looks at what the lower layers made of both apart: an embedding model knows from the start
    which words are alike. Each word counts by its best counterpart on the other side.
    """

    def __init__(self) -> None:
        super().__init__()
        self.centre = nn.Parameter(torch.zeros(WIDTH))
        self.spread = nn.Parameter(torch.ones(WIDTH))
        self.weighing = nn.Linear(WIDTH, 2, bias=False)
        self.summing = nn.Linear(2 * len(POWERS), 1)
        nn.init.zeros_(self.weighing.weight)
        nn.init.constant_(self.summing.weight, BEGINNING)
        nn.init.zeros_(self.summing.bias)
        self.register_buffer("middle", torch.zeros(2 * len(POWERS)))
        self.register_buffer("usual", torch.ones(2 * len(POWERS)))

    def begin_at(self, pairs: Sequence[tuple[Tensor, Tensor]]) -> None:
        """Begin with what is usual in some pairs."""
        with torch.no_grad():
            states = torch.cat([side[SIGNS:].float() for pair in pairs for side in pair])
            self.centre.copy_(states.mean(dim=0))
            self.spread.copy_(1 / states.std(dim=0))
            seen = torch.stack([self.compared(*pair) for pair in pairs])
            self.middle.copy_(seen.mean(dim=0))
            self.usual.copy_(seen.std(dim=0))

    def forward(self, text: Tensor, context: Tensor) -> Tensor:
        """One number for a pair."""
        return self.summing((self.compared(text, context) - self.middle) / self.usual)[0]

    def compared(self, text: Tensor, context: Tensor) -> Tensor:
        said, known = text[SIGNS:].float(), context[SIGNS:].float()
        alike = self._directions(said) @ self._directions(known).T
        best = functional.pad(alike, (0, 1, 0, 1))
        sides = (best.max(dim=1).values[:-1], best.max(dim=0).values[:-1])
        parts: list[Tensor] = []
        for column, (states, nearest) in enumerate(zip((said, known), sides, strict=True)):
            shares = torch.softmax(self.weighing(states)[:, column], dim=0)
            parts += [(shares * nearest**power).sum() for power in POWERS]
        return torch.stack(parts)

    def _directions(self, states: Tensor) -> Tensor:
        return functional.normalize((states - self.centre) * self.spread, dim=-1)


class ReadingNetwork(nn.Module):
    """Reads a text, alone or after another one (the question that it follows, or a ticket).

    Each label looks for the words that speak for it and judges those: one sentence in a long
    friendly mail is enough.
    """

    def __init__(self, embedding_model: onnx.ModelProto, *, compares: bool = False) -> None:
        """It begins with the upper layers of the embedding model. With `compares` the words of
        text and context are compared one by one, too, for whether a message continues a ticket."""
        super().__init__()
        self.likeness = TokenLikeness() if compares else None
        count = sum(len(labels) for labels in LABELS.values())
        self.layers = nn.ModuleList(Layer() for _ in range(LOWER_LAYERS, LAYERS))
        self.sides = nn.Parameter(torch.randn(2, WIDTH) * 0.02)
        self.looking = nn.Linear(WIDTH, count)
        self.judging = nn.Parameter(torch.randn(count, WIDTH) * 0.02)
        self.bias = nn.Parameter(torch.zeros(count))
        self.whole = nn.Linear(WIDTH, count)
        self.words = nn.Linear(WIDTH, len(VALUES))
        self.dropout = nn.Dropout(0.15)
        for part in (self.looking, self.whole, self.words):
            nn.init.normal_(part.weight, std=0.02)
        stored = {tensor.name: tensor for tensor in embedding_model.graph.initializer}
        with torch.no_grad():
            for number, layer in enumerate(self.layers, LOWER_LAYERS):
                for name, part in layer.named_children():
                    fill(part, stored, f"l{number}_{name}")

    def forward(
        self, texts: Sequence[Tensor], contexts: Sequence[Tensor | None]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Scores of the labels, of each word for each value, and which tokens are the text's."""
        states, of_text, used = self._joined(texts, contexts)
        mask = used[:, None, None, :]
        for layer in self.layers:
            states = layer(states, mask)
        states = self.dropout(states)
        looked = self.looking(states).masked_fill(~of_text[..., None], _NOWHERE)
        shares = torch.softmax(looked, dim=1).transpose(1, 2)
        seen = torch.tanh(shares @ states)
        scores = (seen * self.judging).sum(dim=-1) + self.whole(states[:, 0]) + self.bias
        if self.likeness is not None:
            scores = torch.cat([scores[:, :-1], scores[:, -1:] + self._alike(texts, contexts)], 1)
        return scores, self.words(states), of_text

    def _alike(self, texts: Sequence[Tensor], contexts: Sequence[Tensor | None]) -> Tensor:
        assert self.likeness is not None
        rows: list[Tensor] = []
        for text, context in zip(texts, contexts, strict=True):
            assert context is not None
            with torch.autocast("cpu", enabled=False):
                rows.append(self.likeness(text, context))
        return torch.stack(rows)[:, None]

    def _joined(
        self, texts: Sequence[Tensor], contexts: Sequence[Tensor | None]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The text comes first, so that its places do not depend on what it follows."""
        pairs = list(zip(texts, contexts, strict=True))
        longest = 0
        for text, context in pairs:
            longest = max(longest, len(text) + (0 if context is None else len(context)))
        states = torch.zeros(len(pairs), longest, WIDTH)
        of_text = torch.zeros(len(pairs), longest, dtype=torch.bool)
        used = torch.zeros(len(pairs), longest, dtype=torch.bool)
        for row, (text, context) in enumerate(pairs):
            end = len(text)
            states[row, :end] = text.float() + self.sides[0]
            of_text[row, :end] = True
            if context is not None:
                states[row, end : end + len(context)] = context.float() + self.sides[1]
                end += len(context)
            used[row, :end] = True
        return states, of_text, used


def group_loss(group: str, scores: Tensor, wanted: Tensor, weights: Tensor) -> Tensor:
    """How wrong the labels of a group are; rows of weight 0 say nothing about it."""
    if group in ONE_OF:
        each = functional.cross_entropy(
            scores, wanted.argmax(dim=-1), reduction="none", label_smoothing=0.05
        )
    else:
        softened = wanted * 0.96 + 0.02
        each = functional.binary_cross_entropy_with_logits(scores, softened, reduction="none")
        each = each.sum(dim=-1)
    return (each * weights).sum() / weights.sum().clamp(min=1.0)
