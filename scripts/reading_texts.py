"""Texts as tokens and states, as the upper layers of the reading model get them."""

from pathlib import Path

import numpy as np
import onnxruntime
import torch
from tokenizers import Tokenizer
from torch import Tensor

LOWER = "answers-lower.onnx"
MOST_TEXT, MOST_CONTEXT = 160, 96
"""Tokens, as in `deskhand/language/message_reader.py`."""


class Texts:
    """Texts as tokens, and what the lower layers make of them."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._lower = session(folder / LOWER)
        self._states: dict[tuple[str, int], Tensor] = {}

    def tokens(self, text: str, most: int) -> tuple[list[int], list[tuple[int, int]]]:
        encoding = self._tokenizer.encode(text)
        ids, offsets = list(encoding.ids), list(encoding.offsets)
        if len(ids) > most:
            head = most * 2 // 3
            tail = most - head
            ids = ids[:head] + ids[-tail:]
            offsets = offsets[:head] + offsets[-tail:]
        return ids, offsets

    def states(self, text: str, most: int) -> Tensor:
        key = (text, most)
        if key not in self._states:
            given = {"input_ids": np.array([self.tokens(text, most)[0]], dtype=np.int64)}
            states = self._lower.run(None, given)[0][0]
            self._states[key] = torch.from_numpy(states.astype(np.float16))
        return self._states[key]


def session(file: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def one_line(text: str) -> str:
    """As the package reads it: `deskhand/language/clean_text.py`."""
    return " ".join(text.split())
