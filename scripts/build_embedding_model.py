"""Make the embedding model faster on one core: 8-bit products, one text at a time.

    pip install onnx numpy
    git show 04a4644:src/deskhand/language/models/multilingual-e5-small-q4/model.onnx > source.onnx
    python scripts/build_embedding_model.py source.onnx model.onnx

The source is the 4-bit graph that this repository held before. What changes: matrices become 8 bits
(one scale a column) and their inputs are rounded to 8 bits as they come, except for two matrices
whose inputs have a few huge values; attention is one operator without a mask; layer normalisation
is written as instance normalisation, which onnxruntime computes four times as fast; GELU is its
tanh form. Word embeddings stay as they are. Weights are unsigned, since signed ones overflow on x86
processors without VNNI.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

LAYERS, HEADS = 12, 12
ZERO = 128
LARGE_INPUTS = ("l4_fo", "l5_fo")
"""Rounding their inputs alone costs more than rounding all others; they stay in 4 bits with a
scale for 32 values."""
MICROSOFT = "com.microsoft"


class Builder:
    """The source's weights, and the new graph's nodes and constants as they are added."""

    def __init__(self, source: onnx.ModelProto) -> None:
        self.source = {tensor.name: tensor for tensor in source.graph.initializer}
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def add(
        self, kind: str, inputs: list[str], output: str, *, domain: str = "", **settings: Any
    ) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **settings))
        for name in inputs:
            if name in self.source:
                self.constants[name] = self.source[name]
        return output

    def constant(self, name: str, value: Any) -> str:
        self.constants[name] = numpy_helper.from_array(value, name)
        return name

    def weights(self, name: str) -> Any:
        """A matrix (outputs × inputs) from its 4-bit values and their scales."""
        packed = numpy_helper.to_array(self.source[f"{name}_B"])
        scales = numpy_helper.to_array(self.source[f"{name}_S"]).reshape(packed.shape[:2])
        values = (
            np.stack([packed & 15, packed >> 4], axis=-1)
            .reshape(*packed.shape[:2], -1)
            .astype(np.float32)
            - 8
        )
        return (values * scales[..., None]).reshape(len(packed), -1)

    def linear(self, name: str, given: str) -> str:
        weights = self.weights(name)
        if name in LARGE_INPUTS:
            outputs, inputs = weights.shape
            settings = {"K": inputs, "N": outputs, "bits": 4, "block_size": 32, "accuracy_level": 4}
            parts = [given, f"{name}_B", f"{name}_S", "", "", f"{name}_b"]
            return self.add("MatMulNBits", parts, f"{name}_out", domain=MICROSOFT, **settings)
        scale = (np.abs(weights).max(axis=1) / 127).astype(np.float32)
        rounded = (np.clip(np.rint(weights / scale[:, None]), -127, 127) + ZERO).astype(np.uint8)
        parts = [
            given,
            self.constant(f"{name}_weights", rounded.T.copy()),
            self.constant(f"{name}_scale", scale),
            self.constant(f"{name}_zero", np.full(len(scale), ZERO, dtype=np.uint8)),
            f"{name}_b",
        ]
        return self.add("DynamicQuantizeMatMul", parts, f"{name}_out", domain=MICROSOFT)

    def normalised(self, name: str, given: str) -> str:
        """Every token is an instance channel of its own; then weight and bias of the layer."""
        self.add("InstanceNormalization", [given, "ones", "zeros"], f"{name}_even", epsilon=1e-12)
        self.add("Mul", [f"{name}_even", f"{name}_w"], f"{name}_scaled")
        return self.add("Add", [f"{name}_scaled", f"{name}_b"], f"{name}_out")


def build(source: onnx.ModelProto) -> onnx.ModelProto:
    made = Builder(source)
    hidden = _embeddings(made, source)
    for number in range(LAYERS):
        hidden = _layer(made, f"l{number}", hidden)
    made.add(
        "ReduceMean",
        [hidden, made.constant("tokens", np.array([1], dtype=np.int64))],
        "mean",
        keepdims=0,
    )
    made.add("LpNormalization", ["mean"], "emb", axis=-1, p=2)
    graph = helper.make_graph(
        made.nodes,
        "multilingual-e5-small-int8",
        [helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, [1, "tokens"])],
        [helper.make_tensor_value_info("emb", onnx.TensorProto.FLOAT, [1, 384])],
        list(made.constants.values()),
    )
    return helper.make_model(graph, opset_imports=source.opset_import, ir_version=source.ir_version)


def _embeddings(made: Builder, source: onnx.ModelProto) -> str:
    """Words and places, as in the source."""
    for node in source.graph.node:
        if node.op_type == "LayerNormalization":
            break
        made.nodes.append(node)
        made.constants |= {name: made.source[name] for name in node.input if name in made.source}
    for name, value in (("ones", 1), ("zeros", 0)):
        made.add(
            "ConstantOfShape",
            ["L"],
            name,
            value=numpy_helper.from_array(np.array([value], dtype=np.float32)),
        )
    return made.normalised("eln", "e0")


def _layer(made: Builder, layer: str, given: str) -> str:
    parts = [f"{layer}_query", f"{layer}_key", f"{layer}_value"]
    mixed = made.linear(f"{layer}_qkv", given)
    made.nodes.append(helper.make_node("Split", [mixed], parts, axis=-1, num_outputs=3))
    made.add(
        "MultiHeadAttention", parts, f"{layer}_seen", domain=MICROSOFT, num_heads=HEADS, scale=1.0
    )
    made.add("Add", [given, made.linear(f"{layer}_ao", f"{layer}_seen")], f"{layer}_attended")
    attended = made.normalised(f"{layer}_aln", f"{layer}_attended")
    made.add("FastGelu", [made.linear(f"{layer}_fi", attended)], f"{layer}_wide", domain=MICROSOFT)
    made.add("Add", [attended, made.linear(f"{layer}_fo", f"{layer}_wide")], f"{layer}_thought")
    return made.normalised(f"{layer}_oln", f"{layer}_thought")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    asked = parser.parse_args()
    model = build(onnx.load(asked.source))
    onnx.checker.check_model(model)
    onnx.save(model, asked.target)


if __name__ == "__main__":
    main()
