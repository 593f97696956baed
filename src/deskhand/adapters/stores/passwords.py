"""Passwords as they are stored: Argon2id with a salt of their own, slow and heavy to guess.

Those of earlier versions are scrypt; they are read, and exchanged when their owner logs in.
"""

import asyncio
import hmac
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import scrypt
from typing import TYPE_CHECKING, TypeVar

from deskhand.errors import TooManyLogins

if TYPE_CHECKING:
    from argon2 import PasswordHasher

T = TypeVar("T")

_PASSES, _KIBIBYTES, _LANES = 3, 32 * 1024, 1
"""32 MiB and about a tenth of a second for each guess."""
_SCRYPT_MEMORY = 64 * 1024 * 1024
_SIZE = 32
_ARGON = "$argon2id$"
MOST_WAITING = 16
"""Passwords that may wait to be looked at."""


class _Lane:
    """Threads that hash, a few at once: many logins must not take the machine's memory."""

    def __init__(self, name: str) -> None:
        self._threads = ThreadPoolExecutor(2, thread_name_prefix=f"deskhand-{name}")
        self._waiting = 0

    async def work(self, work: Callable[[], T]) -> T:
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
    return await _KNOWN.work(lambda: _hasher().hash(password))


def is_outdated(stored: str) -> bool:
    """Whether a password is stored as we would not store it today."""
    return not stored.startswith(_ARGON) or _hasher().check_needs_rehash(stored)


async def fits(password: str, stored: str | None, *, is_known: bool = False) -> bool:
    """Whether this is the password; takes as long where there is none to compare with.

    `is_known` says that the device has been logged in with before. TooManyLogins where too many
    passwords wait.
    """
    lane = _KNOWN if is_known else _STRANGERS
    if stored is None:
        await lane.work(lambda: _hasher().hash(password))
        return False
    if not stored.startswith(_ARGON):
        return await lane.work(lambda: _fits_scrypt(password, stored))
    return await lane.work(lambda: _fits_argon(password, stored))


def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher(_PASSES, _KIBIBYTES, _LANES, hash_len=_SIZE)


def _fits_argon(password: str, stored: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return _hasher().verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False


def _fits_scrypt(password: str, stored: str) -> bool:
    """Whether it is the password that an earlier version stored as `scrypt$15$8$3$SALT$DIGEST`."""
    _, log2_n, r, p, salt, digest = stored.split("$")
    made = scrypt(
        password.encode(),
        salt=bytes.fromhex(salt),
        n=2 ** int(log2_n),
        r=int(r),
        p=int(p),
        maxmem=_SCRYPT_MEMORY,
        dklen=_SIZE,
    )
    return hmac.compare_digest(made, bytes.fromhex(digest))
