"""Mail from files, to try things: a maildir, an mbox file or a watched folder of `.eml` files."""

import asyncio
import mailbox
import os
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from deskhand.adapters.channels.mail_intake import read_channel_mail
from deskhand.adapters.stores.channels import Arrival, SqlChannelStore
from deskhand.config.sections.channels import ChannelSpec
from deskhand.errors import ConfigError
from deskhand.ports import Intake

LOOK_EVERY = 1.0
_CHUNK = 50


class FilesChannel:
    """Reads files and never changes them; each mail is remembered by its place."""

    def __init__(self, spec: ChannelSpec, memory: SqlChannelStore, *, max_bytes: int) -> None:
        assert spec.files is not None
        self.name = spec.name
        self._path, self._memory, self._max_bytes = spec.files, memory, max_bytes
        self._seen: set[str] = set()

    async def listen(self, intake: Intake) -> None:
        while True:
            for chunk in await asyncio.to_thread(self._new):
                arrivals: list[Arrival] = []
                for place, raw in chunk:
                    message = await read_channel_mail(raw, self.name, self._max_bytes)
                    arrivals.append(Arrival(place, (await intake.hand_in(message)).run_id))
                await self._memory.arrived(arrivals)
                self._seen |= {place for place, _ in chunk}
            intake.well()
            await asyncio.sleep(LOOK_EVERY)

    async def check(self) -> str:
        if not await asyncio.to_thread(self._path.exists):
            raise _missing(self._path)
        return f"watches {self._path}"

    async def close(self) -> None:
        return None

    # --- inside, in a thread

    def _new(self) -> list[list[tuple[str, bytes]]]:
        mails = [(place, raw) for place, raw in self._mails() if place not in self._seen]
        return [mails[start : start + _CHUNK] for start in range(0, len(mails), _CHUNK)]

    def _mails(self) -> Iterator[tuple[str, bytes]]:
        """New mails, each with the place it is remembered by."""
        path = self._path
        if not path.exists():
            raise _missing(path)
        if path.is_file():
            return self._of_mbox(path)
        if (path / "new").is_dir() and (path / "cur").is_dir():
            return self._of_maildir(path)
        return self._of_folder(path)

    def _of_maildir(self, path: Path) -> Iterator[tuple[str, bytes]]:
        for part in ("cur", "new"):
            for file in sorted((path / part).iterdir()):
                unique_name = file.name.partition(":")[0]  # flags follow the colon
                yield from self._of_file(file, unique_name)

    def _of_folder(self, path: Path) -> Iterator[tuple[str, bytes]]:
        for file in sorted(path.glob("*.eml")):
            status = file.stat()
            if _is_whole(status):
                yield from self._of_file(file, f"{file.name}@{status.st_mtime_ns}.{status.st_size}")

    def _of_file(self, file: Path, place: str) -> Iterator[tuple[str, bytes]]:
        if place in self._seen or not file.is_file():
            return
        with file.open("rb") as opened:
            yield place, opened.read(self._max_bytes)

    def _of_mbox(self, path: Path) -> Iterator[tuple[str, bytes]]:
        status = path.stat()
        size = status.st_size
        if f"size {size}" in self._seen or not _is_whole(status):
            return
        with closing(mailbox.mbox(path, create=False)) as box:
            for number, key in enumerate(box.keys()):
                yield f"{path.name}#{number}", box.get_bytes(key)[: self._max_bytes]
        self._seen.add(f"size {size}")


def _missing(path: Path) -> ConfigError:
    return ConfigError(
        "there is no such file or folder", file=path, fix="create it, or correct `files`"
    )


def _is_whole(status: os.stat_result) -> bool:
    """Whether nobody wrote to it just now: half a mail would be taken for a whole one."""
    return not 0 <= time.time() - status.st_mtime < LOOK_EVERY
