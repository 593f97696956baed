"""Files of runs: written with their message or by a reviewer, never changed, erased with it."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import SqlDesk
from deskhand.adapters.stores.review_decisions import find_review, record_event
from deskhand.engine.decisions import check_open
from deskhand.errors import NotFound
from deskhand.model.attached_files import AttachedFile, FileOrigin, StoredFile
from deskhand.model.ids import new_id
from deskhand.model.message import Message

_DESCRIBED = tuple(column for column in t.attachments.c if column.name != "content")


class NewFile(NamedTuple):
    """A file of a message that is about to be stored: the columns of its row but run and desk."""

    id: str
    origin: str
    number: int
    name: str
    type: str
    size: int
    digest: str
    at: float
    content: bytes


def files_of(message: Message, run_id: str, now: float) -> tuple[NewFile, ...]:
    """What is to be kept of a message's attachments, and of the page that it was written as."""
    return (*_files_of(message, run_id, now), *_page_of(message, run_id, now))


def _page_of(message: Message, run_id: str, now: float) -> Iterator[NewFile]:
    content = message.page
    if content is None:
        return
    digest = sha256(content).hexdigest()
    described = ("message.html", "text/html", len(content), digest)
    yield NewFile(f"{run_id}.page", FileOrigin.PAGE, 0, *described, now, content)


def _files_of(message: Message, run_id: str, now: float) -> Iterator[NewFile]:
    for number, attachment in enumerate(message.attachments, 1):
        content = attachment.content
        if content is None or attachment.not_kept is not None:
            continue
        yield NewFile(
            f"{run_id}.{number}",
            FileOrigin.MESSAGE,
            number,
            attachment.name,
            attachment.type,
            len(content),
            attachment.digest or sha256(content).hexdigest(),
            now,
            content,
        )


def keep_files(core: sa.Connection, desk: str, position: int, files: Sequence[NewFile]) -> None:
    if files:
        rows = [{**file._asdict(), "desk": desk, "run": position} for file in files]
        core.execute(t.attachments.insert(), rows)


def erase_files(core: sa.Connection, position: int) -> None:
    core.execute(t.attachments.delete().where(t.attachments.c.run == position))


class SqlFiles(SqlDesk):
    """The part of a desk's store that keeps files."""

    async def files(self, run_id: str) -> list[StoredFile]:
        query = (
            sa.select(*_DESCRIBED)
            .join(t.runs, t.runs.c.position == t.attachments.c.run)
            .where(t.runs.c.id == run_id, t.runs.c.desk == self.desk)
            .order_by(t.attachments.c.origin, t.attachments.c.number, t.attachments.c.at)
        )
        return await self._database.read_core(
            lambda core: [_stored(run_id, row) for row in core.execute(query)]
        )

    async def file(
        self, run_id: str, file_id: str, origin: FileOrigin | None = None
    ) -> AttachedFile:
        query = (
            sa.select(t.attachments.c.name, t.attachments.c.type, t.attachments.c.content)
            .join(t.runs, t.runs.c.position == t.attachments.c.run)
            .where(
                t.attachments.c.id == file_id,
                t.runs.c.id == run_id,
                t.runs.c.desk == self.desk,
            )
        )
        if origin is not None:
            query = query.where(t.attachments.c.origin == origin)
        row = await self._database.read_core(lambda core: core.execute(query).one_or_none())
        if row is None:
            raise NotFound(f"there is no attachment {file_id} of run {run_id}")
        return AttachedFile(row.name, row.type, bytes(row.content))

    async def attach(self, review_id: str, by: str, file: AttachedFile) -> StoredFile:
        now, file_id = self._now(), new_id("att")

        def op(core: sa.Connection) -> StoredFile:
            review = find_review(core, self.desk, review_id)
            check_open(review)
            run = sa.select(t.runs.c.position).where(t.runs.c.id == review.run_id)
            values = {
                "id": file_id,
                "origin": FileOrigin.REPLY,
                "number": 0,
                "name": file.name,
                "type": file.type,
                "size": len(file.content),
                "digest": sha256(file.content).hexdigest(),
                "by": by,
                "at": now,
            }
            position = core.execute(run).scalar_one()
            core.execute(
                t.attachments.insert().values(
                    **values, desk=self.desk, run=position, content=file.content
                )
            )
            about = {"review": review_id, "file": file_id, "name": file.name}
            record_event(core, self.desk, "review.attached", review.run_id, by, about, now)
            return StoredFile(run_id=review.run_id, **_typed(values))

        return await self._database.write_core(op)


def _stored(run_id: str, row: Any) -> StoredFile:
    fields = {column.name: getattr(row, column.name) for column in _DESCRIBED}
    for name in ("desk", "run"):
        fields.pop(name)
    return StoredFile(run_id=run_id, **_typed(fields))


def _typed(fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "origin": FileOrigin(fields["origin"])}
