"""Identifiers that sort by the time they were made, so that rows written together lie together."""

import os
import time
from base64 import b32encode
from collections import deque

_ALPHABET = b"0123456789abcdefghjkmnpqrstvwxyz"
_OURS = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", _ALPHABET)
"""From the letters of base 32 to ours, whose order is that of the numbers."""
_PIECE, _POOL = 16, 4096

_pool: deque[bytes] = deque()


def random_bytes() -> bytes:
    """16 bytes from the system's generator, drawn in bulk: one call costs as much as a whole
    step otherwise."""
    try:
        return _pool.pop()
    except IndexError:
        drawn = os.urandom(_POOL)
        _pool.extend(drawn[start : start + _PIECE] for start in range(_PIECE, _POOL, _PIECE))
        return drawn[:_PIECE]


os.register_at_fork(after_in_child=_pool.clear)


def new_id(prefix: str, *, at: float | None = None) -> str:
    """`prefix_` and 20 characters: 48 bits of milliseconds, then 52 random bits."""
    milliseconds = int((time.time() if at is None else at) * 1000) & (1 << 48) - 1
    number = milliseconds << 52 | int.from_bytes(random_bytes()[:7]) >> 4
    letters = b32encode((number << 20).to_bytes(15))[:20].translate(_OURS)
    return f"{prefix}_{letters.decode()}"
