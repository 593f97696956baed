"""Streams cut into events: server-sent events, as far as chat endpoints use them, and lines."""


class EventReader:
    """Turns bytes, cut anywhere, into the data of whole events; drops all other fields."""

    __slots__ = ("_data", "_rest")

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        events: list[bytes] = []
        for line in lines:
            self._line(line.rstrip(b"\r"), events)
        return events

    def end(self) -> list[bytes]:
        """The last event of a stream that stops without the empty line that should close it."""
        events: list[bytes] = []
        self._line(self._rest.rstrip(b"\r"), events)
        self._line(b"", events)
        self._rest = b""
        return events

    def _line(self, line: bytes, events: list[bytes]) -> None:
        if not line:
            if self._data:
                events.append(b"\n".join(self._data))
                self._data = []
        elif line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))


class LineReader:
    """Turns bytes, cut anywhere, into whole lines; empty ones are dropped."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> list[bytes]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        return [line for line in lines if line.strip()]

    def end(self) -> list[bytes]:
        rest, self._rest = self._rest, b""
        return [rest] if rest.strip() else []
