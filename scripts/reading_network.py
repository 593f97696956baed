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
_NOWHERE = -1e4


class ReadingNetwork(nn.Module):
    """Reads a text, alone or after another one (the question that it follows, or a ticket).

    Each label looks for the words that speak for it and judges those: one sentence in a long
    friendly mail is enough.
    """

    def __init__(self, embedding_model: onnx.ModelProto) -> None:
        """It begins with the upper layers of the embedding model."""
        super().__init__()
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
        return scores, self.words(states), of_text

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
