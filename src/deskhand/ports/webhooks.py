"""What admins do with webhooks: name addresses, exchange secrets, look at deliveries."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from deskhand.model.webhook import Attempt, Delivery, Endpoint


class Webhooks(Protocol):
    """The addresses that are told of events. NotFound where there is no such one; Conflict for
    what stands in a desk.yaml, which is changed there."""

    async def add(
        self,
        url: str,
        events: Iterable[str],
        desks: Iterable[str],
        by: str,
        *,
        content: bool = False,
    ) -> tuple[Endpoint, str]:
        """A new address and its secret, readable only now; ConfigError says what to write
        instead."""
        ...

    async def list(self) -> Sequence[Endpoint]: ...

    async def find(self, endpoint_id: str) -> Endpoint: ...

    async def rotate(self, endpoint_id: str) -> tuple[Endpoint, str]:
        """The next secret, readable only now."""
        ...

    async def disable(self, endpoint_id: str) -> Endpoint: ...

    async def enable(self, endpoint_id: str) -> Endpoint: ...

    async def remove(self, endpoint_id: str) -> Endpoint: ...

    async def deliveries(
        self, endpoint_id: str, *, limit: int = 100, before: float | None = None
    ) -> Sequence[Delivery]:
        """Lists deliveries, the newest first."""
        ...

    async def retry(self, endpoint_id: str, event_id: str) -> Delivery:
        """Send an event again, under the same id."""
        ...


class TriesWebhook(Protocol):
    """Sends a test event at once."""

    async def __call__(self, endpoint_id: str, desk: str) -> Attempt: ...
