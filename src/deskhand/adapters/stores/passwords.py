"""Passwords as they are stored: scrypt with a salt of their own, slow and heavy to guess."""

import asyncio
import hmac
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import scrypt

from deskhand.errors import TooManyLogins

_LOG2_N, _R, _P = 15, 8, 3
"""32 MiB and about a tenth of a second for each guess."""
_MEMORY = 64 * 1024 * 1024
_SIZE = 32
MOST_WAITING = 16
"""Passwords that may wait to be looked at."""


class _Lane:
    """Threads that hash, a few at once: many logins must not take the machine's memory."""

    def __init__(self, name: str) -> None:
        self._threads = ThreadPoolExecutor(2, thread_name_prefix=f"deskhand-{name}")
        self._waiting = 0

    async def hash(self, work: Callable[[], bytes]) -> bytes:
        """TooManyLogins where too many wait already."""
        if self._waiting >= MOST_WAITING:
            raise TooManyLogins("too many people log in at once; try again in a moment")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1


_STRANGERS, _KNOWN = _Lane("password"), _Lane("known-password")
"""Who logs in with a known device does not queue behind those who guess."""


async def hashed(password: str) -> str:
    salt = secrets.token_bytes(16)
    digest = await _scrypt(_KNOWN, password, salt, _LOG2_N, _R, _P)
    return _written(salt, digest)


def _written(salt: bytes, digest: bytes) -> str:
    return f"scrypt${_LOG2_N}${_R}${_P}${salt.hex()}${digest.hex()}"


async def fits(password: str, stored: str | None, *, is_known: bool = False) -> bool:
    """Whether this is the password; takes as long where there is none to compare with.

    `is_known` says that the device has been logged in with before. TooManyLogins where too many
    passwords wait.
    """
    lane = _KNOWN if is_known else _STRANGERS
    nobodys = _written(bytes(16), bytes(_SIZE))
    _, log2_n, r, p, salt, digest = (stored or nobodys).split("$")
    made = await _scrypt(lane, password, bytes.fromhex(salt), int(log2_n), int(r), int(p))
    return hmac.compare_digest(made, bytes.fromhex(digest)) and stored is not None


async def _scrypt(lane: _Lane, password: str, salt: bytes, log2_n: int, r: int, p: int) -> bytes:
    def run() -> bytes:
        return scrypt(
            password.encode(), salt=salt, n=2**log2_n, r=r, p=p, maxmem=_MEMORY, dklen=_SIZE
        )

    return await lane.hash(run)
