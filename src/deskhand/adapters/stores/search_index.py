"""Keeps the words of a desk's runs and people for the console's search, and the figures of its
runs for the metrics, beside the hot path.

Triggers note what is due. The process that serves the desk reads it a moment later, writes its
words and figures anew, and takes the note away. A record that changes meanwhile is due again.
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import sqlalchemy as sa
from pydantic import ValidationError

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.search_words import number_text, words_of_person, words_of_run
from deskhand.model.message import Message
from deskhand.model.run import RunStatus

if TYPE_CHECKING:
    from deskhand.adapters.stores.run_figures import CountedRuns

BATCH = 100
"""Records that are read and written at once: writers wait for the second part alone."""
NOTES = 5 * BATCH
"""Notes that are looked at for a batch: a message that was worked has several, and is indexed once
for all of them."""
AT_WORK = 5.0
"""Seconds for which a run that is queued or at work is left to itself: it changes in a moment."""
MOMENT = 3.0
"""Seconds after which a desk that was indexed to the end counts as left alone."""
_kept_up: WeakKeyDictionary[CoreDatabase, dict[str, float]] = WeakKeyDictionary()
"""When each desk of a database was last indexed to the end by the process that serves it."""
_DUE = t.search_due.c
_NOTES = (
    sa.select(_DUE.number, _DUE.run, _DUE.address)
    .where(_DUE.desk == sa.bindparam("desk"))
    .order_by(_DUE.number.desc())
    .limit(sa.bindparam("most"))
)
"""What is due, the newest first; put together once, for it is asked every second."""
_NOTES_AT_REST = _NOTES.outerjoin(t.runs, t.runs.c.position == _DUE.run).where(
    sa.or_(
        t.runs.c.position.is_(None),
        sa.and_(t.runs.c.status != RunStatus.QUEUED, t.runs.c.status != RunStatus.RUNNING),
        t.runs.c.updated_at < sa.bindparam("quiet_since"),
    )
)
"""The same without runs that are at work."""
_THESE: Any = sa.bindparam("these", expanding=True)
_TOOL_STEPS = sa.select(t.steps.c.run, t.steps.c.body).where(
    t.steps.c.run.in_(_THESE), t.steps.c.name.contains("/"), t.steps.c.body.is_not(None)
)
_WRITTEN = (
    sa.select(t.runs.c.position, t.runs.c.id, t.runs.c.reason, t.messages.c.body)
    .join(t.messages, t.messages.c.run == t.runs.c.position)
    .where(t.runs.c.position.in_(_THESE), t.messages.c.body.is_not(None))
)
_Record = tuple[int | None, str | None]
"""A run, by its number, or a person, by the address."""
_ROWS_AT_ONCE = (
    "SELECT json_extract(value, '$[0]'), :desk, json_extract(value, '$[1]')"
    " FROM json_each(:rows) WHERE true ON CONFLICT DO NOTHING"
)
"""All rows in one statement, in the order of their keys. FTS5 ends a segment with each statement,
and wherever a key is lower than the one before, and it takes long to join them again."""
_PERSON = ("name", "mail_name", "address", "company", "customer_id", "phone")


@dataclass(frozen=True, slots=True)
class _Batch:
    """What was due, and its words; without words it is taken out of the index."""

    notes: Mapping[int, _Record]
    """The notes that were known when the records were read, by their numbers."""
    runs: dict[int, str | None]
    people: dict[str, str | None]
    counted: "CountedRuns"

    def overtaken(self, taken: set[int]) -> set[_Record]:
        """What another process has indexed meanwhile, perhaps from newer records: it has taken the
        last note away, which is then not among those `taken` here."""
        last = {record: number for number, record in sorted(self.notes.items())}
        return {record for record, number in last.items() if number not in taken}

    def half_seen(self, taken: set[int]) -> set[_Record]:
        """What another process has indexed meanwhile without all of the notes about it: one that
        is committed late may have a lower number, and tell of a change that is read here alone."""
        return self.overtaken(taken) & {self.notes[number] for number in taken}

    def without(self, overtaken: set[_Record]) -> "_Batch":
        """The batch without these records."""
        if not overtaken:
            return self
        runs = {run: words for run, words in self.runs.items() if (run, None) not in overtaken}
        people = {
            each: words for each, words in self.people.items() if (None, each) not in overtaken
        }
        counted = self.counted.but(self.runs.keys() - runs.keys())
        return _Batch(self.notes, runs, people, counted)


class SqlSearchIndex:
    """One desk's part of the index."""

    def __init__(self, database: CoreDatabase, desk: str, zone: tzinfo = UTC) -> None:
        """`zone` says when the days of the figures begin."""
        self.desk = desk
        self._database = database
        self._zone = zone

    async def index_some(self, *, at_rest: bool = False) -> int:
        """Index what changed last, at most a batch; how many records that were.

        Whoever wants those `at_rest` gets the others once they are, or after a few seconds.
        """
        began = time.monotonic()
        count = await self._index_some(at_rest=at_rest)
        if count < BATCH:
            _kept_up.setdefault(self._database, {})[self.desk] = began
        return count

    async def index_unless_kept_up(self) -> None:
        """The same for somebody who looks, where nobody in this process indexes the desk.

        Whoever serves a desk indexes it every second. A screen that did so too would wait for the
        database's writer.
        """
        kept_up = _kept_up.get(self._database, {}).get(self.desk)
        if kept_up is None or time.monotonic() - kept_up > MOMENT:
            await self._index_some()

    async def _index_some(self, *, at_rest: bool = False) -> int:
        due = await self._due(at_rest=at_rest)
        if not due:
            return 0
        batch = await self._database.read_core(lambda core: self._read(core, due))
        await self._database.write_core(lambda core: self._write(core, batch))
        return len(batch.runs) + len(batch.people)

    async def count_due(self, most: int) -> int:
        """How many changes are not indexed yet, counted no further than `most`."""
        some = sa.select(_DUE.number).where(_DUE.desk == self.desk).limit(most).subquery()
        query = sa.select(sa.func.count()).select_from(some)
        return await self._database.glance(lambda core: core.execute(query).scalar_one())

    async def _due(self, *, at_rest: bool = False) -> list[Any]:
        wanted: dict[str, Any] = {"desk": self.desk, "most": NOTES}
        query = _NOTES
        if at_rest:
            query = _NOTES_AT_REST
            wanted["quiet_since"] = time.time() - AT_WORK
        return _of_one_batch(await self._database.look_up(query, wanted))

    def _read(self, core: sa.Connection, due: Sequence[Any]) -> _Batch:
        # whoever erases or deletes runs needs this module and nothing that reads journals
        from deskhand.adapters.stores.run_figures import read_figures

        positions = {row.run for row in due if row.run is not None}
        addresses = {row.address for row in due if row.address is not None}
        return _Batch(
            {row.number: (row.run, row.address) for row in due},
            dict.fromkeys(positions) | words_of_runs(core, positions),
            self._words_of_people(core, addresses),
            read_figures(core, self.desk, positions, self._zone),
        )

    def _words_of_people(self, core: sa.Connection, addresses: set[str]) -> dict[str, str | None]:
        if not addresses:
            return {}
        return dict.fromkeys(addresses) | words_of_people(core, self.desk, addresses)

    def _write(self, core: sa.Connection, batch: _Batch) -> None:
        """Words of what is erased at this moment are left out; whoever erases it notes it anew."""
        from deskhand.adapters.stores.run_figures import write_figures

        _take_turn(core, self.desk)
        taken = set(core.execute(_TAKEN, {"these": list(batch.notes)}).scalars())
        whole, batch = batch, batch.without(batch.overtaken(taken))
        meanwhile = batch.counted.counted_meanwhile(core)
        self._note_again(core, whole.half_seen(taken).union((run, None) for run in meanwhile))
        kept = core.execute(_KEPT, {"these": list(batch.runs)}).scalars()
        runs = {run: batch.runs[run] for run in kept}
        _replace(core, t.search_runs, t.search_runs.c.run, self.desk, batch.runs, runs)
        if batch.people:
            self._write_people(core, batch)
        write_figures(core, batch.counted.but(meanwhile))

    def _write_people(self, core: sa.Connection, batch: _Batch) -> None:
        contact = t.contacts.c
        these = (contact.desk == self.desk, contact.address.in_(batch.people))
        kept = core.execute(_unlocked(contact.address, *these)).scalars()
        people = {each: batch.people[each] for each in kept}
        address = t.search_people.c.address
        _replace(core, t.search_people, address, self.desk, batch.people, people)

    def _note_again(self, core: sa.Connection, records: set[_Record]) -> None:
        notes = [{"desk": self.desk, "run": run, "address": address} for run, address in records]
        if notes:
            core.execute(t.search_due.insert(), notes)


def _of_one_batch(notes: Sequence[Any]) -> list[Any]:
    """All notes about the first few records: who is indexed once needs none of them any more."""
    records: set[_Record] = set()
    chosen: list[Any] = []
    for note in notes:
        record = (note.run, note.address)
        if len(records) < BATCH:
            records.add(record)
        if record in records:
            chosen.append(note)
    return chosen


def _take_turn(core: sa.Connection, desk: str) -> None:
    """PostgreSQL: processes that index the same at the same time would wait for each other in a
    circle. SQLite has one writer."""
    if core.dialect.name == "postgresql":
        take = sa.text("SELECT pg_advisory_xact_lock(hashtext(:turn))")
        core.execute(take, {"turn": f"search of {desk}"})


def _unlocked(key: sa.Column[Any], *which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Rows that nobody is about to erase; whoever wants to waits until these are written."""
    return sa.select(key).where(*which).with_for_update(read=True, skip_locked=True)


_TAKEN = t.search_due.delete().where(_DUE.number.in_(_THESE)).returning(_DUE.number)
_KEPT = _unlocked(t.messages.c.run, t.messages.c.run.in_(_THESE), t.messages.c.body.is_not(None))


def words_of_runs(core: sa.Connection, positions: set[int]) -> dict[int, str]:
    """The words of those runs that were not erased."""
    these = {"these": list(positions)}
    numbers: dict[int, list[bytes]] = {}
    for run, body in core.execute(_TOOL_STEPS, these).all():
        numbers.setdefault(run, []).append(body)
    words: dict[int, str] = {}
    for position, run_id, reason, body in core.execute(_WRITTEN, these).all():
        try:
            message = Message.model_validate_json(body)
        except ValidationError:  # somebody changed it: `audit verify` tells of it
            continue
        worked_with = number_text(numbers.get(position, ()))
        words[position] = words_of_run(run_id, reason, message, worked_with)
    return words


def words_of_people(
    core: sa.Connection, desk: str, addresses: set[str] | None = None
) -> dict[str, str]:
    """The words of these people of the address book, or of all."""
    here = t.contacts.c
    query = sa.select(*(here[name] for name in _PERSON)).where(here.desk == desk)
    if addresses is not None:
        query = query.where(here.address.in_(addresses))
    return {row.address: words_of_person(*row) for row in core.execute(query)}


def _replace(
    core: sa.Connection,
    table: sa.Table,
    key: sa.Column[Any],
    desk: str,
    due: dict[Any, str | None],
    words: dict[Any, str | None],
) -> None:
    gone = {record for record, text in due.items() if text is None}
    core.execute(table.delete().where(table.c.desk == desk, key.in_(gone | words.keys())))
    rows = [(record, text) for record, text in sorted(words.items()) if text is not None]
    if not rows:
        return
    # Another process may index the same at the same time.
    insert = f"INSERT INTO {table.name} ({key.name}, desk, words)"
    if core.dialect.name == "sqlite":
        at_once = f"{insert} {_ROWS_AT_ONCE}"
        core.execute(sa.text(at_once), {"desk": desk, "rows": json.dumps(rows)})
    else:
        each = f"{insert} VALUES (:record, :desk, :words) ON CONFLICT DO NOTHING"
        values = [{"record": record, "desk": desk, "words": text} for record, text in rows]
        core.execute(sa.text(each), values)


def forget_runs(core: sa.Connection, positions: Iterable[int]) -> None:
    """Take the words of runs away at once, in the transaction in which what they say goes. What is
    left of the runs is due."""
    wanted = list(positions)
    core.execute(t.search_runs.delete().where(t.search_runs.c.run.in_(wanted)))
    left = sa.select(t.runs.c.desk, t.runs.c.position).where(t.runs.c.position.in_(wanted))
    core.execute(t.search_due.insert().from_select(["desk", "run"], left))


def forget_person(core: sa.Connection, desk: str, address: str) -> None:
    """Take a person's words away, and the note that they are due: it names the person."""
    for table in (t.search_people, t.search_due):
        core.execute(table.delete().where(table.c.desk == desk, table.c.address == address))


def drop_deleted_words(core: sa.Connection) -> None:
    """SQLite: leave no word of what was deleted in the file. FTS5 only marks it as deleted."""
    for table in ("search_runs_words", "search_people_words"):
        core.exec_driver_sql(f"INSERT INTO {table}({table}) VALUES ('optimize')")  # noqa: S608
