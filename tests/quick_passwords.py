"""Passwords are hashed quickly in the test process.

At its real cost each takes a tenth of a second of CPU, and hundreds of tests make an account and
log in. That nobody is spared the cost is a test of its own (`test_passwords.py`). Processes that
tests start hash at the real cost, also what they were given by a test.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from deskhand.adapters.stores import passwords

REAL_COST = {"_PASSES": passwords._PASSES, "_KIBIBYTES": passwords._KIBIBYTES}
_LEAST = {"_PASSES": 1, "_KIBIBYTES": 8}
"""What Argon2 takes at least."""


@contextmanager
def hash_quickly() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in _LEAST.items():
            patch.setattr(passwords, name, value)
        yield
