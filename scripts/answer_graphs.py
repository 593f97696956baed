"""The answer model as two ONNX graphs, in 8 bits as `build_embedding_model.py` makes them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from answer_network import HEADS, LAYERS, LOWER_LAYERS, SHARPNESS, SPREAD, WIDTH, ZERO
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
_SMALL = 1024
"""Bytes of a constant that is stored anew rather than looked up in the embedding model."""
_LAST = 2**31


def write_lower(embedding_file: Path, target: Path) -> None:
    """The lower layers of the embedding model. Their weights stay in its file, where this graph
    says they lie, so both must be in one folder."""
    source = onnx.load(embedding_file)
    whole = embedding_file.read_bytes()
    output = f"l{LOWER_LAYERS - 1}_oln_out"
    nodes: list[onnx.NodeProto] = []
    for node in source.graph.node:
        nodes.append(node)
        if output in node.output:
            break
    used = {name for node in nodes for name in node.input}
    constants: list[TensorProto] = []
    for constant in source.graph.initializer:
        if constant.name in used:
            constants.append(_found(constant, whole, embedding_file.name))
    graph = helper.make_graph(
        nodes,
        "answers-lower",
        source.graph.input,
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, [1, "tokens", WIDTH])],
        constants,
    )
    _save(graph, source, target)


def _found(constant: TensorProto, whole: bytes, location: str) -> TensorProto:
    """A constant as a place in the embedding model's file."""
    if len(constant.raw_data) < _SMALL:
        return constant
    offset = whole.index(constant.raw_data)
    found = TensorProto(name=constant.name, dims=constant.dims, data_type=constant.data_type)
    found.data_location = TensorProto.EXTERNAL
    place = {"location": location, "offset": offset, "length": len(constant.raw_data)}
    for key, value in place.items():
        entry = found.external_data.add()
        entry.key, entry.value = key, str(value)
    return found


class _Upper:
    """Nodes and constants of the upper layers as they are added."""

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


def write_upper(weights: dict[str, Any], embedding_file: Path, target: Path) -> None:
    """The trained layers: states of an ask and of a passage to a score and to evidence."""
    made = _Upper(weights)
    states = _joined(made)
    for number in range(LAYERS - LOWER_LAYERS):
        states = _layer(made, f"l{number + LOWER_LAYERS}", f"layers.{number}", states)
    _heads(made, states)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, f"{name}_tokens", WIDTH])
        for name in ("ask", "passage")
    ]
    outputs = [
        helper.make_tensor_value_info("score", TensorProto.FLOAT, [1]),
        helper.make_tensor_value_info("evidence", TensorProto.FLOAT, [1, "passage_tokens"]),
    ]
    constants = list(made.constants.values())
    graph = helper.make_graph(made.nodes, "answers-upper", inputs, outputs, constants)
    _save(graph, onnx.load(embedding_file), target)


def _joined(made: _Upper) -> str:
    for row, name in enumerate(("ask", "passage")):
        side = made.constant(f"{name}_side", made.weights["sides"][row])
        made.add("Add", [name, side], f"{name}_sided")
    states = made.add("Concat", ["ask_sided", "passage_sided"], "joined", axis=1)
    made.add("Shape", [states], "shape")
    made.add("Gather", ["shape", made.whole_number("one", 1)], "tokens")
    for name, value in (("ones", 1), ("zeros", 0)):
        filling = numpy_helper.from_array(np.array([value], dtype=np.float32))
        made.add("ConstantOfShape", ["tokens"], name, value=filling)
    return states


def _layer(made: _Upper, layer: str, part: str, given: str) -> str:
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


def _heads(made: _Upper, states: str) -> None:
    """What is written in PyTorch in `AnswerNetwork.forward`."""
    made.add("Shape", ["ask"], "ask_shape")
    made.add("Gather", ["ask_shape", "one"], "ask_end")
    made.whole_number("start", 0)
    made.whole_number("end", _LAST)
    made.add("Slice", [states, "start", "ask_end", "one"], "of_ask")
    made.add("Slice", [states, "ask_end", "end", "one"], "of_passage")
    evidence = made.exact("evidence", "of_passage")
    made.add("Squeeze", [evidence, made.whole_number("last", -1)], "evidence")
    made.add("Softmax", [evidence], "shares", axis=1)
    made.add("Mul", ["shares", "of_passage"], "shared")
    made.add("ReduceSum", ["shared", "one"], "answering", keepdims=0)
    made.add("ReduceMean", ["of_ask", "one"], "asked", keepdims=0)
    first = made.constant("first", np.array(0, dtype=np.int64))
    made.add("Gather", [states, first], "beginning", axis=1)
    made.add("Concat", ["answering", "asked", "beginning"], "features", axis=-1)
    made.add("Tanh", [made.exact("mixed", "features")], "mixture")
    made.add("Squeeze", [made.exact("answers", "mixture"), "last"], "by_answer")
    made.add("Add", ["by_answer", _likeness(made)], "score")


def _likeness(made: _Upper) -> str:
    made.constant("centre", made.weights["centre"])
    for side in ("ask", "passage"):
        made.add("Sub", [f"of_{side}", "centre"], f"{side}_moved")
        made.add("LpNormalization", [f"{side}_moved"], f"{side}_ways", axis=-1, p=2)
    made.add("Transpose", ["passage_ways"], "turned", perm=[0, 2, 1])
    made.add("MatMul", ["ask_ways", "turned"], "alike")
    made.add("Mul", ["alike", made.number("sharpness", SHARPNESS)], "sharpened")
    made.add("Softmax", ["sharpened"], "aligning", axis=-1)
    made.add("MatMul", ["aligning", "passage_ways"], "summed")
    made.add("LpNormalization", ["summed"], "aligned", axis=-1, p=2)
    made.add("Mul", ["aligning", "alike"], "alike_shares")
    made.add("ReduceSum", ["alike_shares", "last"], "nearness", keepdims=0)
    made.add("Mul", ["ask_ways", "aligned"], "common")
    made.add("Sub", ["ask_ways", "aligned"], "apart")
    made.add("Abs", ["apart"], "distance")
    made.add("Concat", ["common", "distance"], "differences", axis=-1)
    made.add("Mul", ["differences", made.number("spread", SPREAD)], "spread_out")
    made.add("Tanh", [made.exact("likeness", "spread_out")], "likened")
    made.add("Squeeze", [made.exact("covered", "likened"), "last"], "coverage")
    made.add("Squeeze", [made.exact("weight", "of_ask"), "last"], "weighed")
    made.add("Softmax", ["weighed"], "weights", axis=-1)
    slope, offset = (float(value) for value in made.weights["scale"])
    made.add("Mul", ["nearness", made.number("slope", slope)], "sloped")
    made.add("Add", ["sloped", "coverage"], "raised")
    made.add("Add", ["raised", made.number("offset", offset)], "each")
    made.add("Mul", ["weights", "each"], "weighted")
    return made.add("ReduceSum", ["weighted", "last"], "by_likeness", keepdims=0)


def _save(graph: onnx.GraphProto, source: onnx.ModelProto, target: Path) -> None:
    model = helper.make_model(
        graph, opset_imports=source.opset_import, ir_version=source.ir_version
    )
    target.write_bytes(model.SerializeToString(deterministic=True))
