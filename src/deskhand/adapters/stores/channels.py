"""What a channel remembers: how far it has read, where each run's mail lies, and which process
reads it."""

import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import sqlalchemy as sa

from deskhand.adapters.stores import leases
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.leaving_mails import key_of, ledger_row, mark_leaving
from deskhand.adapters.stores.review_decisions import note_copy
from deskhand.adapters.stores.rows import RUN_COLUMNS, pack, run_of, unpack
from deskhand.errors import Fenced
from deskhand.model.message import DELIVER
from deskhand.model.run import EffectKey, ReviewKind, ReviewState, Run, RunStatus

Mark = dict[str, Any]


class Arrival(NamedTuple):
    """A mail's place on its channel (folder and number, id or path) and the run it gave."""

    place: str
    run_id: str


class Unshown(NamedTuple):
    """A mail whose run stands elsewhere than the mailbox shows."""

    place: str
    status: RunStatus


class SqlChannelStore:
    """One channel's part of a desk's memory, and its lease: one process reads a channel."""

    def __init__(
        self,
        database: CoreDatabase,
        desk: str,
        channel: str,
        owner: str,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.desk, self.channel, self.owner = desk, channel, owner
        self._database, self._now = database, now
        self._here = (t.channel_marks.c.desk == desk, t.channel_marks.c.channel == channel)
        self._arrived = (t.arrivals.c.desk == desk, t.arrivals.c.channel == channel)

    # --- how far it has read

    async def mark(self, name: str) -> Mark | None:
        query = sa.select(t.channel_marks.c.mark).where(*self._here, t.channel_marks.c.name == name)
        body = await self._database.read_core(lambda core: core.execute(query).scalar())
        return None if body is None else unpack(body)

    async def advance(self, name: str, mark: Mark, arrivals: Sequence[Arrival] = ()) -> None:
        """Remember a place in the mailbox together with what was handed in on the way there."""

        def op(core: sa.Connection) -> None:
            self._note(core, arrivals)
            values = {"mark": pack(mark), "at": self._now()}
            updated = core.execute(
                t.channel_marks.update()
                .where(*self._here, t.channel_marks.c.name == name)
                .values(**values)
            )
            if updated.rowcount == 0:
                core.execute(
                    t.channel_marks.insert().values(
                        desk=self.desk, channel=self.channel, name=name, **values
                    )
                )

        await self._database.write_core(op)

    async def arrived(self, arrivals: Sequence[Arrival]) -> None:
        """Remember where these runs' mails lie, without having read further."""
        await self._database.write_core(lambda core: self._note(core, arrivals))

    def _note(self, core: sa.Connection, arrivals: Sequence[Arrival]) -> None:
        places = [arrival.place for arrival in arrivals]
        if not places:
            return
        noted_places = set(
            core.execute(
                sa.select(t.arrivals.c.place).where(*self._arrived, t.arrivals.c.place.in_(places))
            ).scalars()
        )
        runs = sa.select(t.runs.c.id, t.runs.c.position).where(
            t.runs.c.id.in_({arrival.run_id for arrival in arrivals})
        )
        positions = {row.id: row.position for row in core.execute(runs)}
        fresh = {
            arrival.place: arrival for arrival in arrivals if arrival.place not in noted_places
        }
        rows = [
            {
                "desk": self.desk,
                "channel": self.channel,
                "place": place,
                "run": positions[arrival.run_id],
                "shown": "",
            }
            for place, arrival in fresh.items()
        ]
        if rows:
            core.execute(t.arrivals.insert(), rows)

    # --- what the mailbox shows

    async def unshown(self, limit: int = 200) -> list[Unshown]:
        """Mails whose runs came to rest, or moved on, since the mailbox was told."""
        query = (
            sa.select(t.arrivals.c.place, t.runs.c.status)
            .join(t.runs, t.runs.c.position == t.arrivals.c.run)
            .where(
                *self._arrived,
                t.runs.c.status != t.arrivals.c.shown,
                t.runs.c.status.not_in((RunStatus.QUEUED, RunStatus.RUNNING)),
            )
            .limit(limit)
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [Unshown(row.place, RunStatus(row.status)) for row in rows]

    async def shown(self, mails: Sequence[Unshown]) -> None:
        def op(core: sa.Connection) -> None:
            for mail in mails:
                core.execute(
                    t.arrivals.update()
                    .where(*self._arrived, t.arrivals.c.place == mail.place)
                    .values(shown=mail.status)
                )

        await self._database.write_core(op)

    # --- whose mail it is

    async def run_of(self, message_id: str) -> Run | None:
        """The run of the mail with this Message-ID."""
        key = sha256(f"{self.channel}\0{message_id}".encode()).digest()[:16]
        query = sa.select(*RUN_COLUMNS).where(
            t.runs.c.desk == self.desk, t.runs.c.message_key == key
        )
        row = await self._database.read_core(lambda core: core.execute(query).one_or_none())
        return None if row is None else run_of(row)

    async def accepted_at(self, run_id: str) -> float | None:
        """When the message of this run was accepted; None where there is no such run."""
        query = sa.select(t.runs.c.created_at).where(
            t.runs.c.id == run_id, t.runs.c.desk == self.desk
        )
        at: float | None = await self._database.read_core(lambda core: core.execute(query).scalar())
        return at

    async def sent_notice(self, notice_id: str) -> bool:
        """Whether this desk has sent word of this name to its reviewers."""
        here = sa.select(t.notices.c.id).where(
            t.notices.c.desk == self.desk, t.notices.c.id == notice_id
        )
        return await self._database.read_core(lambda core: core.execute(here).first() is not None)

    async def sent(self, key: EffectKey) -> bool:
        """Whether an effect of this key is one of this desk's deliveries, intended or done."""
        query = (
            sa.select(t.effects.c.run)
            .join(t.runs, t.runs.c.position == t.effects.c.run)
            .where(
                t.runs.c.id == key.run_id,
                t.runs.c.desk == self.desk,
                t.effects.c.seq == key.seq,
                t.effects.c.call == key.index,
                t.effects.c.tool == DELIVER,
            )
        )
        return await self._database.read_core(lambda core: core.execute(query).first()) is not None

    # --- mail that is about to leave

    async def leaving(self, key: str) -> None:
        """Note that this mail is about to leave; Fenced when that is no longer ours to do.

        Without this note it cannot have left.
        """

        def op(core: sa.Connection) -> bool:
            return self._mark_leaving(core, key, self._now())

        if not await self._database.write_core(op):
            raise Fenced(f"{key} is not ours to send any more")

    async def stayed(self, key: str) -> None:
        """Note that the mail that was about to leave did not: the server has refused it."""
        await self._database.write_core(lambda core: self._mark_leaving(core, key, None))

    async def leaving_at(self, key: str) -> float | None:
        """When the mail was about to leave; None when it never was."""
        effect = key_of(key)
        query = sa.select(t.notices.c.leaving_at).where(
            t.notices.c.desk == self.desk, t.notices.c.id == key
        )
        if effect is not None:
            query = sa.select(t.effects.c.leaving_at).where(ledger_row(self.desk, effect))
        at: float | None = await self._database.read_core(lambda core: core.execute(query).scalar())
        return at

    async def copy_arrived(self, key: EffectKey) -> None:
        """The copy of a reply lies in the mailbox, so it has left: nobody need say so."""
        is_asked = sa.select(t.reviews.c.id).where(
            t.reviews.c.run == t.runs.c.position,
            t.runs.c.id == key.run_id,
            t.reviews.c.state == ReviewState.OPEN,
            t.reviews.c.kind == ReviewKind.DELIVERY,
        )
        if await self._database.read_core(lambda core: core.execute(is_asked).first()) is not None:
            await self._database.write_core(
                lambda core: note_copy(core, self.desk, str(key), self._now())
            )

    def _mark_leaving(self, core: sa.Connection, key: str, at: float | None) -> bool:
        effect = key_of(key)
        if effect is not None:
            return mark_leaving(core, self.desk, self.owner, effect, at)
        here = sa.and_(t.notices.c.desk == self.desk, t.notices.c.id == key)
        noted = core.execute(t.notices.update().where(here).values(leaving_at=at)).rowcount == 1
        return noted or self._is_of_chat(core, key)

    def _is_of_chat(self, core: sa.Connection, key: str) -> bool:
        """Whether it is a mail of a chat: a code, which is never sent again, or one that is tried
        again under the same Message-ID until it has left. Neither needs a note."""
        for table, name in ((t.chat_codes, "id"), (t.chat_mails, "key")):
            here = sa.and_(table.c.desk == self.desk, table.c[name] == key)
            if core.execute(sa.select(table.c[name]).where(here)).first() is not None:
                return True
        return False

    # --- the lease

    async def acquire(self, seconds: float) -> None:
        await self._database.write_core(
            lambda core: leases.acquire(
                core, self._lease, self.owner, self._now(), seconds, self.desk
            )
        )

    async def renew(self, seconds: float) -> None:
        await self._database.write_core(
            lambda core: leases.renew(
                core, self._lease, self.owner, self._now(), seconds, self.desk
            )
        )

    async def give_up(self) -> None:
        await self._database.write_core(lambda core: leases.give_up(core, self._lease, self.owner))

    @property
    def _lease(self) -> str:
        return f"{self.desk}/{self.channel}"
