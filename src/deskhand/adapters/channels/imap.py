"""An IMAP connection: the dozen commands a mailbox needs, each in a thread of its own."""

import asyncio
import contextlib
import imaplib
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from imapclient.imap_utf7 import encode

from deskhand.adapters.channels.credentials import Tokens, password_of, xoauth2
from deskhand.adapters.channels.imap_client import (
    BlockingImap,
    Fields,
    ImapProtocolError,
    lowered,
    quoted,
)
from deskhand.adapters.channels.mail_connection import (
    ANSWER_WITHIN,
    MailLoginRefused,
    ServerUnavailable,
    TlsFailed,
)
from deskhand.config.sections.channels import ServerSpec
from deskhand.errors import DeskhandError

T = TypeVar("T")

_WINDOW = 2_000
"""UIDs asked for at once: a server answers a search on one line, which has its limits."""
_WIDEST = 64_000


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

    def __init__(self, server: ServerSpec) -> None:
        self._server = server
        self._where = f"{server.host}:{server.port}"
        self._client: Any = None
        self._turn = asyncio.Lock()
        self._works = self._is_over = False
        self.capabilities: frozenset[str] = frozenset()

    @classmethod
    async def connect(cls, server: ServerSpec, tokens: Tokens | None = None) -> "Imap":
        """Raises ServerUnavailable, LoginRefused or ImapProtocolError."""
        imap = cls(server)
        try:
            await imap._call(imap._open)
            await imap._log_in(tokens)
        except BaseException:
            await imap.close()
            raise
        return imap

    async def close(self) -> None:
        """At once; what a thread still waits for ends with the connection."""
        self._is_over = True
        if self._works and self._client is not None:
            self._client.break_off()
        else:
            self._shut()

    # --- folders

    async def folders(self) -> list[Folder]:
        return [Folder(*named) for named in await self._call(BlockingImap.folder_names)]

    async def make_folder(self, name: str) -> None:
        """Nothing happens when it is there already."""
        if name not in {folder.name for folder in await self.folders()}:
            await self._call(BlockingImap.create_folder, encode(name))

    async def select(self, folder: str) -> Selected:
        status = await self._call(BlockingImap.open_folder, encode(folder))
        if not status.get(b"UIDVALIDITY"):
            raise ImapProtocolError(f"{self._where}: {folder} opens without UIDVALIDITY")
        next_uid = status.get(b"UIDNEXT") or await self._next_uid(folder)
        return Selected(
            status[b"UIDVALIDITY"], next_uid, b"\\*" in status.get(b"PERMANENTFLAGS", ())
        )

    async def _next_uid(self, folder: str) -> int:
        """What some servers do not say when they open a folder."""
        try:
            status = await self._call(BlockingImap.folder_status, encode(folder), ["UIDNEXT"])
            return int(status[b"UIDNEXT"])
        except (ImapRefused, ImapProtocolError, KeyError):
            return await self.newest_uid() + 1

    # --- mails

    async def search(self, *criteria: str) -> list[int]:
        """UIDs, lowest first; ValueError for a criterion that would be a command of its own."""
        words = " ".join(criteria)
        if not words.isascii() or not words.isprintable():
            raise ValueError("a line break cannot be part of an IMAP command")
        return await self._call(BlockingImap.search_uids, words)

    async def newest_uid(self) -> int:
        """The highest UID in the open folder; 0 while it is empty."""
        return await self._call(BlockingImap.newest_uid)

    async def search_up(self, first: int, *criteria: str) -> AsyncIterator[list[int]]:
        """UIDs from `first` on, lowest first, some thousand at a time."""
        last, width = await self.newest_uid(), _WINDOW
        while first <= last:
            end = min(first + width - 1, last)
            uids = await self.search(f"UID {first}:{end}", *criteria)
            if uids:
                yield uids
            width = _next_width(width, uids)
            first = end + 1

    async def search_down(self, last: int, *criteria: str) -> AsyncIterator[list[int]]:
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
        part = "[HEADER]" if headers_only else f"[]<0.{most}>"
        mails = await self._fetch(uids, f"BODY.PEEK{part}")
        missing = set(uids) - {mail.uid for mail in mails}
        if missing:  # Exchange has mails that it shows only to whoever reads them
            mails += await self._fetch(sorted(missing), f"BODY{part}")
        return sorted(mails)

    async def _fetch(self, uids: Sequence[int], part: str) -> list[Fetched]:
        fields_by_uid = await self._fields(uids, f"FLAGS INTERNALDATE {part}")
        mails = [_mail(uid, fields) for uid, fields in fields_by_uid.items()]
        return [mail for mail in mails if mail is not None]

    async def sizes(self, uids: Sequence[int]) -> dict[int, int]:
        """How many bytes each mail has, by UID."""
        fields_by_uid = await self._fields(uids, "RFC822.SIZE")
        sizes = {uid: fields.get(b"RFC822.SIZE") for uid, fields in fields_by_uid.items()}
        return {uid: size for uid, size in sizes.items() if isinstance(size, int)}

    async def _fields(self, uids: Sequence[int], items: str) -> dict[int, Fields]:
        """What the server tells of these mails and of no others."""
        if not uids:
            return {}
        fields_by_uid = await self._call(BlockingImap.fetch_fields, uid_ranges(uids), items)
        return {uid: fields_by_uid[uid] for uid in uids if uid in fields_by_uid}

    async def add_flags(self, uids: Sequence[int], flags: Sequence[str]) -> None:
        if uids:
            await self._call(BlockingImap.add_flags, uid_ranges(uids), flags, True)

    async def remove_flags(self, uids: Sequence[int], flags: Sequence[str]) -> None:
        if uids:
            await self._call(BlockingImap.remove_flags, uid_ranges(uids), flags, True)

    async def move(self, uids: Sequence[int], folder: str) -> None:
        if uids and "MOVE" in self.capabilities:
            await self._call(BlockingImap.move, uid_ranges(uids), encode(folder))
        elif uids:
            await self._call(BlockingImap.copy, uid_ranges(uids), encode(folder))
            await self.delete(uids)

    async def delete(self, uids: Sequence[int]) -> None:
        if uids:
            await self.add_flags(uids, ["\\Deleted"])
            named = uid_ranges(uids) if "UIDPLUS" in self.capabilities else None
            await self._call(BlockingImap.expunge, named)

    async def append(self, folder: str, raw: bytes, flags: Sequence[str]) -> None:
        await self._call(BlockingImap.append, encode(folder), raw, flags)

    # --- waiting

    async def idle(self, seconds: float) -> bool:
        """Wait for news of the open folder since `newest_uid`; False when none came in that time.

        No thread waits: the loop says when the server has spoken.
        """
        until = time.monotonic() + seconds
        news = await self._call(BlockingImap.begin_idle)
        while not news and (left := until - time.monotonic()) > 0:
            if not await _is_readable(self._client.socket().fileno(), left):
                break
            news = await self._call(BlockingImap.hear_news)
        return await self._call(BlockingImap.end_idle) or news

    async def noop(self) -> None:
        await self._call(BlockingImap.noop)

    # --- inside

    def _open(self, _: None) -> None:
        try:
            self._client = BlockingImap(self._server)
        except ssl.SSLError as error:
            raise TlsFailed(self._server, error) from error

    async def _log_in(self, tokens: Tokens | None) -> None:
        login = self._server.login
        assert login is not None, "a mailbox has a user"
        try:
            if tokens is not None:
                words = xoauth2(login.user, await tokens.token())
                await self._call(BlockingImap.enter_with_token, words)
            elif b"LOGINDISABLED" in await self._call(BlockingImap.capabilities):
                raise MailLoginRefused(
                    f"{self._where} takes no password on an open line: use `security: starttls`"
                )
            else:
                await self._call(BlockingImap.enter, login.user, password_of(login))
        except ImapRefused as error:
            if tokens is not None:
                tokens.forget()
            raise MailLoginRefused(f"{self._where} does not let {login.user} in") from error
        listed = await self._call(BlockingImap.capabilities)
        self.capabilities = frozenset(word.decode("ascii", "replace") for word in listed)

    async def _call(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do blocking work in a thread; a cancelled command ends the connection.

        Raises ServerUnavailable, ImapRefused or ImapProtocolError.
        """
        async with self._turn:
            if self._is_over:
                raise ServerUnavailable(f"{self._where}: the connection is over")
            self._works = True
            try:
                return await _in_thread(lambda: self._work(work, *arguments))
            except asyncio.CancelledError:
                await self.close()
                raise
            except DeskhandError:
                raise
            except Exception as error:
                raise self._fault(error) from error

    def _work(self, work: Callable[..., T], *arguments: Any) -> T:
        try:
            return work(self._client, *arguments)
        finally:
            self._works = False
            if self._is_over:
                self._shut()

    def _shut(self) -> None:
        if self._client is not None:
            with contextlib.suppress(OSError):
                self._client.shutdown()

    def _fault(self, error: Exception) -> Exception:
        match error:
            case TimeoutError():
                words = f"{self._where} did not answer within {ANSWER_WITHIN:g} s"
                return ServerUnavailable(words)
            case OSError() if self._client is None:
                return ServerUnavailable(f"{self._where} cannot be reached: {error}")
            case OSError() | imaplib.IMAP4.abort():
                return ServerUnavailable(f"{self._where} hung up: {error}")
            case imaplib.IMAP4.error():
                return ImapRefused(f"{self._where}: {error}")
        return ImapProtocolError(f"{self._where} cannot be understood: {error}")


async def _in_thread(work: Callable[[], T]) -> T:
    """A thread of its own, and one that no exit waits for: a server may never answer."""
    done: Future[T] = Future()

    def run() -> None:
        done.set_running_or_notify_cancel()
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, name="imap", daemon=True).start()
    return await asyncio.wrap_future(done)


async def _is_readable(descriptor: int, within: float) -> bool:
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        async with asyncio.timeout(within):
            return await readable.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(descriptor)


def _mail(uid: int, fields: Fields) -> Fetched | None:
    bodies = [value for name, value in fields.items() if name.startswith(b"BODY[")]
    if not bodies:
        return None
    body = b"" if bodies[0] is None else bodies[0]
    return Fetched(uid, body, _moment(fields.get(b"INTERNALDATE")), lowered(fields.get(b"FLAGS")))


def _moment(text: Any) -> float:
    try:
        words = text.decode("ascii").strip()
        return datetime.strptime(words, "%d-%b-%Y %H:%M:%S %z").timestamp()
    except (AttributeError, ValueError):
        return datetime.now(UTC).timestamp()


def _next_width(width: int, uids: Sequence[int]) -> int:
    """Wider while nothing is found, so that gaps between UIDs are crossed quickly."""
    return _WINDOW if uids else min(2 * width, _WIDEST)


def uid_ranges(uids: Sequence[int]) -> str:
    """`1:3,7` for 1, 2, 3, 7: a command's line has its limits."""
    ranges: list[list[int]] = []
    for uid in sorted(set(uids)):
        if ranges and ranges[-1][-1] == uid - 1:
            ranges[-1] = [ranges[-1][0], uid]
        else:
            ranges.append([uid])
    return ",".join(":".join(map(str, ends)) for ends in ranges)
