"""The weights of a graph that was written before, to go on learning from."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from answer_network import LOWER_LAYERS, fill
from onnx import TensorProto, numpy_helper
from torch import nn


def begin_with(network: Any, file: Path, sides: Sequence[str]) -> None:
    """Give the network what the graph knows. `sides` names what it reads together, in order; a
    side that the graph did not know begins at nothing."""
    stored = {tensor.name: tensor for tensor in onnx.load(file).graph.initializer}
    with torch.no_grad():
        for number, layer in enumerate(network.layers, LOWER_LAYERS):
            for name, part in layer.named_children():
                fill(part, stored, f"l{number}_{name}")
        _fill_sides(network, stored, sides)
        _fill_heads(network, stored)
        likeness = getattr(network, "likeness", None)
        if hasattr(likeness, "weighing") and "centre" in stored:
            _fill_likeness(likeness, stored)


def _fill_sides(network: Any, stored: Mapping[str, TensorProto], sides: Sequence[str]) -> None:
    for row, side in enumerate(sides):
        known = f"{side}_side" in stored
        network.sides[row] = _tensor(stored, f"{side}_side") if known else 0.0


def _fill_heads(network: Any, stored: Mapping[str, TensorProto]) -> None:
    for name, part in network.named_children():
        if isinstance(part, nn.Linear):
            part.weight.copy_(_tensor(stored, f"{name}_weights").T)
            part.bias.copy_(_tensor(stored, f"{name}_b"))
    for name, parameter in network.named_parameters(recurse=False):
        if name in stored:
            parameter.copy_(_tensor(stored, name))
    if "slope" in stored:
        network.scale.copy_(torch.stack([_tensor(stored, "slope"), _tensor(stored, "offset")]))


def _fill_likeness(likeness: Any, stored: Mapping[str, TensorProto]) -> None:
    """What is usual lies in the weights of the sum."""
    for name in ("centre", "spread"):
        getattr(likeness, name).copy_(_tensor(stored, name))
    for row, side in enumerate(("text", "context")):
        likeness.weighing.weight[row] = _tensor(stored, f"{side}_weighing")
    likeness.summing.weight.copy_(_tensor(stored, "summing").T)
    likeness.summing.bias.copy_(_tensor(stored, "summing_b"))


def _tensor(stored: Mapping[str, TensorProto], name: str) -> torch.Tensor:
    return torch.from_numpy(np.array(numpy_helper.to_array(stored[name]), dtype=np.float32))
