"""Whether a passage answers an ask: a small model that reads both together.

    AnswerReader().read("Is it open on Sunday?", ["Opening hours. We are closed on Sundays."])
    AnswerReader().read("And on Sunday?", ["Opening hours. ..."], before="I know you open at nine.")

An embedding is made of each text alone, so it cannot know what a passage leaves out. Here the lower
layers of the embedding model read the ask, what the customer said before it and the passage apart,
and upper layers that we trained read them together. What a passage is below is kept, since the same
passages are read again and again. How it was trained: docs/decisions/0068-reading-answers.md.
"""

import atexit
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from deskhand.language.clean_text import clean, has_words
from deskhand.language.embed import MODEL, Kind, default_threads, encoded, model_session
from deskhand.language.vector_cache import SqliteVectorCache, VectorCache
from deskhand.private_files import cache_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    States = NDArray[np.float16]

LOWER_GRAPH = "answers-lower.onnx"
"""Its weights lie in the embedding model's own file."""
UPPER_GRAPH = "answers-upper.onnx"
MOST_ASK_TOKENS = 72
MOST_LEAD_TOKENS = 96
"""Of what was said before an ask, the last ones."""
MOST_PASSAGE_TOKENS = 144
STATES_FILE = "passages.sqlite3"
_KEPT_PASSAGES = 400
"""About 60 kB each."""
_KEPT_ASKS = 32
_KEPT_BETWEEN_PROCESSES = 1000
_WIDTH = 384
_END = 2
_SURELY = 20.0


class AnswerReader:
    """Reads asks with passages. Thread-safe; the model is loaded when first needed."""

    def __init__(self, *, threads: int | None = None, cache: VectorCache | None = None) -> None:
        """`cache` holds what passages are below between processes. Asks, which customers wrote,
        are never put into it."""
        self._threads = threads if threads is not None else default_threads()
        self._asks: OrderedDict[str, States] = OrderedDict()
        self._leads: OrderedDict[str, States] = OrderedDict()
        self._passages: OrderedDict[str, States] = OrderedDict()
        self._lock = threading.Lock()
        self._cache = cache

    def read(self, ask: str, passages: Sequence[str], *, before: str = "") -> list[float]:
        """A score for each passage: the logarithm of the odds that it answers, as the model sees
        them. Nothing answers an ask without a word in it."""
        if not has_words(clean(ask)):
            return [-_SURELY] * len(passages)
        asked = self._ask(clean(ask))
        lead = self._lead(clean(before))
        return [self._read(asked, lead, clean(passage)) for passage in passages]

    def _read(self, asked: "States", lead: "States", passage: str) -> float:
        import numpy as np

        given = {
            "ask": asked.astype(np.float32),
            "lead": lead.astype(np.float32),
            "passage": self._passage(passage).astype(np.float32),
        }
        session, turn = model_session(UPPER_GRAPH, self._threads)
        with turn:
            (score,) = session.run(["score"], given)
        return float(score[0])

    def _ask(self, ask: str) -> "States":
        """An ask is read with one passage after the other."""
        states = self._recall(self._asks, ask)
        if states is None:
            states = self._states(_tokens(ask, "query", MOST_ASK_TOKENS))
            self._remember(self._asks, ask, states, _KEPT_ASKS)
        return states

    def _lead(self, before: str) -> "States":
        """What was said before, which is read as an ask is."""
        import numpy as np

        if not has_words(before):
            return np.zeros((1, 0, _WIDTH), dtype=np.float16)
        states = self._recall(self._leads, before)
        if states is None:
            states = self._states(_last_tokens(before, MOST_LEAD_TOKENS))
            self._remember(self._leads, before, states, _KEPT_ASKS)
        return states

    def _passage(self, passage: str) -> "States":
        states = self._recall(self._passages, passage)
        if states is None:
            states = self._cached(passage)
            self._remember(self._passages, passage, states, _KEPT_PASSAGES)
        return states

    def _recall(self, kept: "OrderedDict[str, States]", text: str) -> "States | None":
        with self._lock:
            states = kept.get(text)
            if states is not None:
                kept.move_to_end(text)
            return states

    def _remember(
        self, kept: "OrderedDict[str, States]", text: str, states: "States", most: int
    ) -> None:
        with self._lock:
            kept[text] = states
            while len(kept) > most:
                kept.popitem(last=False)

    def _cached(self, passage: str) -> "States":
        """The passage's states, from the cache where an earlier process has read it."""
        import numpy as np

        if self._cache is None:
            return self._states(_tokens(passage, "passage", MOST_PASSAGE_TOKENS))
        key = _key(passage)
        stored = self._cache.read([key]).get(key)
        if stored and len(stored) % (_WIDTH * 2) == 0:
            return np.frombuffer(stored, dtype="<f2").reshape(1, -1, _WIDTH)
        states = self._states(_tokens(passage, "passage", MOST_PASSAGE_TOKENS))
        self._cache.write({key: states.astype("<f2").tobytes()})
        return states

    def _states(self, ids: Sequence[int]) -> "States":
        import numpy as np

        halved: States = lower_states(ids, self._threads).astype(np.float16)
        return halved


def _tokens(text: str, kind: Kind, most: int) -> list[int]:
    """The first ones of a text."""
    ids: list[int] = encoded(f"{kind}: {text}").ids
    return ids if len(ids) <= most else [*ids[: most - 1], _END]


def _last_tokens(text: str, most: int) -> list[int]:
    """The last ones of a text after the first of all, which opens it."""
    ids: list[int] = encoded(f"query: {text}").ids
    return ids if len(ids) <= most else [ids[0], *ids[len(ids) - most + 1 :]]


def lower_states(ids: Sequence[int], threads: int) -> "NDArray[np.float32]":
    """What the lower layers of the embedding model make of tokens: a row for each, not to be
    written to. The last few are kept, since several upper layers read one text in turn."""
    return _lower_states(tuple(ids), threads)


@lru_cache(maxsize=8)
def _lower_states(ids: tuple[int, ...], threads: int) -> "NDArray[np.float32]":
    import numpy as np

    session, turn = model_session(LOWER_GRAPH, threads)
    with turn:
        states: NDArray[np.float32] = session.run(
            None, {"input_ids": np.array([ids], dtype=np.int64)}
        )[0]
    states.setflags(write=False)
    return states


def _key(passage: str) -> bytes:
    read_as = f"{MODEL}/{LOWER_GRAPH}/{MOST_PASSAGE_TOKENS}"
    return hashlib.sha256(f"{read_as}: {passage}".encode()).digest()


@cache
def shared_answer_reader() -> AnswerReader:
    """The process's own: passages that several parts of a desk read are read once, and once for
    all processes of this user."""
    try:
        kept = SqliteVectorCache(cache_folder() / STATES_FILE, most=_KEPT_BETWEEN_PROCESSES)
    except RuntimeError:  # a user without a home
        return AnswerReader()
    atexit.register(kept.close)
    return AnswerReader(cache=kept)
