"""Passwords as they are stored: scrypt with a salt of their own, slow and heavy to guess."""

import asyncio
import hmac
import secrets
from concurrent.futures import ThreadPoolExecutor
from hashlib import scrypt

_LOG2_N, _R, _P = 15, 8, 3
"""32 MiB and about a tenth of a second for each guess."""
_MEMORY = 64 * 1024 * 1024
_SIZE = 32
_AT_WORK = ThreadPoolExecutor(2, thread_name_prefix="deskhand-password")
"""Many logins at once must not take the machine's memory."""


async def hashed(password: str) -> str:
    salt = secrets.token_bytes(16)
    digest = await _scrypt(password, salt, _LOG2_N, _R, _P)
    return _written(salt, digest)


def _written(salt: bytes, digest: bytes) -> str:
    return f"scrypt${_LOG2_N}${_R}${_P}${salt.hex()}${digest.hex()}"


async def fits(password: str, stored: str | None) -> bool:
    """Whether this is the password; takes as long where there is none to compare with."""
    nobodys = _written(bytes(16), bytes(_SIZE))
    _, log2_n, r, p, salt, digest = (stored or nobodys).split("$")
    made = await _scrypt(password, bytes.fromhex(salt), int(log2_n), int(r), int(p))
    return hmac.compare_digest(made, bytes.fromhex(digest)) and stored is not None


async def _scrypt(password: str, salt: bytes, log2_n: int, r: int, p: int) -> bytes:
    def run() -> bytes:
        return scrypt(
            password.encode(), salt=salt, n=2**log2_n, r=r, p=p, maxmem=_MEMORY, dklen=_SIZE
        )

    return await asyncio.get_running_loop().run_in_executor(_AT_WORK, run)
