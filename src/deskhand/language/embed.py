"""Texts to vectors in one space for all languages in Latin, Cyrillic, Greek or Thai script:
multilingual E5, 8 bits.

What is embedded of a long mail: the first 190 and the last 60 tokens of its words, so that one
vector costs at most about a fifth of a second on one core. The first lines of a mail say what it is
about and the last ones ask for something; what lies between is mostly history. (Reading all 512
tokens the model can take would cost more than twice as much and blur the vector.) See
docs/decisions/0011-embedded-brain.md.
"""

import atexit
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from deskhand.language.clean_text import clean, has_words
from deskhand.language.vector_cache import SqliteVectorCache, VectorCache
from deskhand.private_files import cache_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

    Vectors = NDArray[np.float32]

Kind = Literal["query", "passage"]
Progress = Callable[[int, int], None]
"""Told how many of how many texts are done."""

MODEL = "multilingual-e5-small-int8"
DIMENSIONS = 384
MAX_TOKENS = 256
THREADS_VARIABLE = "DESKHAND_EMBED_THREADS"
VECTORS_FILE = "embeddings.sqlite3"

MODEL_FOLDER = Path(__file__).parent / "models" / MODEL
_UNKNOWN = 3
_PREFIX = len("query: ")
_BATCH_TEXTS = 256
"""Texts that are tokenized, computed and stored before progress is told again."""


class Embedder:
    """Turns texts into unit vectors. All embedders of a process share one model, loaded when
    first needed."""

    def __init__(
        self,
        *,
        max_tokens: int = MAX_TOKENS,
        threads: int | None = None,
        remembered: int = 8192,
        cache: VectorCache | None = None,
        keeps_all: bool = True,
    ) -> None:
        """`cache` holds vectors between processes: all of them, or only those of texts that
        `embed` is asked to keep."""
        if not 16 <= max_tokens <= 512:
            raise ValueError("the model reads 16 to 512 tokens")
        self.max_tokens = max_tokens
        self._threads = threads if threads is not None else default_threads()
        self._remembered = remembered
        self._memory: OrderedDict[bytes, Vectors] = OrderedDict()
        self._memory_lock = threading.Lock()
        self._cache = cache
        self._keeps_all = keeps_all

    def embed(
        self,
        texts: Sequence[str],
        kind: Kind = "query",
        progress: Progress | None = None,
        *,
        keep: bool = False,
    ) -> "Vectors":
        """One row of unit length per text. A text without any letter or digit gives zeros: it is
        like nothing.

        `query` is for questions and for comparing like with like, `passage` for stored texts that
        questions search. `keep` is for the desk's own texts, such as articles: their vectors are
        read from the cache and kept there. What customers wrote is never kept.
        """
        import numpy as np

        cache = self._cache if keep or self._keeps_all else None

        cleaned = [clean(text) for text in texts]
        keys = [self._key(text, kind) for text in cleaned]
        nothing = np.zeros(DIMENSIONS, dtype=np.float32)
        texts_by_key = dict(zip(keys, cleaned, strict=True))
        vectors = {key: nothing for key, text in texts_by_key.items() if not has_words(text)}
        vectors |= self._recall((key for key in texts_by_key if key not in vectors), cache)
        missing = {key: text for key, text in texts_by_key.items() if key not in vectors}
        if progress is not None:
            progress(len(texts) - len(missing), len(texts))
        for portion in _portions(list(missing.items()), _BATCH_TEXTS):
            computed = self._compute([text for _, text in portion], kind)
            fresh = dict(zip((key for key, _ in portion), computed, strict=True))
            self._remember(fresh, cache)
            vectors |= fresh
            if progress is not None:
                progress(sum(key in vectors for key in keys), len(texts))
        if not keys:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        return np.stack([vectors[key] for key in keys])

    def unknown_share(self, text: str) -> float:
        """How much of a text the model cannot read (0 to 1): other scripts are one unknown piece
        a word."""
        prefixed = f"query: {clean(text)}"
        encoding = encoded(prefixed)
        if _UNKNOWN not in encoding.ids:
            return 0.0 if has_words(prefixed[_PREFIX:]) else 1.0
        total = unknown = 0
        for piece, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            letters = sum(character.isalnum() for character in prefixed[max(start, _PREFIX) : end])
            total += letters
            unknown += letters if piece == _UNKNOWN else 0
        return unknown / total if total else 1.0

    # --- what was computed before

    def key(self, text: str, kind: Kind = "query") -> bytes:
        """What a text's vector is kept under."""
        return self._key(clean(text), kind)

    def _key(self, text: str, kind: Kind) -> bytes:
        return hashlib.sha256(f"{MODEL}/{self.max_tokens}/{kind}: {text}".encode()).digest()

    def _recall(self, keys: Iterator[bytes], cache: VectorCache | None) -> "dict[bytes, Vectors]":
        import numpy as np

        vectors: dict[bytes, Vectors] = {}
        missing: list[bytes] = []
        with self._memory_lock:
            for key in keys:
                if key in self._memory:
                    self._memory.move_to_end(key)
                    vectors[key] = self._memory[key]
                else:
                    missing.append(key)
        if cache is not None and missing:
            stored = cache.read(missing)
            size = DIMENSIONS * 4
            read = {
                key: np.frombuffer(raw, dtype="<f4")
                for key, raw in stored.items()
                if len(raw) == size
            }
            self._keep(read)
            vectors |= read
        return vectors

    def _remember(self, vectors: "dict[bytes, Vectors]", cache: VectorCache | None) -> None:
        self._keep(vectors)
        if cache is not None:
            cache.write({key: vector.astype("<f4").tobytes() for key, vector in vectors.items()})

    def _keep(self, vectors: "dict[bytes, Vectors]") -> None:
        with self._memory_lock:
            self._memory.update(vectors)
            while len(self._memory) > self._remembered:
                self._memory.popitem(last=False)

    # --- computing

    def _compute(self, texts: list[str], kind: Kind) -> "Vectors":
        import numpy as np

        prefixed = [f"{kind}: {text}" for text in texts]
        encodings = (
            tokenizer().encode_batch(prefixed) if len(prefixed) > 1 else [encoded(prefixed[0])]
        )
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        session, turn = model_session("model.onnx", self._threads)
        for row, encoding in enumerate(encodings):
            # one by one: how a vector is rounded depends on what is computed together
            ids = np.array([self._cut(encoding.ids)], dtype=np.int64)
            with turn:
                vectors[row] = session.run(["emb"], {"input_ids": ids})[0][0]
        return vectors

    def _cut(self, ids: list[int]) -> list[int]:
        """At most `max_tokens`: the beginning (with prefix), and a quarter of the room for the
        end."""
        if len(ids) <= self.max_tokens:
            return ids
        tail = self.max_tokens // 4
        return ids[: self.max_tokens - tail] + ids[-tail:]


@cache
def shared_embedder() -> Embedder:
    """The process's own: a text that several parts of a desk read is computed once, and the
    desk's own texts once for all processes of this user."""
    try:
        kept = SqliteVectorCache(cache_folder() / VECTORS_FILE)
    except RuntimeError:  # a user without a home
        return Embedder()
    atexit.register(kept.close)
    return Embedder(cache=kept, keeps_all=False)


def default_threads() -> int:
    """`DESKHAND_EMBED_THREADS`, else two: a short text gains little from more."""
    wanted = os.environ.get(THREADS_VARIABLE, "")
    cores = os.cpu_count() or 1
    return max(1, min(int(wanted), cores)) if wanted.isdecimal() else min(2, cores)


def _portions(items: list[tuple[bytes, str]], size: int) -> Iterator[list[tuple[bytes, str]]]:
    """Longest texts last, whole portions of similar length."""
    ordered = sorted(items, key=lambda item: len(item[1]))
    return (ordered[start : start + size] for start in range(0, len(ordered), size))


_loading = threading.Lock()


def tokenizer() -> "Tokenizer":
    """The model's own, which neither cuts nor pads."""
    with _loading:
        return _load_tokenizer()


@cache
def _load_tokenizer() -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(MODEL_FOLDER / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@lru_cache(maxsize=16)
def encoded(text: str) -> "Encoding":
    """One text's pieces; whoever asks whether it can be read asks for its vector next.

    Asked for as a batch: for a single text the tokenizer holds up all other threads.
    """
    return tokenizer().encode_batch([text])[0]


def model_session(file: str, threads: int) -> tuple[Any, threading.BoundedSemaphore]:
    """A graph of the model's folder, loaded once, and the turn for which its runs wait."""
    with _loading:
        return _load_session(file, threads), _turns(threads)


@cache
def _turns(threads: int) -> threading.BoundedSemaphore:
    """Lets as many runs go on at once as there are cores for, whichever graphs they are of: more
    would take the cores from those who wait for a page."""
    return threading.BoundedSemaphore(max(1, (os.cpu_count() or 1) // threads))


@cache
def _load_session(file: str, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # idle threads leave the core to others
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(
        str(MODEL_FOLDER / file), options, providers=["CPUExecutionProvider"]
    )
    return session
