"""The network of the answer model in PyTorch: upper layers that read an ask, what was said before
it, and a passage together."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn import functional

LAYERS, HEADS, WIDTH = 12, 12, 384
LOWER_LAYERS = 8
"""Layers that read ask and passage apart. They stay as they are in the embedding model."""
ZERO = 128
COMPARED = 64
SHARPNESS = 15.0
SPREAD = WIDTH**0.5
"""Parts of a direction are that much smaller than 1."""
SIDES = ("ask", "lead", "passage")
"""What is read together: an ask, what was said before it, and a passage."""
_NOWHERE = -1e4

Triple = tuple[Tensor, Tensor, Tensor]
"""The states of the three. A lead may have no tokens."""


class Layer(nn.Module):
    """One layer of BERT. What queries are scaled by lies in their weights.

    The attention is written out: for texts of a few words PyTorch's own learns several times slower
    on a processor.
    """

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.ao = nn.Linear(WIDTH, WIDTH)
        self.fi = nn.Linear(WIDTH, 4 * WIDTH)
        self.fo = nn.Linear(4 * WIDTH, WIDTH)
        self.aln = nn.LayerNorm(WIDTH, eps=1e-12)
        self.oln = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, given: Tensor, mask: Tensor) -> Tensor:
        texts, tokens, _ = given.shape
        parts = self.qkv(given).view(texts, tokens, 3, HEADS, WIDTH // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        alike = (query @ key.transpose(-1, -2)).float().masked_fill(~mask, _NOWHERE)
        seen = torch.softmax(alike, dim=-1).to(value.dtype) @ value
        seen = seen.transpose(1, 2).reshape(texts, tokens, WIDTH)
        attended = self.aln(given + self.ao(seen))
        wide = functional.gelu(self.fi(attended), approximate="tanh")
        return self.oln(attended + self.fo(wide))


class AnswerNetwork(nn.Module):
    """Says whether the passage answers the ask, and by which words.

    Each token of the ask is held against the tokens of the passage that are like it, and what that
    comparison says is added up: an embedding model knows from the start which tokens are alike. The
    second part looks at the words that answer, at the ask and at both together.
    """

    def __init__(self, embedding_model: onnx.ModelProto) -> None:
        """It begins with the upper layers of the embedding model."""
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LOWER_LAYERS, LAYERS))
        self.sides = nn.Parameter(torch.randn(len(SIDES), WIDTH) * 0.02)
        self.centre = nn.Parameter(torch.zeros(WIDTH))
        self.evidence = nn.Linear(WIDTH, 1)
        self.weight = nn.Linear(WIDTH, 1)
        self.likeness = nn.Linear(2 * WIDTH, COMPARED)
        self.covered = nn.Linear(COMPARED, 1)
        self.mixed = nn.Linear(3 * WIDTH, WIDTH)
        self.answers = nn.Linear(WIDTH, 1)
        self.scale = nn.Parameter(torch.tensor([12.0, -10.0]))
        self.dropout = nn.Dropout(0.1)
        for part in (self.weight, self.covered, self.mixed, self.answers):
            nn.init.normal_(part.weight, std=0.02)
        stored = {tensor.name: tensor for tensor in embedding_model.graph.initializer}
        with torch.no_grad():
            for number, layer in enumerate(self.layers, LOWER_LAYERS):
                for name, part in layer.named_children():
                    fill(part, stored, f"l{number}_{name}")

    def forward(self, triples: Sequence[Triple]) -> tuple[Tensor, Tensor]:
        """Scores of the pairs; for each token how much it is evidence, outside of the passage
        nearly nothing."""
        states, of_ask, of_passage = self.read(triples)
        evidence = self.evidence(states)[..., 0].masked_fill(~of_passage, _NOWHERE)
        answering = (torch.softmax(evidence, dim=-1)[..., None] * states).sum(dim=1)
        asked = (states * of_ask[..., None]).sum(dim=1) / of_ask.sum(dim=1, keepdim=True)
        features = torch.cat([answering, asked, states[:, 0]], dim=-1)
        mixed = torch.tanh(self.mixed(self.dropout(features)))
        score = self.answers(self.dropout(mixed))[:, 0]
        return score + self._likeness(states, of_ask, of_passage), evidence

    def _likeness(self, states: Tensor, of_ask: Tensor, of_passage: Tensor) -> Tensor:
        """How much of the ask the passage speaks of, token by token."""
        directions = functional.normalize(states - self.centre, dim=-1)
        alike = directions @ directions.transpose(1, 2)
        shares = torch.softmax(SHARPNESS * alike.masked_fill(~of_passage[:, None], -9), dim=-1)
        aligned = functional.normalize(shares @ directions, dim=-1)
        nearness = (shares * alike).sum(dim=-1)
        differences = torch.cat([directions * aligned, (directions - aligned).abs()], dim=-1)
        covered = self.covered(torch.tanh(self.likeness(differences * SPREAD)))[..., 0]
        weights = self.weight(states)[..., 0].masked_fill(~of_ask, _NOWHERE)
        each = self.scale[0] * nearness + self.scale[1] + covered
        return (torch.softmax(weights, dim=-1) * each).sum(dim=-1)

    def read(self, triples: Sequence[Triple]) -> tuple[Tensor, Tensor, Tensor]:
        """What the layers make of them, and which tokens are the ask's and the passage's."""
        states, used, of_ask, of_passage = self._joined(triples)
        mask = used[:, None, None, :]
        for layer in self.layers:
            states = layer(states, mask)
        return states, of_ask, of_passage

    def _joined(self, triples: Sequence[Triple]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        longest = max(sum(map(len, triple)) for triple in triples)
        states = torch.zeros(len(triples), longest, WIDTH)
        used, of_ask, of_passage = torch.zeros(3, len(triples), longest, dtype=torch.bool)
        for row, (ask, lead, passage) in enumerate(triples):
            asked, start = len(ask), len(ask) + len(lead)
            end = start + len(passage)
            states[row, :asked] = ask.float() + self.sides[0]
            states[row, asked:start] = lead.float() + self.sides[1]
            states[row, start:end] = passage.float() + self.sides[2]
            used[row, :end] = True
            of_ask[row, :asked] = True
            of_passage[row, start:end] = True
        return states, used, of_ask, of_passage


def fill(part: Any, stored: Mapping[str, onnx.TensorProto], name: str) -> None:
    """Give a part of a layer the weights that the embedding model stores under `name`."""
    if isinstance(part, nn.LayerNorm):
        weights = numpy_helper.to_array(stored[f"{name}_w"])
    else:
        rounded = numpy_helper.to_array(stored[f"{name}_weights"]).astype(np.float32) - ZERO
        weights = (rounded * numpy_helper.to_array(stored[f"{name}_scale"])).T
    part.weight.copy_(torch.from_numpy(weights.copy()))
    part.bias.copy_(torch.from_numpy(numpy_helper.to_array(stored[f"{name}_b"]).copy()))
