"""The calendar in the desk's database: what conversations hold, for every kind of calendar."""

import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.review_decisions import record_event
from deskhand.errors import Conflict, NotFound, SlotTaken
from deskhand.model.booking import ANOTHER, Booking, BookingState, NewBooking, Span

AT_ONCE = 3
"""Times that one person may hold without an answer, over all conversations."""

_STANDS = (BookingState.TENTATIVE, BookingState.CONFIRMED)
_BOOKINGS = (
    sa.select(t.bookings)
    .where(t.bookings.c.desk == sa.bindparam("desk"), t.bookings.c.ends_at > sa.bindparam("after"))
    .order_by(t.bookings.c.starts_at, t.bookings.c.key)
)
_BOOKINGS_OF_RUN = _BOOKINGS.where(t.bookings.c.run_id == sa.bindparam("of"))
"""Asked about every reply, so it is put together once."""


class DatabaseCalendar:
    """Whoever books waits for a turn in the database: no two ever book the same time."""

    def __init__(
        self, database: CoreDatabase, desk: str, now: Callable[[], float] = time.time
    ) -> None:
        self.desk = desk
        self._database, self._now = database, now

    async def busy(self, frame: Span, beside: Collection[str] = ()) -> list[Span]:
        query = sa.select(t.bookings).where(*self._standing(frame)).order_by(t.bookings.c.starts_at)
        if beside:
            query = query.where(
                sa.or_(t.bookings.c.uid.is_(None), t.bookings.c.uid.not_in(list(beside)))
            )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [_span(row) for row in rows]

    async def hold(self, new: NewBooking) -> Booking:
        def op(core: sa.Connection) -> Booking:
            self._take_turn(core)
            row = self._row(core, new.key)
            if row is not None and self._stands(row):
                return _booking(row)
            conversation = self._conversation(core, new.run_id)
            self._check_count(core, new, conversation)
            self._release_moved(core, new)
            self._check_free(core, new.span, new.key, conversation)
            self._release_earlier(core, conversation, new.key)
            self._write(core, new, conversation, row is not None)
            self._tell(core, new.run_id, "held", new.span)
            return self._booked(core, new.key)

        return await self._database.write_core(op)

    async def confirm(self, key: str) -> Booking:
        def op(core: sa.Connection) -> Booking:
            self._take_turn(core)
            row = self._existing(core, key)
            if row.state == BookingState.CONFIRMED:
                return _booking(row)
            if not self._stands(row):
                self._check_free(core, _span(row), key, row.conversation)
            self._set(core, key, BookingState.CONFIRMED, "")
            self._tell(core, row.run_id, "confirmed", _span(row))
            return self._booked(core, key)

        return await self._database.write_core(op)

    async def release(self, key: str, reason: str) -> Booking:
        def op(core: sa.Connection) -> Booking:
            self._take_turn(core)
            row = self._existing(core, key)
            if row.state != BookingState.RELEASED:
                self._release(core, row, reason)
            return self._booked(core, key)

        return await self._database.write_core(op)

    async def find(self, key: str) -> Booking | None:
        row = await self._database.read_core(lambda core: self._row(core, key))
        return None if row is None or not self._stands(row) else _booking(row)

    async def bookings(
        self, *, run_id: str | None = None, state: BookingState | None = None, after: float = 0.0
    ) -> list[Booking]:
        values = {"desk": self.desk, "after": after}
        if run_id is not None:
            rows = await self._database.look_up(_BOOKINGS_OF_RUN, {**values, "of": run_id})
            bookings = [_booking(row) for row in rows]
            return [booking for booking in bookings if state is None or booking.state == state]
        query = _BOOKINGS if state is None else _BOOKINGS.where(t.bookings.c.state == state)
        rows = await self._database.read_core(lambda core: core.execute(query, values).all())
        return [_booking(row) for row in rows]

    async def settle(self) -> int:
        overdue = sa.select(t.bookings).where(
            t.bookings.c.desk == self.desk,
            t.bookings.c.state == BookingState.TENTATIVE,
            t.bookings.c.expires_at <= self._now(),
        )
        if await self._database.read_core(lambda core: core.execute(overdue).first()) is None:
            return 0

        def op(core: sa.Connection) -> int:
            self._take_turn(core)
            rows = core.execute(overdue).all()
            for row in rows:
                self._release(core, row, "nobody decided in time")
            return len(rows)

        return await self._database.write_core(op)

    async def check(self) -> str:
        return "in the desk's own database"

    async def close(self) -> None:
        return

    # --- what calendars outside need to remember

    async def unwritten(self) -> list[Booking]:
        """Bookings that a calendar outside does not show as they are."""
        shown = sa.case((t.bookings.c.state == BookingState.RELEASED, ""), else_=t.bookings.c.state)
        matters = sa.or_(t.bookings.c.ends_at > self._now(), t.bookings.c.written != "")
        query = sa.select(t.bookings).where(
            t.bookings.c.desk == self.desk, t.bookings.c.written != shown, matters
        )
        return await self._database.read_core(
            lambda core: [_booking(row) for row in core.execute(query)]
        )

    async def wrote(self, key: str, state: str) -> None:
        """Remember what the calendar outside shows."""
        values = {"written": state}
        await self._database.write_core(
            lambda core: core.execute(
                t.bookings.update().where(*self._booking_of_key(key)).values(**values)
            ).close()
        )

    # --- one transaction

    def _take_turn(self, core: sa.Connection) -> None:
        """Until this transaction ends nobody else changes what the desk holds."""
        core.execute(
            sa.text(
                "INSERT INTO calendar_turns(desk, turn) VALUES (:desk, 1)"
                " ON CONFLICT (desk) DO UPDATE SET turn = calendar_turns.turn + 1"
            ),
            {"desk": self.desk},
        )

    def _check_free(self, core: sa.Connection, span: Span, key: str, conversation: str) -> None:
        """What the same conversation holds is not in its own way."""
        other = sa.or_(
            t.bookings.c.conversation != conversation, t.bookings.c.state == BookingState.CONFIRMED
        )
        query = sa.select(t.bookings.c.key).where(
            *self._standing(span), t.bookings.c.key != key, other
        )
        if core.execute(query.limit(1)).first() is not None:
            raise SlotTaken("this time is taken by now")

    def _check_count(self, core: sa.Connection, new: NewBooking, conversation: str) -> None:
        if new.holder is None:
            return
        mine = (
            t.bookings.c.desk == self.desk,
            t.bookings.c.holder == new.holder,
            t.bookings.c.state == BookingState.TENTATIVE,
            t.bookings.c.expires_at > self._now(),
            t.bookings.c.conversation != conversation,
        )
        if core.execute(sa.select(sa.func.count()).where(*mine)).scalar_one() >= AT_ONCE:
            raise Conflict(
                f"{AT_ONCE} times are held for this person already; one must be settled first"
            )

    def _release_earlier(self, core: sa.Connection, conversation: str, key: str) -> None:
        """Release what the conversation held before: it holds one time until that is settled."""
        query = sa.select(t.bookings).where(
            t.bookings.c.desk == self.desk,
            t.bookings.c.conversation == conversation,
            t.bookings.c.state == BookingState.TENTATIVE,
            t.bookings.c.key != key,
        )
        for row in core.execute(query).all():
            self._release(core, row, ANOTHER)

    def _release_moved(self, core: sa.Connection, new: NewBooking) -> None:
        """Release what an earlier version of the invitation held: only the newest counts."""
        if new.uid is None or new.holder is None:
            return
        query = sa.select(t.bookings).where(
            t.bookings.c.desk == self.desk,
            t.bookings.c.uid == new.uid,
            t.bookings.c.holder == new.holder,
            t.bookings.c.state.in_(_STANDS),
            t.bookings.c.key != new.key,
        )
        for row in core.execute(query).all():
            self._release(core, row, ANOTHER)

    def _release(self, core: sa.Connection, row: sa.Row[Any], reason: str) -> None:
        self._set(core, row.key, BookingState.RELEASED, reason)
        self._tell(core, row.run_id, "released", _span(row), reason)

    def _write(self, core: sa.Connection, new: NewBooking, conversation: str, exists: bool) -> None:
        now = self._now()
        values = {
            "run_id": new.run_id,
            "conversation": conversation,
            "holder": new.holder,
            "starts_at": new.span.start.timestamp(),
            "ends_at": new.span.end.timestamp(),
            "state": BookingState.TENTATIVE,
            "expires_at": new.expires_at,
            "reason": "",
            "updated_at": now,
            "uid": new.uid,
        }
        if exists:
            core.execute(t.bookings.update().where(*self._booking_of_key(new.key)).values(**values))
        else:
            fresh = {"desk": self.desk, "key": new.key, "written": "", "created_at": now}
            core.execute(t.bookings.insert().values(**values, **fresh))

    def _set(self, core: sa.Connection, key: str, state: BookingState, reason: str) -> None:
        values: dict[str, Any] = {
            "state": state,
            "reason": reason,
            "updated_at": self._now(),
            "expires_at": None,
        }
        core.execute(t.bookings.update().where(*self._booking_of_key(key)).values(**values))

    def _tell(
        self, core: sa.Connection, run_id: str, what: str, span: Span, reason: str = ""
    ) -> None:
        payload = {"start": span.start.isoformat(), "end": span.end.isoformat(), "reason": reason}
        record_event(core, self.desk, f"booking.{what}", run_id, "calendar", payload, self._now())

    def _conversation(self, core: sa.Connection, run_id: str) -> str:
        query = sa.select(t.runs.c.conversation).where(
            t.runs.c.id == run_id, t.runs.c.desk == self.desk
        )
        return core.execute(query).scalar() or f"run:{run_id}"

    def _standing(self, frame: Span) -> tuple[sa.ColumnElement[bool], ...]:
        return (
            t.bookings.c.desk == self.desk,
            t.bookings.c.starts_at < frame.end.timestamp(),
            t.bookings.c.ends_at > frame.start.timestamp(),
            t.bookings.c.state.in_(_STANDS),
            sa.or_(t.bookings.c.expires_at.is_(None), t.bookings.c.expires_at > self._now()),
        )

    def _stands(self, row: sa.Row[Any]) -> bool:
        return row.state in _STANDS and (row.expires_at is None or row.expires_at > self._now())

    def _booking_of_key(self, key: str) -> tuple[sa.ColumnElement[bool], ...]:
        return (t.bookings.c.desk == self.desk, t.bookings.c.key == key)

    def _row(self, core: sa.Connection, key: str) -> sa.Row[Any] | None:
        return core.execute(sa.select(t.bookings).where(*self._booking_of_key(key))).one_or_none()

    def _existing(self, core: sa.Connection, key: str) -> sa.Row[Any]:
        row = self._row(core, key)
        if row is None:
            raise NotFound(f"nothing is held under {key} on desk {self.desk}")
        return row

    def _booked(self, core: sa.Connection, key: str) -> Booking:
        return _booking(self._existing(core, key))


def _span(row: sa.Row[Any]) -> Span:
    return Span(
        datetime.fromtimestamp(row.starts_at, UTC), datetime.fromtimestamp(row.ends_at, UTC)
    )


def _booking(row: sa.Row[Any]) -> Booking:
    return Booking(
        key=row.key,
        run_id=row.run_id,
        conversation=row.conversation,
        span=_span(row),
        holder=row.holder,
        state=BookingState(row.state),
        expires_at=row.expires_at,
        reason=row.reason,
        written=row.written,
        uid=row.uid,
    )
