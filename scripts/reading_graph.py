"""The reading model as an ONNX graph, in 8 bits."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from answer_network import LAYERS, LOWER_LAYERS, WIDTH
from graph_parts import GraphParts, add_layer, add_ones_and_zeros, save_graph
from onnx import TensorProto, helper
from reading_network import LABELS, POWERS, SIGNS, VALUES


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
    bias = made.constant("bias", made.weights["bias"])
    if "likeness.centre" not in made.weights:
        made.add("Add", ["added", bias], "labels")
    else:
        made.add("Add", ["added", bias], "by_layers")
        made.add("Add", ["by_layers", _by_likeness(made)], "labels")
    made.add("Identity", [made.exact("words", "of_text")], "words")


def _by_likeness(made: GraphParts) -> str:
    """What is written in PyTorch in `TokenLikeness.forward`: a number for the last label."""
    made.whole_number("start_words", SIGNS)
    made.whole_number("ends", np.iinfo(np.int64).max)
    for side in ("text", "context"):
        made.add("Slice", [side, "start_words", "ends", "one"], f"{side}_words")
        _directions(made, side)
    made.add("Transpose", ["context_directions"], "context_turned", perm=[0, 2, 1])
    made.add("MatMul", ["text_directions", "context_turned"], "alike")
    one_more = np.array([0, 0, 0, 0, 1, 1], dtype=np.int64)
    made.add("Pad", ["alike", made.constant("one_more", one_more)], "alike_or_none")
    parts: list[str] = []
    for column, (side, other) in enumerate((("text", 2), ("context", 1))):
        parts += _counted(made, side, column, other)
    made.add("Concat", parts, "compared", axis=1)
    usual = made.weights["likeness.usual"]
    summing = made.weights["likeness.summing.weight"][0] / usual
    offset = made.weights["likeness.summing.bias"] - summing @ made.weights["likeness.middle"]
    made.add("MatMul", ["compared", made.constant("summing", summing[:, None])], "summed")
    made.add("Add", ["summed", made.constant("summing_b", offset)], "likeness")
    last = np.zeros((1, sum(len(labels) for labels in LABELS.values())), dtype=np.float32)
    last[0, -1] = 1.0
    return made.add("Mul", ["likeness", made.constant("last_label", last)], "by_likeness")


def _directions(made: GraphParts, side: str) -> None:
    centre = made.constant("centre", made.weights["likeness.centre"])
    spread = made.constant("spread", made.weights["likeness.spread"])
    made.add("Sub", [f"{side}_words", centre], f"{side}_centred")
    made.add("Mul", [f"{side}_centred", spread], f"{side}_spread")
    made.add("LpNormalization", [f"{side}_spread"], f"{side}_directions", axis=-1, p=2)


def _counted(made: GraphParts, side: str, column: int, other: int) -> list[str]:
    """How near the words of one side have their like on the other one, which lies along the axis
    `other`: by each power."""
    made.add(
        "ReduceMax",
        ["alike_or_none", made.whole_number(f"axis_{other}", other)],
        f"{side}_best_or_none",
        keepdims=0,
    )
    made.add(
        "Slice",
        [f"{side}_best_or_none", "start", made.whole_number("but_one", -1), "one"],
        f"{side}_best",
    )
    weighing = made.weights["likeness.weighing.weight"][column]
    told = [f"{side}_words", made.constant(f"{side}_weighing", weighing)]
    by_parts = made.add("Mul", told, f"{side}_weighed_parts")
    made.add("ReduceSum", [by_parts, made.whole_number("last", -1)], f"{side}_weighed", keepdims=0)
    made.add("Softmax", [f"{side}_weighed"], f"{side}_shares", axis=-1)
    parts: list[str] = []
    for power in POWERS:
        name = f"{side}_to_{power}"
        made.add("Pow", [f"{side}_best", made.number(f"power_{power}", float(power))], name)
        made.add("Mul", [f"{side}_shares", name], f"{name}_shared")
        parts.append(made.add("ReduceSum", [f"{name}_shared", "one"], f"{name}_sum", keepdims=1))
    return parts
