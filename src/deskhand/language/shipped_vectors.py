"""Vectors of the shipped desks' own examples and questions, computed beforehand.

A desk of 7,000 questions takes minutes of a core to read, and they are the same for everybody.
`scripts/learn_desks.py --ship` writes the file; an example that is newer than it is computed as any
other text.
"""

import threading
import zipfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.language.vector_cache import VectorCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE = Path(__file__).parent / "models" / "shipped_vectors.npz"
DIGEST = 8
"""Bytes of a text's key that name its vector."""


class ShippedFirst:
    """A cache that looks into the package before it asks another one, and writes to that alone."""

    def __init__(self, other: VectorCache) -> None:
        self._other = other

    def read(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        wanted = list(keys)
        vectors = read_shipped(wanted)
        missing = [key for key in wanted if key not in vectors]
        return vectors | self._other.read(missing) if missing else vectors

    def write(self, vectors: Mapping[bytes, bytes]) -> None:
        self._other.write(vectors)


def read_shipped(keys: Iterable[bytes]) -> dict[bytes, bytes]:
    """The vectors that the package has for these keys, as a cache gives them."""
    rows, vectors = _shipped()
    read: dict[bytes, bytes] = {}
    for key in keys:
        row = rows.get(key[:DIGEST])
        if row is not None:
            read[key] = vectors[row].astype("<f4").tobytes()
    return read


def write_shipped(vectors: Mapping[bytes, "NDArray[np.float32]"], file: Path = FILE) -> None:
    """Write the file anew, half as exact as vectors are computed: that is enough."""
    import numpy as np

    keys = sorted(vectors)
    digests = np.frombuffer(b"".join(key[:DIGEST] for key in keys), dtype=np.uint8)
    rows = np.stack([vectors[key].astype(np.float16) for key in keys])
    np.savez(file, allow_pickle=False, digests=digests.reshape(-1, DIGEST), vectors=rows)


_loading = threading.Lock()


def _shipped() -> "tuple[dict[bytes, int], NDArray[np.float16]]":
    with _loading:
        return _loaded()


@cache
def _loaded() -> "tuple[dict[bytes, int], NDArray[np.float16]]":
    """Each digest's row, and the rows; nothing where the file is missing or damaged, which costs
    time alone."""
    import numpy as np

    try:
        with FILE.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
            digests, vectors = archive["digests"], archive["vectors"]
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        return {}, np.zeros((0, 0), dtype=np.float16)
    return {digest.tobytes(): row for row, digest in enumerate(digests)}, vectors
