"""An IMAP connection: the dozen commands a mailbox needs, without blocking anybody."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from deskhand.adapters.channels.credentials import Tokens, password_of, xoauth2
from deskhand.adapters.channels.imap_wire import (
    LITERAL,
    ImapProtocolError,
    Piece,
    Word,
    decode_folder,
    folder_name,
    pairs,
    parse_response,
    quoted,
    uid_ranges,
)
from deskhand.adapters.channels.mail_connection import LoginRefused, ServerUnavailable, Wire
from deskhand.config.sections.channels import ServerSpec

_LARGEST_LITERAL = 200_000_000
_WINDOW = 2_000
"""UIDs asked for at once: a server answers a search on one line, which has its limits."""
_WIDEST = 64_000
_CODE = re.compile(r"\[([A-Z-]+)(?: ([^\]]*))?\]")


class ImapRefused(ServerUnavailable):
    """The server answered NO or BAD to a command."""


class Selected(NamedTuple):
    """A folder as it was when it was opened."""

    validity: int
    next_uid: int
    keeps_keywords: bool


class Fetched(NamedTuple):
    uid: int
    raw: bytes
    arrived: float
    """When the server took it in."""
    flags: frozenset[str] = frozenset()
    """Flags and keywords, in lower case."""


class Folder(NamedTuple):
    name: str
    uses: frozenset[str]
    """Special uses, as `\\Sent`."""


class Imap:
    """One connection, one command at a time; after any error it is of no use."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._number = 0
        self._busy = asyncio.Lock()
        self.capabilities: frozenset[str] = frozenset()

    @classmethod
    async def connect(cls, server: ServerSpec, tokens: Tokens | None = None) -> "Imap":
        wire = await Wire.open(server)
        imap = cls(wire)
        try:
            greeting = await imap._response()
            if greeting[:2] != ["*", "OK"]:
                raise ServerUnavailable(f"{wire.where}: the server greets with {_shown(greeting)}")
            if server.security == "starttls":
                await imap._command("STARTTLS")
                await wire.start_tls()
            await imap._learn()
            await imap._log_in(server, tokens)
            await imap._learn()
        except BaseException:
            await wire.close()
            raise
        return imap

    async def close(self) -> None:
        await self._wire.close()

    # --- folders

    async def folders(self) -> list[Folder]:
        folders: list[Folder] = []
        for answer in await self._command("LIST", '""', '"*"'):
            if _kind(answer) == "LIST" and len(answer) >= 5 and isinstance(answer[2], list):
                name = (
                    answer[4].decode("utf-8", "replace")
                    if isinstance(answer[4], bytes)
                    else str(answer[4])
                )
                folders.append(
                    Folder(decode_folder(name), frozenset(str(use).lower() for use in answer[2]))
                )
        return folders

    async def make_folder(self, name: str) -> None:
        """Nothing happens when it is there already."""
        if name not in {folder.name for folder in await self.folders()}:
            await self._command("CREATE", folder_name(name))

    async def select(self, folder: str) -> Selected:
        validity, next_uid, keywords = 0, 0, False
        for answer in await self._command("SELECT", folder_name(folder)):
            code = _code(answer)
            if code is None:
                continue
            name, value = code
            if name == "UIDVALIDITY":
                validity = int(value)
            elif name == "UIDNEXT":
                next_uid = int(value)
            elif name == "PERMANENTFLAGS":
                keywords = "\\*" in value
        if not validity or not next_uid:
            raise ImapProtocolError(
                f"{self._wire.where}: {folder} opens without UIDVALIDITY or UIDNEXT"
            )
        return Selected(validity, next_uid, keywords)

    # --- mails

    async def search(self, *criteria: Piece) -> list[int]:
        """UIDs, lowest first."""
        uids: list[int] = []
        for answer in await self._command("UID SEARCH", *criteria):
            if _kind(answer) == "SEARCH":
                uids += [int(str(uid)) for uid in answer[2:]]
        return sorted(uids)

    async def newest_uid(self) -> int:
        """The highest UID in the open folder; 0 while it is empty."""
        return max(await self.search("UID *:*"), default=0)

    async def search_up(self, first: int, *criteria: Piece) -> AsyncIterator[list[int]]:
        """UIDs from `first` on, lowest first, some thousand at a time."""
        last, width = await self.newest_uid(), _WINDOW
        while first <= last:
            end = min(first + width - 1, last)
            uids = await self.search(f"UID {first}:{end}", *criteria)
            if uids:
                yield uids
            width = _next_width(width, uids)
            first = end + 1

    async def search_down(self, last: int, *criteria: Piece) -> AsyncIterator[list[int]]:
        """UIDs up to `last`, the newest windows first, some thousand at a time."""
        width = _WINDOW
        while last >= 1:
            begin = max(last - width + 1, 1)
            uids = await self.search(f"UID {begin}:{last}", *criteria)
            if uids:
                yield uids
            width = _next_width(width, uids)
            last = begin - 1

    async def with_message_id(self, message_id: str) -> list[int]:
        return await self.search("HEADER", "Message-ID", quoted(message_id))

    async def fetch(
        self, uids: Sequence[int], *, most: int, headers_only: bool = False
    ) -> list[Fetched]:
        """Mails, unread ones staying unread; of one larger than `most` bytes, its beginning."""
        if not uids:
            return []
        part = "BODY.PEEK[HEADER]" if headers_only else f"BODY.PEEK[]<0.{most}>"
        mails: list[Fetched] = []
        for answer in await self._command(
            "UID FETCH", uid_ranges(uids), f"(UID FLAGS INTERNALDATE {part})"
        ):
            if len(answer) > 3 and answer[2] == "FETCH":
                fields = pairs(answer[3])
                raw = next(
                    (value for name, value in fields.items() if name.startswith("BODY[")), None
                )
                if raw is not None and str(fields.get("UID", "")).isdecimal():
                    body = raw if isinstance(raw, bytes) else str(raw).encode()
                    arrived = _moment(fields.get("INTERNALDATE"))
                    mails.append(
                        Fetched(int(fields["UID"]), body, arrived, _flags(fields.get("FLAGS")))
                    )
        return sorted(mails)

    async def sizes(self, uids: Sequence[int]) -> dict[int, int]:
        """Bytes by UID."""
        if not uids:
            return {}
        sizes: dict[int, int] = {}
        for answer in await self._command("UID FETCH", uid_ranges(uids), "(UID RFC822.SIZE)"):
            fields = pairs(answer[3]) if len(answer) > 3 and answer[2] == "FETCH" else {}
            if (
                str(fields.get("UID", "")).isdecimal()
                and str(fields.get("RFC822.SIZE", "")).isdecimal()
            ):
                sizes[int(fields["UID"])] = int(fields["RFC822.SIZE"])
        return sizes

    async def add_flags(self, uids: Sequence[int], flags: Sequence[str]) -> None:
        if uids:
            await self._command(
                "UID STORE", uid_ranges(uids), "+FLAGS.SILENT", f"({' '.join(flags)})"
            )

    async def remove_flags(self, uids: Sequence[int], flags: Sequence[str]) -> None:
        if uids:
            await self._command(
                "UID STORE", uid_ranges(uids), "-FLAGS.SILENT", f"({' '.join(flags)})"
            )

    async def move(self, uids: Sequence[int], folder: str) -> None:
        if not uids:
            return
        if "MOVE" in self.capabilities:
            await self._command("UID MOVE", uid_ranges(uids), folder_name(folder))
            return
        await self._command("UID COPY", uid_ranges(uids), folder_name(folder))
        await self.delete(uids)

    async def delete(self, uids: Sequence[int]) -> None:
        if not uids:
            return
        await self.add_flags(uids, ["\\Deleted"])
        if "UIDPLUS" in self.capabilities:
            await self._command("UID EXPUNGE", uid_ranges(uids))
        else:
            await self._command("EXPUNGE")

    async def append(self, folder: str, raw: bytes, flags: Sequence[str]) -> None:
        await self._command("APPEND", folder_name(folder), f"({' '.join(flags)})", raw)

    # --- waiting

    async def idle(self, seconds: float) -> bool:
        """Wait for news of the open folder; False when there was none in that time."""
        async with self._busy:
            tag = self._tag()
            await self._wire.send(f"{tag} IDLE\r\n".encode())
            first = await self._response()
            if first[:1] != ["+"]:
                raise ImapRefused(f"{self._wire.where} will not IDLE: {_shown(first)}")
            news, until = False, time.monotonic() + seconds
            waiting = asyncio.ensure_future(self._wire.line(seconds + 300))
            try:
                while not news and (left := until - time.monotonic()) > 0:
                    done, _ = await asyncio.wait({waiting}, timeout=left)
                    if not done:
                        break
                    line = waiting.result()
                    news = b"EXISTS" in line or b"RECENT" in line
                    if line.startswith(b"* BYE"):
                        raise ServerUnavailable(f"{self._wire.where} says goodbye")
                    waiting = asyncio.ensure_future(self._wire.line(seconds + 300))
                await self._wire.send(b"DONE\r\n")
                while not (line := await waiting).startswith(tag.encode() + b" "):
                    news = news or b"EXISTS" in line
                    waiting = asyncio.ensure_future(self._wire.line())
            finally:
                waiting.cancel()
            return news

    async def noop(self) -> None:
        await self._command("NOOP")

    # --- inside

    async def _log_in(self, server: ServerSpec, tokens: Tokens | None) -> None:
        login = server.login
        assert login is not None, "a mailbox has a user"
        try:
            if tokens is not None:
                await self._command(
                    "AUTHENTICATE", "XOAUTH2", xoauth2(login.user, await tokens.token())
                )
            elif "LOGINDISABLED" in self.capabilities:
                raise LoginRefused(
                    f"{self._wire.where} takes no password on an open line: use `security:"
                    " starttls`"
                )
            else:
                await self._command("LOGIN", quoted(login.user), quoted(password_of(login)))
        except ImapRefused as error:
            if tokens is not None:
                tokens.forget()
            raise LoginRefused(f"{self._wire.where} does not let {login.user} in") from error

    async def _learn(self) -> None:
        for answer in await self._command("CAPABILITY"):
            if _kind(answer) == "CAPABILITY":
                self.capabilities = frozenset(str(word).upper() for word in answer[2:])

    async def _command(self, name: str, *pieces: Piece) -> list[list[Word]]:
        """Returns the untagged answers; raises ImapRefused when the tagged one is not OK.

        A cancelled command leaves the connection unusable.
        """
        async with self._busy:
            tag = self._tag()
            await self._send(tag, name, pieces)
            answers: list[list[Word]] = []
            while True:
                answer = await self._response()
                if answer[:1] == [tag]:
                    if answer[1:2] != ["OK"]:
                        raise ImapRefused(
                            f"{self._wire.where}: {name} was refused: {_shown(answer[1:])}"
                        )
                    return [*answers, answer]
                if answer[:1] == ["+"] and name == "AUTHENTICATE":
                    await self._wire.send(b"\r\n")  # the server wants to say why it refuses
                elif answer[:2] == ["*", "BYE"]:
                    raise ServerUnavailable(
                        f"{self._wire.where} says goodbye: {_shown(answer[2:])}"
                    )
                else:
                    answers.append(answer)

    async def _send(self, tag: str, name: str, pieces: Sequence[Piece]) -> None:
        line = f"{tag} {name}".encode()
        for piece in pieces:
            if isinstance(piece, str):
                if "\r" in piece or "\n" in piece or "\0" in piece:
                    raise ValueError("a line break cannot be part of an IMAP command")
                line += b" " + piece.encode()
                continue
            await self._wire.send(line + b" {%d}\r\n" % len(piece))
            ready = await self._response()
            while ready[:1] == ["*"]:
                ready = await self._response()
            if ready[:1] != ["+"]:
                raise ImapRefused(f"{self._wire.where}: {name} was refused: {_shown(ready[1:])}")
            line = piece
        await self._wire.send(line + b"\r\n")

    async def _response(self) -> list[Word]:
        pieces = [await self._wire.line()]
        while match := LITERAL.search(pieces[-1]):
            size = int(match[1])
            if size > _LARGEST_LITERAL:
                raise ImapProtocolError(f"{self._wire.where} wants to send {size:,} bytes at once")
            pieces.append(await self._wire.exactly(size))
            pieces.append(await self._wire.line())
        if pieces[0].startswith(b"+"):
            return ["+"]
        return parse_response(pieces)

    def _tag(self) -> str:
        self._number += 1
        return f"d{self._number}"


def _next_width(width: int, uids: Sequence[int]) -> int:
    """Wider while nothing is found, so that gaps between UIDs are crossed quickly."""
    return _WINDOW if uids else min(2 * width, _WIDEST)


def _kind(answer: list[Word]) -> str:
    return str(answer[1]).upper() if len(answer) > 1 and answer[0] == "*" else ""


def _code(answer: list[Word]) -> tuple[str, str] | None:
    """The code in `* OK [UIDNEXT 5]`; what stands in brackets is one atom."""
    if _kind(answer) not in ("OK", "NO") or len(answer) < 3:
        return None
    match = _CODE.match(str(answer[2]))
    return None if match is None else (match[1], match[2] or "")


def _shown(answer: Sequence[Any]) -> str:
    return " ".join(str(word) for word in answer if not isinstance(word, bytes))[:200]


def _flags(words: Any) -> frozenset[str]:
    listed = words if isinstance(words, list) else []
    return frozenset(str(word).lower() for word in listed)


def _moment(text: Any) -> float:
    try:
        return datetime.strptime(str(text).strip(), "%d-%b-%Y %H:%M:%S %z").timestamp()
    except ValueError:
        return datetime.now(UTC).timestamp()
