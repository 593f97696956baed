"""Parts of trained graphs, in 8 bits as `build_embedding_model.py` makes them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from answer_network import HEADS, ZERO
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"


class GraphParts:
    """Nodes and constants of a graph as they are added."""

    def __init__(self, weights: dict[str, Any]) -> None:
        self.weights = {name: tensor.numpy() for name, tensor in weights.items()}
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, TensorProto] = {}

    def add(
        self, kind: str, inputs: Sequence[str], output: str, *, domain: str = "", **settings: Any
    ) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **settings))
        return output

    def constant(self, name: str, value: Any) -> str:
        self.constants[name] = numpy_helper.from_array(np.array(value, order="C"), name)
        return name

    def whole_number(self, name: str, value: int) -> str:
        return self.constant(name, np.array([value], dtype=np.int64))

    def number(self, name: str, value: float) -> str:
        return self.constant(name, np.array(value, dtype=np.float32))

    def linear(self, name: str, part: str, given: str) -> str:
        """A matrix in 8 bits, one scale a column."""
        weights = self.weights[f"{part}.weight"]
        scale = (np.abs(weights).max(axis=1) / 127).astype(np.float32)
        rounded = np.clip(np.rint(weights / scale[:, None]), -127, 127) + ZERO
        inputs = [
            given,
            self.constant(f"{name}_weights", rounded.astype(np.uint8).T),
            self.constant(f"{name}_scale", scale),
            self.constant(f"{name}_zero", np.full(len(scale), ZERO, dtype=np.uint8)),
            self.constant(f"{name}_b", self.weights[f"{part}.bias"]),
        ]
        return self.add("DynamicQuantizeMatMul", inputs, f"{name}_out", domain=MICROSOFT)

    def exact(self, name: str, given: str) -> str:
        """A small matrix that is not rounded."""
        weights = self.constant(f"{name}_weights", self.weights[f"{name}.weight"].T)
        self.add("MatMul", [given, weights], f"{name}_product")
        bias = self.constant(f"{name}_b", self.weights[f"{name}.bias"])
        return self.add("Add", [f"{name}_product", bias], f"{name}_out")

    def normalised(self, name: str, part: str, given: str) -> str:
        self.add("InstanceNormalization", [given, "ones", "zeros"], f"{name}_even", epsilon=1e-12)
        weight = self.constant(f"{name}_w", self.weights[f"{part}.weight"])
        self.add("Mul", [f"{name}_even", weight], f"{name}_scaled")
        bias = self.constant(f"{name}_b", self.weights[f"{part}.bias"])
        return self.add("Add", [f"{name}_scaled", bias], f"{name}_out")


def add_layer(made: GraphParts, layer: str, part: str, given: str) -> str:
    """One layer of BERT."""
    parts = [f"{layer}_query", f"{layer}_key", f"{layer}_value"]
    mixed = made.linear(f"{layer}_qkv", f"{part}.qkv", given)
    made.nodes.append(helper.make_node("Split", [mixed], parts, axis=-1, num_outputs=3))
    seen = made.add(
        "MultiHeadAttention", parts, f"{layer}_seen", domain=MICROSOFT, num_heads=HEADS, scale=1.0
    )
    made.add("Add", [given, made.linear(f"{layer}_ao", f"{part}.ao", seen)], f"{layer}_added")
    attended = made.normalised(f"{layer}_aln", f"{part}.aln", f"{layer}_added")
    wide = made.linear(f"{layer}_fi", f"{part}.fi", attended)
    made.add("FastGelu", [wide], f"{layer}_wide", domain=MICROSOFT)
    thought = made.linear(f"{layer}_fo", f"{part}.fo", f"{layer}_wide")
    made.add("Add", [attended, thought], f"{layer}_thought")
    return made.normalised(f"{layer}_oln", f"{part}.oln", f"{layer}_thought")


def add_ones_and_zeros(made: GraphParts, states: str) -> None:
    """What layers need to normalise with: as many as there are tokens in `states`."""
    made.add("Shape", [states], "shape")
    made.add("Gather", ["shape", made.whole_number("one", 1)], "tokens")
    for name, value in (("ones", 1), ("zeros", 0)):
        filling = numpy_helper.from_array(np.array([value], dtype=np.float32))
        made.add("ConstantOfShape", ["tokens"], name, value=filling)


def save_graph(graph: onnx.GraphProto, source: onnx.ModelProto, target: Path) -> None:
    """Write `graph` with the operator sets of `source`."""
    model = helper.make_model(
        graph, opset_imports=source.opset_import, ir_version=source.ir_version
    )
    target.write_bytes(model.SerializeToString(deterministic=True))
