"""Contacts: what people wrote down is a row, what mail shows is read from the messages."""

import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.errors import NotFound
from deskhand.model.contact import Contact, ContactEntry, Note, contact_key
from deskhand.model.message import Message
from deskhand.ports import ContactChange

PORTION = 200
"""Contacts written in one transaction, and messages read for one look at who is new."""

_SAID = (
    "name",
    "language",
    "company",
    "phone",
    "customer_id",
    "tier",
    "plan",
    "tenure_months",
    "seats",
    "region",
)
"""What an entry says about a person that stands in a column of its own."""

LanguageOf = Callable[[Message], str | None]


class SqlContacts:
    """One desk's contacts on any database."""

    def __init__(
        self,
        database: CoreDatabase,
        desk: str,
        language_of: LanguageOf,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.desk = desk
        self._database, self._language_of, self._now = database, language_of, now
        self._here = t.contacts.c.desk == desk

    async def find(self, address: str) -> Contact | None:
        """Whoever is known under this address, by a row or by a message."""
        key = contact_key(address)
        await self._grown(key)
        contacts = await self._database.read_core(
            lambda core: self._read(core, self._rows(core, [key]))
        )
        return contacts[0] if contacts else None

    async def known(self, address: str) -> Contact | None:
        """What people wrote down about this address, without looking at its mail: tier, tags,
        customer id."""
        query = sa.select(t.contacts).where(
            self._here, t.contacts.c.address == contact_key(address)
        )
        row = await self._database.read_core(lambda core: core.execute(query).one_or_none())
        return None if row is None else _contact(row, (), None)

    async def seen(self, address: str) -> Contact:
        """What is known of this address at this moment, in one read that writes nothing; somebody
        unknown is a contact without messages."""
        key = contact_key(address)
        written = sa.select(t.contacts).where(*self._at_address(key))
        counted = _counted(self.desk, [key])

        def read(core: sa.Connection) -> tuple[sa.Row[Any] | None, sa.Row[Any] | None]:
            return core.execute(written).one_or_none(), core.execute(counted).one_or_none()

        row, mail = await self._database.read_core(read)
        if row is not None:
            return _contact(row, (), mail)
        unknown = Contact(address=key)
        return unknown if mail is None else _with_mail(unknown, mail)

    async def of_customer(self, customer_id: str) -> Sequence[Contact]:
        """Everybody whom people wrote down as this customer, by address."""
        query = sa.select(t.contacts).where(self._here, t.contacts.c.customer_id == customer_id)
        ordered = query.order_by(t.contacts.c.address).limit(PORTION)
        rows = await self._database.read_core(lambda core: core.execute(ordered).all())
        return [_contact(row, (), None) for row in rows]

    async def list(
        self,
        *,
        tag: str | None = None,
        tier: str | None = None,
        search: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> Sequence[Contact]:
        await self.grow()
        query = sa.select(t.contacts).where(self._here, t.contacts.c.address > after)
        if tier is not None:
            query = query.where(t.contacts.c.tier == tier)
        if tag is not None:
            query = query.where(t.contacts.c.tags.contains(f" {tag} ", autoescape=True))
        if search:
            like = [
                column.icontains(search, autoescape=True)
                for column in (
                    t.contacts.c.address,
                    t.contacts.c.name,
                    t.contacts.c.mail_name,
                    t.contacts.c.company,
                )
            ]
            query = query.where(sa.or_(*like))
        query = query.order_by(t.contacts.c.address).limit(limit)
        return await self._database.read_core(
            lambda core: self._read(core, core.execute(query).all())
        )

    async def put(self, entries: Sequence[ContactEntry], by: str) -> Sequence[ContactChange]:
        """Write these entries beside what is known; what is empty changes nothing."""
        return await self._database.write_core(
            lambda core: [self._put(core, entry, by) for entry in entries]
        )

    async def note(self, address: str, text: str, by: str) -> Contact:
        return await self._changed(
            address, lambda core, key: self._add_notes(core, key, (text,), by, again=True)
        )

    async def tag(self, address: str, add: Sequence[str], remove: Sequence[str] = ()) -> Contact:
        def op(core: sa.Connection, key: str) -> None:
            tags = _words(
                core.execute(
                    sa.select(t.contacts.c.tags).where(*self._at_address(key))
                ).scalar_one()
            )
            left = [tag for tag in dict.fromkeys([*tags, *add]) if tag not in remove]
            self._update(core, key, {"tags": _tagged(left)})

        return await self._changed(address, op)

    async def set_tier(self, address: str, tier: str | None) -> Contact:
        return await self._changed(
            address, lambda core, key: self._update(core, key, {"tier": tier})
        )

    # --- growing from mail

    async def grow(self) -> int:
        """Make a row of everybody who wrote since the last look; returns how many rows that made
        or changed."""
        grown = 0
        while True:
            more = await self._grown(None)
            grown += more
            if more < PORTION:
                return grown

    async def _grown(self, address: str | None) -> int:
        query, values = (
            _unseen(by_address=address is not None),
            {"in_desk": self.desk, "of_address": address},
        )
        rows = await self._database.read_core(lambda core: core.execute(query, values).all())
        if not rows:
            return 0
        read = [(row.sender, row.newest, Message.model_validate_json(row.body)) for row in rows]
        seen = [(sender, newest, mail, self._language_of(mail)) for sender, newest, mail in read]

        def op(core: sa.Connection) -> None:
            for sender, newest, mail, language in seen:
                self._ensure(core, sender)
                self._see(core, sender, newest, mail, language)

        await self._database.write_core(op)
        return len(rows)

    def _see(
        self, core: sa.Connection, address: str, newest: int, mail: Message, language: str | None
    ) -> None:
        """A name comes from the newest mail that somebody vouched for, or else from the first one.

        A mail that somebody vouched for also takes a name away: a forged one may have brought it.
        """
        row = core.execute(
            sa.select(t.contacts).where(*self._at_address(address)).with_for_update()
        ).one()
        values: dict[str, Any] = {"seen": max(newest, row.seen)}
        if mail.principal.owns or not row.mail_name:
            values["mail_name"] = mail.sender.name[:500]
        if language is not None:
            values["mail_language"] = language
        self._update(core, address, values)

    # --- rows

    def _put(self, core: sa.Connection, entry: ContactEntry, by: str) -> ContactChange:
        key = contact_key(entry.address)
        is_new = self._ensure(core, key)
        row = core.execute(
            sa.select(t.contacts).where(*self._at_address(key)).with_for_update()
        ).one()
        said = {name: getattr(entry, name) for name in _SAID}
        values = {
            name: value
            for name, value in said.items()
            if value not in (None, "") and value != getattr(row, name)
        }
        tags = _tagged(dict.fromkeys([*_words(row.tags), *entry.tags]))
        if tags != row.tags:
            values["tags"] = tags
        if values:
            self._update(core, key, values)
        noted = self._add_notes(core, key, entry.notes, by)
        if is_new:
            return "added"
        return "changed" if values or noted else "unchanged"

    def _ensure(self, core: sa.Connection, address: str) -> bool:
        """A row for this address; whether it is a new one."""
        statement = sa.text(
            "INSERT INTO contacts(desk, address, name, company, phone, tags, mail_name, seen,"
            " created_at, updated_at) VALUES (:desk, :address, '', '', '', '', '', 0, :now, :now)"
            " ON CONFLICT (desk, address) DO NOTHING"
        )
        return (
            core.execute(
                statement, {"desk": self.desk, "address": address, "now": self._now()}
            ).rowcount
            == 1
        )

    def _update(self, core: sa.Connection, address: str, values: dict[str, Any]) -> None:
        changed = {**values, "updated_at": self._now()}
        core.execute(t.contacts.update().where(*self._at_address(address)).values(**changed))

    def _add_notes(
        self,
        core: sa.Connection,
        address: str,
        texts: Sequence[str],
        by: str,
        *,
        again: bool = False,
    ) -> int:
        """Notes that are not there yet; a person may write the same one `again`."""
        if not texts:
            return 0
        here = (t.contact_notes.c.desk == self.desk, t.contact_notes.c.address == address)
        existing = set(core.execute(sa.select(t.contact_notes.c.text).where(*here)).scalars())
        added = [text for text in dict.fromkeys(texts) if again or text not in existing]
        for text in added:
            values = {
                "desk": self.desk,
                "address": address,
                "text": text,
                "by": by,
                "at": self._now(),
            }
            core.execute(t.contact_notes.insert().values(**values))
        return len(added)

    async def _changed(self, address: str, op: Callable[[sa.Connection, str], Any]) -> Contact:
        key = contact_key(address)
        if await self.find(key) is None:
            raise NotFound(f"there is no contact {key} on desk {self.desk}")

        def write(core: sa.Connection) -> Contact:
            core.execute(
                sa.select(t.contacts.c.address).where(*self._at_address(key)).with_for_update()
            )
            op(core, key)
            return self._read(core, self._rows(core, [key]))[0]

        return await self._database.write_core(write)

    def _at_address(self, address: str) -> tuple[sa.ColumnElement[bool], ...]:
        return (self._here, t.contacts.c.address == address)

    def _rows(self, core: sa.Connection, addresses: Sequence[str]) -> Sequence[sa.Row[Any]]:
        return core.execute(
            sa.select(t.contacts).where(self._here, t.contacts.c.address.in_(addresses))
        ).all()

    def _read(self, core: sa.Connection, rows: Sequence[sa.Row[Any]]) -> Sequence[Contact]:
        addresses = [row.address for row in rows]
        counts = {row.sender: row for row in core.execute(_counted(self.desk, addresses))}
        notes: dict[str, list[Note]] = {}
        written = sa.select(t.contact_notes).where(
            t.contact_notes.c.desk == self.desk, t.contact_notes.c.address.in_(addresses)
        )
        for note in core.execute(written.order_by(t.contact_notes.c.id)):
            notes.setdefault(note.address, []).append(Note(text=note.text, by=note.by, at=note.at))
        return [
            _contact(row, tuple(notes.get(row.address, ())), counts.get(row.address))
            for row in rows
        ]


_BY_PROGRAMS = t.runs.c.conversation.startswith("automatic:")
"""Where intake puts what a program sent."""


@cache
def _unseen(*, by_address: bool) -> sa.Select[Any]:
    """Senders (or one address) with a newer message than their contact knows, and that message."""
    desk = sa.bindparam("in_desk", type_=sa.Text)
    newest = (
        sa.select(t.messages.c.sender, sa.func.max(t.messages.c.run).label("newest"))
        .join(t.runs, t.runs.c.position == t.messages.c.run)
        .where(t.messages.c.desk == desk, t.messages.c.sender.is_not(None), ~_BY_PROGRAMS)
        .group_by(t.messages.c.sender)
    )
    if by_address:
        newest = newest.where(t.messages.c.sender == sa.bindparam("of_address", type_=sa.Text))
    latest = newest.subquery()
    same_contact = sa.and_(t.contacts.c.desk == desk, t.contacts.c.address == latest.c.sender)
    return (
        sa.select(latest.c.sender, latest.c.newest, t.messages.c.body)
        .join(t.messages, t.messages.c.run == latest.c.newest)
        .outerjoin(t.contacts, same_contact)
        .where(sa.or_(t.contacts.c.seen.is_(None), t.contacts.c.seen < latest.c.newest))
        .order_by(latest.c.newest)
        .limit(PORTION)
    )


def _counted(desk: str, addresses: Sequence[str]) -> sa.Select[Any]:
    return (
        sa.select(
            t.messages.c.sender,
            sa.func.count().label("messages"),
            sa.func.min(t.runs.c.created_at).label("first"),
            sa.func.max(t.runs.c.created_at).label("last"),
        )
        .join(t.runs, t.runs.c.position == t.messages.c.run)
        .where(t.messages.c.desk == desk, t.messages.c.sender.in_(addresses), ~_BY_PROGRAMS)
        .group_by(t.messages.c.sender)
    )


def _tagged(tags: "Sequence[str] | dict[str, Any]") -> str:
    """Words with a blank on both sides, so that one of them is found whole."""
    return f" {' '.join(tags)} " if tags else ""


def _words(tags: str) -> list[str]:
    return tags.split()


def _contact(row: sa.Row[Any], notes: tuple[Note, ...], mail: sa.Row[Any] | None) -> Contact:
    """`mail` counts the messages of this address; None where there are none, or nobody asked."""
    contact = Contact(
        address=row.address,
        name=row.name or row.mail_name,
        language=row.language or row.mail_language,
        company=row.company,
        phone=row.phone,
        customer_id=row.customer_id,
        tier=row.tier,
        plan=row.plan,
        tenure_months=row.tenure_months,
        seats=row.seats,
        region=row.region,
        tags=tuple(_words(row.tags)),
        notes=notes,
    )
    return contact if mail is None else _with_mail(contact, mail)


def _with_mail(contact: Contact, mail: sa.Row[Any]) -> Contact:
    seen = {"first_seen": mail.first, "last_seen": mail.last, "messages": mail.messages}
    return contact.model_copy(update=seen)
