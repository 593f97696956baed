"""Named places where a test may kill the process, to prove that nothing is lost or done twice."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass

CRASH_POINTS: tuple[str, ...] = (
    "dispatch.before_accept",
    "dispatch.after_accept",
    "dispatch.after_claim",
    "dispatch.before_finish",
    "dispatch.after_finish",
    "loop.before_work",
    "loop.after_work",
    "loop.after_row",
    "journal.before_commit",
    "journal.after_commit",
    "effect.before_intend",
    "totals.after_count",
    "effect.after_intend",
    "effect.after_perform",
    "effect.after_settle",
)
"""Passed by every run that has effects."""
APPROVAL_POINTS: tuple[str, ...] = (
    "review.before_commit",
    "review.after_commit",
    "mail.before_data",
    "mail.after_mark",
    "mail.after_data",
    "mail.after_yes",
)
"""Passed where a person decides and where a mail leaves: marked as leaving, the last line of it
said, and the server's yes heard."""
TICKET_POINTS: tuple[str, ...] = (
    "tickets.before_change",
    "tickets.after_change",
    "tickets.after_checkpoint",
    "tickets.before_clear",
    "tickets.after_clear",
)
"""Passed where a ticket changes: its events committed, its checkpoint in the active store, and
there cleared again."""
WEBHOOK_POINTS: tuple[str, ...] = (
    "webhooks.after_pass_on",
    "webhooks.after_take",
    "webhooks.after_post",
)
"""Passed where an event becomes deliveries, and where one is posted and not yet written down."""
_POINTS = frozenset((*CRASH_POINTS, *APPROVAL_POINTS, *TICKET_POINTS, *WEBHOOK_POINTS))

VARIABLE = "DESKHAND_CRASH_AT"
"""`name` or `name:n`: the process kills itself at the n-th passage of that point."""


class Crash(BaseException):
    """Raised by an armed point to abandon the engine as a killed process would; nothing may
    catch and go on."""


@dataclass(slots=True)
class _Armed:
    action: Callable[[], object]
    passages_left: int


_armed: dict[str, _Armed] | None = None


def crash_point(name: str) -> None:
    """Do nothing, unless a test armed this point."""
    if _armed is not None:
        _pass(name)


def arm(name: str, action: Callable[[], object], after: int = 1) -> None:
    """Run `action` once, at the `after`-th passage of the point from now on."""
    global _armed
    _check(name)
    if after < 1:
        raise ValueError(f"{name}: passages are counted from 1, not {after}")
    _armed = {**(_armed or {}), name: _Armed(action, after)}


def disarm() -> None:
    """Forget every armed point."""
    global _armed
    _armed = None


def arm_from(setting: str) -> None:
    """Arm SIGKILL as the environment variable says it."""
    name, _, count = setting.partition(":")
    if count and not count.isdecimal():
        raise ValueError(f"{VARIABLE}={setting}: write `name` or `name:n`")
    arm(name, _kill_self, int(count or 1))


def _pass(name: str) -> None:
    _check(name)
    armed = (_armed or {}).get(name)
    if armed is None or armed.passages_left == 0:
        return
    armed.passages_left -= 1
    if armed.passages_left == 0:
        armed.action()


def _check(name: str) -> None:
    if name not in _POINTS:
        raise ValueError(
            f"{name!r} is not a crash point; declare it in CRASH_POINTS"
            f" ({', '.join(sorted(_POINTS))})"
        )


def _kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if setting := os.environ.get(VARIABLE):
    arm_from(setting)
