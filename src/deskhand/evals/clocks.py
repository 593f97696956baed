"""The time that a conversation in a sandbox lives in."""

import asyncio


class OwnTime:
    """Starts where it is set and passes only by sleeping, which takes no time unless somebody
    outside is waited for."""

    def __init__(self, at: float, *, waits: bool = False) -> None:
        self.at, self._waits = at, waits

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += max(seconds, 0.0)
        await asyncio.sleep(max(seconds, 0.0) if self._waits else 0)
