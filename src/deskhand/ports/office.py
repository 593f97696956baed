"""A company's contacts and calendar."""

from collections.abc import Collection, Sequence
from typing import Literal, Protocol

from deskhand.model.booking import Booking, BookingState, NewBooking, Span
from deskhand.model.contact import Contact, ContactEntry

ContactChange = Literal["added", "changed", "unchanged"]


class Contacts(Protocol):
    """The people one desk knows: grown from its mail, and told by files and colleagues."""

    desk: str

    async def find(self, address: str) -> Contact | None: ...

    async def known(self, address: str) -> Contact | None:
        """What people wrote down about this address, without looking at its mail: quick enough
        for every call."""
        ...

    async def seen(self, address: str) -> Contact:
        """What people wrote down about this address, and what its mail shows; somebody unknown is
        a contact without messages."""
        ...

    async def of_customer(self, customer_id: str) -> Sequence[Contact]:
        """Everybody whom people wrote down as this customer, by address."""
        ...

    async def list(
        self,
        *,
        tag: str | None = None,
        tier: str | None = None,
        search: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> Sequence[Contact]:
        """By address, from the one after `after` on."""
        ...

    async def put(self, entries: Sequence[ContactEntry], by: str) -> Sequence[ContactChange]:
        """Add what is said to what is known, all of it or nothing; saying the same again changes
        nothing."""
        ...

    async def note(self, address: str, text: str, by: str) -> Contact: ...

    async def tag(
        self, address: str, add: Sequence[str], remove: Sequence[str] = ()
    ) -> Contact: ...

    async def set_tier(self, address: str, tier: str | None) -> Contact: ...


class Calendar(Protocol):
    """When the company is busy, and which times conversations hold: when, never what."""

    async def busy(self, frame: Span, beside: Collection[str] = ()) -> list[Span]:
        """What is taken in this time: events of people but for those with these uids, and what
        conversations hold."""
        ...

    async def hold(self, new: NewBooking) -> Booking:
        """Take a time for a conversation, in place of what it held; the same key again is the same
        booking.

        SlotTaken when something else is there by now.
        """
        ...

    async def confirm(self, key: str) -> Booking:
        """Make what is held the customer's; SlotTaken when it had expired and somebody else has
        it by now."""
        ...

    async def release(self, key: str, reason: str) -> Booking: ...

    async def find(self, key: str) -> Booking | None:
        """What is held under this key, as far as the calendar outside shows it too."""
        ...

    async def bookings(
        self, *, run_id: str | None = None, state: BookingState | None = None, after: float = 0.0
    ) -> list[Booking]:
        """Those that end after a moment, in order of time."""
        ...

    async def settle(self) -> int:
        """Release what expired, and write outside what could not be written before; returns how
        many that were."""
        ...

    async def check(self) -> str:
        """Connect and look, changing nothing: what was found, in words; raises what is wrong."""
        ...

    async def close(self) -> None: ...
