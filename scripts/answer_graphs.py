"""The answer model as two ONNX graphs, in 8 bits as `build_embedding_model.py` makes them."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from answer_network import LAYERS, LOWER_LAYERS, SHARPNESS, SIDES, SPREAD, WIDTH
from graph_parts import GraphParts, add_layer, add_ones_and_zeros, save_graph
from onnx import TensorProto, helper

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
    save_graph(graph, source, target)


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


def write_upper(weights: dict[str, Any], embedding_file: Path, target: Path) -> None:
    """The trained layers: states of an ask, of what was said before it (nothing: no tokens) and of
    a passage to a score and to evidence."""
    made = GraphParts(weights)
    states = _joined(made)
    for number in range(LAYERS - LOWER_LAYERS):
        states = add_layer(made, f"l{number + LOWER_LAYERS}", f"layers.{number}", states)
    _heads(made, states)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, f"{name}_tokens", WIDTH])
        for name in SIDES
    ]
    outputs = [
        helper.make_tensor_value_info("score", TensorProto.FLOAT, [1]),
        helper.make_tensor_value_info("evidence", TensorProto.FLOAT, [1, "passage_tokens"]),
    ]
    constants = list(made.constants.values())
    graph = helper.make_graph(made.nodes, "answers-upper", inputs, outputs, constants)
    save_graph(graph, onnx.load(embedding_file), target)


def _joined(made: GraphParts) -> str:
    for row, name in enumerate(SIDES):
        side = made.constant(f"{name}_side", made.weights["sides"][row])
        made.add("Add", [name, side], f"{name}_sided")
    states = made.add("Concat", [f"{name}_sided" for name in SIDES], "joined", axis=1)
    add_ones_and_zeros(made, states)
    return states


def _heads(made: GraphParts, states: str) -> None:
    """What is written in PyTorch in `AnswerNetwork.forward`."""
    made.add("Shape", ["ask"], "ask_shape")
    made.add("Gather", ["ask_shape", "one"], "ask_end")
    made.add("Shape", ["lead"], "lead_shape")
    made.add("Gather", ["lead_shape", "one"], "lead_tokens")
    made.add("Add", ["ask_end", "lead_tokens"], "passage_start")
    made.whole_number("start", 0)
    made.whole_number("end", _LAST)
    made.add("Slice", [states, "start", "ask_end", "one"], "of_ask")
    made.add("Slice", [states, "passage_start", "end", "one"], "of_passage")
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


def _likeness(made: GraphParts) -> str:
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
