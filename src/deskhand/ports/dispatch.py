"""The engine's time, and which process works which runs."""

from typing import Protocol

from deskhand.model.message import Message
from deskhand.model.run import Accepted, RunStatus


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class Lease(Protocol):
    """Keeps two processes from serving one database."""

    async def acquire(self, seconds: float) -> None:
        """Raises AlreadyServed, with who it is and when that lease ends, while another owner's
        lease holds."""
        ...

    async def renew(self, seconds: float) -> None:
        """Fenced when the lease is somebody else's by now."""
        ...

    async def give_up(self) -> None: ...


class Dispatcher(Protocol):
    """Takes messages in and has each worked once, in order within its conversation."""

    async def start(self) -> None: ...

    async def submit(self, message: Message) -> Accepted: ...

    async def wait(self, run_id: str) -> RunStatus:
        """The run's status as soon as it is neither queued nor running."""
        ...

    async def stop(self, *, grace: float = 10.0) -> None: ...
