"""Sinks that need nothing but a terminal or a file."""

import asyncio
import json
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from pprint import pformat
from typing import IO

from deskhand.errors import DeskhandError
from deskhand.model.telemetry import TelemetryEvent

_TAIL = 4_000_000
"""How many bytes at the end of a file are read to find what was told before a crash."""
_PRINTED = ("interaction_id", "level", "payload", "session_id", "stage")


class PrintSink:
    """Prints each event for people to read, without its time and id."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        """Prints to standard output where no stream is given."""
        self._stream = stream

    async def record(self, *events: TelemetryEvent) -> None:
        stream = self._stream or sys.stdout
        for event in events:
            stream.write(f"{printed(event)}\n\n")
        stream.flush()


def printed(event: TelemetryEvent) -> str:
    """The event as `PrintSink` prints it."""
    document = event.document()
    return pformat({name: document[name] for name in _PRINTED})


class ListSink:
    """Keeps events in a list, to look at them in tests and notebooks."""

    def __init__(self) -> None:
        self.events: list[TelemetryEvent] = []

    async def record(self, *events: TelemetryEvent) -> None:
        self.events += events


class JsonLinesSink:
    """Appends each event to a file, as one line of JSON.

    What a process wrote before it died, and was not yet marked as told, is recognised at the end of
    the file and not written again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._recent: set[str] | None = None

    async def record(self, *events: TelemetryEvent) -> None:
        await asyncio.to_thread(self._append, events)

    def _append(self, events: Sequence[TelemetryEvent]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise DeskhandError(f"{self.path} is no regular file; name a file to append to")
            if self._recent is None:
                self._recent = _ids_at_the_end(file)
            file.seek(0, os.SEEK_END)
            new = [event for event in events if event.id not in self._recent]
            lines = [json.dumps(event.document(), ensure_ascii=False) for event in new]
            if lines:
                file.write(("\n".join(lines) + "\n").encode())
                file.flush()
                os.fsync(descriptor)
        self._recent |= {event.id for event in new}
        if len(self._recent) > 100_000:
            self._recent = {event.id for event in new}


def _ids_at_the_end(file: IO[bytes]) -> set[str]:
    """The ids of the last lines. A line that a crash cut off is removed: its event comes again."""
    size = file.seek(0, os.SEEK_END)
    begin = max(0, size - _TAIL)
    file.seek(begin)
    tail = file.read()
    if tail and not tail.endswith(b"\n"):
        tail = tail[: tail.rfind(b"\n") + 1]
        file.truncate(begin + len(tail))
    ids: set[str] = set()
    for line in tail.splitlines()[1 if begin else 0 :]:
        try:
            ids.add(str(json.loads(line)["id"]))
        except (ValueError, KeyError, TypeError):
            continue
    return ids
