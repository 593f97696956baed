"""Passwords are hashed a few at once, and only so many may wait for it."""

import asyncio
import threading

import pytest

from deskhand.adapters.stores import passwords
from deskhand.adapters.stores.passwords import MOST_WAITING, fits, hashed, is_outdated
from deskhand.errors import TooManyLogins
from tests.quick_passwords import REAL_COST


async def test_a_guess_costs_memory_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was hashed at less is read, and counts as outdated."""
    cheap = await hashed("right")
    for name, value in REAL_COST.items():
        monkeypatch.setattr(passwords, name, value)
    stored = await hashed("right")
    assert stored.startswith("$argon2id$v=19$m=32768,t=3,p=1$")
    for known in (cheap, stored):
        assert await fits("right", known)
        assert not await fits("wrong", known)
    assert (is_outdated(cheap), is_outdated(stored)) == (True, False)


async def test_so_many_passwords_wait_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of known devices are hashed all the same while strangers fill their queue."""
    stored = await hashed("right")
    may_go_on = threading.Event()
    at_once = passwords._fits_argon

    def slow_for_guesses(password: str, stored: str) -> bool:
        return may_go_on.wait(60) if password == "guess" else at_once(password, stored)

    monkeypatch.setattr(passwords, "_fits_argon", slow_for_guesses)
    waiting = [asyncio.ensure_future(fits("guess", stored)) for _ in range(MOST_WAITING)]
    await asyncio.sleep(0)
    try:
        with pytest.raises(TooManyLogins):
            await fits("guess", stored)
        with pytest.raises(TooManyLogins):
            await fits("guess", None)
        assert await fits("right", stored, is_known=True)
    finally:
        may_go_on.set()
    assert await asyncio.gather(*waiting) == [True] * MOST_WAITING
    assert not await fits("wrong", stored), "the queue is empty again"
