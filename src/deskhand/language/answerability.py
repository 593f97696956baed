"""Whether a passage answers an ask: a small model that reads both together.

    AnswerReader().read("Is it open on Sunday?", ["Opening hours. We are closed on Sundays."])

An embedding is made of each text alone, so it cannot know what a passage leaves out. Here the lower
layers of the embedding model read ask and passage apart, and upper layers that we trained read
them together. What a passage is below is kept, since the same passages are read again and again.
How it was trained: docs/decisions/0063-chance-of-an-answer.md.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from deskhand.language.clean_text import clean, has_words
from deskhand.language.embed import Kind, default_threads, model_session, tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    States = NDArray[np.float16]

LOWER_GRAPH = "answers-lower.onnx"
"""Its weights lie in the embedding model's own file."""
UPPER_GRAPH = "answers-upper.onnx"
MOST_ASK_TOKENS = 72
MOST_PASSAGE_TOKENS = 144
_KEPT_PASSAGES = 400
"""About 60 kB each."""
_END = 2
_SURELY = 20.0


class AnswerReader:
    """Reads asks with passages. Thread-safe; the model is loaded when first needed."""

    def __init__(self, *, threads: int | None = None) -> None:
        self._threads = threads if threads is not None else default_threads()
        self._passages: OrderedDict[str, States] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, ask: str, passages: Sequence[str]) -> list[float]:
        """A score for each passage: the logarithm of the odds that it answers, as the model sees
        them. Nothing answers an ask without a word in it."""
        if not has_words(clean(ask)):
            return [-_SURELY] * len(passages)
        asked = self._states(clean(ask), "query", MOST_ASK_TOKENS)
        return [self._read(asked, clean(passage)) for passage in passages]

    def _read(self, asked: "States", passage: str) -> float:
        import numpy as np

        given = {
            "ask": asked.astype(np.float32),
            "passage": self._passage(passage).astype(np.float32),
        }
        session, lock = model_session(UPPER_GRAPH, self._threads)
        with lock:
            (score,) = session.run(["score"], given)
        return float(score[0])

    def _passage(self, passage: str) -> "States":
        with self._lock:
            kept = self._passages.get(passage)
            if kept is not None:
                self._passages.move_to_end(passage)
                return kept
        states = self._states(passage, "passage", MOST_PASSAGE_TOKENS)
        with self._lock:
            self._passages[passage] = states
            while len(self._passages) > _KEPT_PASSAGES:
                self._passages.popitem(last=False)
        return states

    def _states(self, text: str, kind: Kind, most: int) -> "States":
        import numpy as np

        ids = tokenizer().encode(f"{kind}: {text}").ids
        if len(ids) > most:
            ids = [*ids[: most - 1], _END]
        halved: States = lower_states(ids, self._threads).astype(np.float16)
        return halved


def lower_states(ids: Sequence[int], threads: int) -> "NDArray[np.float32]":
    """What the lower layers of the embedding model make of tokens: a row for each."""
    import numpy as np

    session, lock = model_session(LOWER_GRAPH, threads)
    with lock:
        states: NDArray[np.float32] = session.run(
            None, {"input_ids": np.array([list(ids)], dtype=np.int64)}
        )[0]
    return states


@cache
def shared_answer_reader() -> AnswerReader:
    """The process's own: passages that several parts of a desk read are read once."""
    return AnswerReader()
