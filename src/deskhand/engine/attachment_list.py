"""The files of a run as people see them: those that are kept, and why the others are not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from deskhand.model.attached_files import FileOrigin, StoredFile
from deskhand.model.message import Attachment, Message
from deskhand.ports import Store


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file that came with a message or is to leave with a reply."""

    attachment: str | None
    """The id that it is opened by; None where its bytes are not kept."""
    origin: FileOrigin
    name: str
    type: str
    size: int
    not_kept: str | None = None
    by: str | None = None
    text: str | None = None
    """The words that were read in it; None for what is not read."""


NOT_KEPT = "only its name is known"


async def read_attachments(store: Store, run_id: str) -> list[ListedFile]:
    """All files of a run; NotFound where there is no such run."""
    await store.run(run_id)
    return list_files(await store.message(run_id), await store.files(run_id))


def list_files(message: Message | None, files: Sequence[StoredFile]) -> list[ListedFile]:
    return [*_of_message(message, files), *_of_replies(files)]


def _of_message(message: Message | None, files: Sequence[StoredFile]) -> Iterator[ListedFile]:
    """Nothing once the message was erased: its files went with it."""
    if message is None:
        return
    kept = {file.number: file for file in files if file.origin is FileOrigin.MESSAGE}
    for number, attachment in enumerate(message.attachments, 1):
        yield _listed(attachment, kept.get(number))


def _listed(attachment: Attachment, file: StoredFile | None) -> ListedFile:
    listed = ListedFile(
        None,
        FileOrigin.MESSAGE,
        attachment.name,
        attachment.type,
        attachment.size,
        attachment.not_kept or NOT_KEPT,
        text=attachment.text,
    )
    return listed if file is None else replace(listed, attachment=file.id, not_kept=None)


def _of_replies(files: Sequence[StoredFile]) -> Iterator[ListedFile]:
    for file in files:
        if file.origin is FileOrigin.REPLY:
            yield ListedFile(file.id, file.origin, file.name, file.type, file.size, by=file.by)
