"""The reading model as an ONNX graph, in 8 bits."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from answer_network import LAYERS, LOWER_LAYERS, WIDTH
from graph_parts import GraphParts, add_layer, add_ones_and_zeros, save_graph
from onnx import TensorProto, helper
from reading_network import LABELS, VALUES


def write_reading(weights: dict[str, Any], embedding_file: Path, target: Path) -> None:
    """States of a text and of what it follows (none: no tokens) to scores of labels and words."""
    made = GraphParts(weights)
    for row, name in enumerate(("text", "context")):
        side = made.constant(f"{name}_side", made.weights["sides"][row])
        made.add("Add", [name, side], f"{name}_sided")
    states = made.add("Concat", ["text_sided", "context_sided"], "joined", axis=1)
    add_ones_and_zeros(made, states)
    for number in range(LAYERS - LOWER_LAYERS):
        states = add_layer(made, f"l{number + LOWER_LAYERS}", f"layers.{number}", states)
    _heads(made, states)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, f"{name}_tokens", WIDTH])
        for name in ("text", "context")
    ]
    count = sum(len(labels) for labels in LABELS.values())
    outputs = [
        helper.make_tensor_value_info("labels", TensorProto.FLOAT, [1, count]),
        helper.make_tensor_value_info("shares", TensorProto.FLOAT, [1, "text_tokens", count]),
        helper.make_tensor_value_info("words", TensorProto.FLOAT, [1, "text_tokens", len(VALUES)]),
    ]
    constants = list(made.constants.values())
    graph = helper.make_graph(made.nodes, "reading", inputs, outputs, constants)
    save_graph(graph, onnx.load(embedding_file), target)


def _heads(made: GraphParts, states: str) -> None:
    """What is written in PyTorch in `ReadingNetwork.forward`."""
    made.add("Shape", ["text"], "text_shape")
    made.add("Gather", ["text_shape", "one"], "text_end")
    made.whole_number("start", 0)
    made.add("Slice", [states, "start", "text_end", "one"], "of_text")
    made.add("Softmax", [made.exact("looking", "of_text")], "shares", axis=1)
    made.add("Transpose", ["shares"], "turned", perm=[0, 2, 1])
    made.add("MatMul", ["turned", "of_text"], "gathered")
    made.add("Tanh", ["gathered"], "seen")
    made.add("Mul", ["seen", made.constant("judging", made.weights["judging"])], "judged")
    made.add("ReduceSum", ["judged", made.whole_number("last", -1)], "by_words", keepdims=0)
    first = made.constant("first", np.array(0, dtype=np.int64))
    made.add("Gather", [states, first], "beginning", axis=1)
    made.add("Add", ["by_words", made.exact("whole", "beginning")], "added")
    made.add("Add", ["added", made.constant("bias", made.weights["bias"])], "labels")
    made.add("Identity", [made.exact("words", "of_text")], "words")
