"""What tests started and what must be gone when the run ends.

`atexit` is not enough: a worker of xdist is killed ten seconds after its last test, and a server
whose folder holds gigabytes needs longer than that to go.
"""

import atexit
import contextlib
from collections.abc import Callable

_pending = contextlib.ExitStack()


def at_end(remove: Callable[[], object]) -> None:
    """Calls `remove` once, when the tests are over or, outside of tests, when the process ends."""
    _pending.callback(remove)


def remove_everything() -> None:
    _pending.close()


atexit.register(remove_everything)
