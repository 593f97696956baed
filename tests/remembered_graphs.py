"""What the model's graphs computed is remembered between runs of the tests.

The golden mails are read again with every run, and computing what the graphs make of them took a
third of the CPU of such tests. An answer is found by the digest of the graph's file, of the
program that runs it and of all that it was given: whatever changes is computed anew. Processes
that tests start compute everything themselves.
"""

import hashlib
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from deskhand.language import embed
from deskhand.language.vector_cache import SqliteVectorCache
from deskhand.private_files import cache_folder

FILE = "graphs-of-tests.sqlite3"
REAL_LOAD = embed._load_session


class RememberingSession:
    """A graph that is loaded and run where its answer is not known yet."""

    def __init__(self, file: str, threads: int, answers: SqliteVectorCache) -> None:
        self._file = file
        self._threads = threads
        self._answers = answers

    def run(self, outputs: Sequence[str] | None, given: Mapping[str, Any]) -> list[Any]:
        key = self._key(outputs, given)
        known = self._answers.read([key]).get(key)
        if known is not None:
            return list(pickle.loads(known))
        answer = list(REAL_LOAD(self._file, self._threads).run(outputs, given))
        self._answers.write({key: pickle.dumps(answer)})
        return answer

    def _key(self, outputs: Sequence[str] | None, given: Mapping[str, Any]) -> bytes:
        digest = hashlib.sha256(_graph_digest(self._file))
        digest.update(repr(outputs).encode())
        for name, array in sorted(given.items()):
            digest.update(f"{name} {array.dtype} {array.shape} ".encode())
            digest.update(array.tobytes())
        return digest.digest()


@contextmanager
def remember_graphs() -> Iterator[None]:
    """For the tests of one process."""
    answers = SqliteVectorCache(cache_folder() / FILE)

    @cache
    def load(file: str, threads: int) -> RememberingSession:
        return RememberingSession(file, threads, answers)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embed, "_load_session", load)
        yield
    answers.close()


@cache
def _graph_digest(file: str) -> bytes:
    import onnxruntime

    graph = (embed.MODEL_FOLDER / file).read_bytes()
    return hashlib.sha256(onnxruntime.__version__.encode() + graph).digest()
