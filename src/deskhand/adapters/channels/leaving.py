"""Whether a mail has left whose sending broke off, and what proves it."""

import time
from collections.abc import Callable

from deskhand.adapters.stores.channels import SqlChannelStore
from deskhand.errors import StoreUnavailable, ToolError


class LeavingMail:
    """One channel's notes about mails on their way out.

    A mail is noted right before the byte that makes the server take it. One without a note has not
    left and may be sent again. One with a note may have left: only its copy tells.
    """

    def __init__(
        self,
        memory: SqlChannelStore,
        server: str,
        copy_within: float,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`copy_within` is how many seconds a copy takes at most; 0 where none ever arrives."""
        self._memory, self._server, self._copy_within = memory, server, copy_within
        self._now, self._began = now, now()

    async def leaves(self, key: str) -> None:
        """Note that the mail is about to leave; ToolError or Fenced when it must not."""
        try:
            await self._memory.leaving(key)
        except StoreUnavailable as error:
            words = f"it was not sent, because that could not be noted: {error}"
            raise ToolError("not_noted", words) from error

    async def may_have_left(self, key: str) -> bool:
        """Whether an earlier process may have sent this mail without a note of it here.

        A database that was restored from a backup does not know what has left since.
        """
        accepted_at = await self._memory.accepted_at(key.partition(".")[0])
        return accepted_at is not None and accepted_at < self._began

    async def stays(self, key: str) -> None:
        """The server has refused the mail, so it has not left."""
        await self._memory.stayed(key)

    async def check_stayed(self, key: str, looked_at: float) -> None:
        """Return where a mail has certainly not left whose copy was missing at `looked_at`.

        Raises ToolError otherwise: recoverable as long as its copy may still arrive.
        """
        leaving_at = await self._memory.leaving_at(key)
        if leaving_at is None:
            return
        is_late = looked_at >= leaving_at + self._copy_within
        if not is_late:
            words = f"{self._server} may have taken it; its copy may still arrive"
            raise ToolError("not_known_yet", words)
        if not self._copy_within:
            words = f"{self._server} may have taken it, and no copy would show it"
        else:
            words = f"{self._server} may have taken it, and no copy of it has arrived"
        raise ToolError("no_copy", words, recoverable=False)

    def now(self) -> float:
        return self._now()
