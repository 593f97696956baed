"""IMAPClient with limits, and with answers kept apart from what a server says unasked.

Everything here blocks: `imap.py` calls it from threads.
"""

import contextlib
import imaplib
import re
import ssl
from collections import defaultdict
from socket import SHUT_RDWR, socket
from typing import Any

from imapclient import IMAPClient, exceptions
from imapclient.imap_utf7 import decode, encode
from imapclient.response_parser import parse_response

from deskhand.adapters.channels.mail_connection import ANSWER_WITHIN, tls_context
from deskhand.config.sections.channels import ServerSpec
from deskhand.errors import RetryableError

_LARGEST_LITERAL = 200_000_000
_LONGEST_LINE = 1 << 20
_BARE_STATUS = re.compile(rb"\w+ (OK|NO|BAD)\r")
_SLOWEST = 50_000
"""Bytes a second that the slowest line takes."""

Fields = dict[bytes, Any]
"""What a server tells of one mail, by name."""


class ImapProtocolError(RetryableError):
    """The server said something that IMAP does not know; the connection is of no use any more."""


class _Connection(imaplib.IMAP4):
    """A connection, plain or with TLS, that knows what it has received and not yet read."""

    _received = b""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext | None) -> None:
        self._tls = tls
        super().__init__(host, port, ANSWER_WITHIN)

    def _create_socket(self, timeout: float | None) -> socket:
        plain: socket = super()._create_socket(timeout)  # type: ignore[misc]
        if self._tls is None:
            return plain
        return self._tls.wrap_socket(plain, server_hostname=self.host)

    def readline(self) -> bytes:
        while b"\n" not in self._received:
            if len(self._received) > _LONGEST_LINE:
                raise ImapProtocolError(f"{self.host}: a line of the server does not end")
            if not self._receive():
                return b""
        line, end, self._received = self._received.partition(b"\n")
        if _BARE_STATUS.fullmatch(line):
            line = line.rstrip() + b" \r"  # imaplib wants a word after it
        return line + end

    def read(self, size: int) -> bytes:
        if size > _LARGEST_LITERAL:
            raise ImapProtocolError(f"{self.host} wants to send {size:,} bytes at once")
        pieces: list[bytes] = []
        while size > 0:
            if not self._received and not self._receive():
                raise self.abort("socket error: EOF within a mail")
            pieces.append(self._received[:size])
            self._received = self._received[size:]
            size -= len(pieces[-1])
        return b"".join(pieces)

    def send(self, data: Any) -> None:
        self.sock.settimeout(ANSWER_WITHIN + len(data) / _SLOWEST)
        self.sock.sendall(data)
        self.sock.settimeout(ANSWER_WITHIN)

    def starttls(self, ssl_context: Any = None) -> Any:
        """Unlike imaplib's, it does not pass over what was said before TLS was up.

        Anybody on the way can have written that.
        """
        typ, data = self._simple_command("STARTTLS")
        if typ == "OK":
            if self._received:
                raise self.abort("the server spoke before TLS was up")
            self.sock = ssl_context.wrap_socket(self.sock, server_hostname=self.host)
            self._get_capabilities()
        return typ, data

    def hear(self) -> None:
        """Read whatever has arrived, without waiting for more."""
        self.sock.settimeout(0)
        try:
            if not self._receive():
                raise self.abort("socket error: EOF")
        except (BlockingIOError, ssl.SSLWantReadError):
            pass
        finally:
            self.sock.settimeout(ANSWER_WITHIN)
        while b"\n" in self._received:
            self._get_response()

    def _receive(self) -> bool:
        """False at the end of the connection."""
        piece = self.sock.recv(1 << 16)
        self._received += piece
        return bool(piece)


class BlockingImap(IMAPClient):  # type: ignore[misc]
    """The commands a mailbox needs; IMAPClient has those that are not here."""

    _imap: Any

    def __init__(self, server: ServerSpec) -> None:
        """Connect; whatever IMAPClient, imaplib and sockets raise passes."""
        tls = None if server.security == "none" else tls_context(server)
        self._tls = tls if server.security == "tls" else None
        super().__init__(server.host, server.port, ssl=self._tls is not None, timeout=ANSWER_WITHIN)
        self._imap.debug = 0  # or the text of every mail is written out for a log nobody reads
        self.folder_encode = False
        try:
            if self._imap.state != "NONAUTH":
                raise exceptions.IMAPClientAbortError(f"it greets with {self.welcome!r:.80}")
            if server.security == "starttls":
                self.starttls(tls)
        except BaseException:
            with contextlib.suppress(OSError):
                self.shutdown()
            raise

    def _create_IMAP4(self) -> _Connection:  # noqa: N802
        return _Connection(self.host, self.port, self._tls)

    def _check_resp(self, expected: str, command: str, typ: str, data: list[bytes]) -> None:
        if typ != expected:
            words = data[0].decode("utf-8", "replace")
            raise exceptions.IMAPClientError(f"{command.upper()} was refused: {typ} {words}")

    def break_off(self) -> None:
        """End the connection under a thread that waits for it."""
        with contextlib.suppress(OSError):
            socket.shutdown(self.socket(), SHUT_RDWR)

    def enter(self, user: str, password: str) -> None:
        if user.isascii() and password.isascii():
            self.login(quoted(user), password)
        else:
            self.plain_login(user, password)

    def enter_with_token(self, words: str) -> None:
        """Whatever is asked after that is answered with nothing: then the server says why not."""
        answers = iter([words])
        self.sasl_login("XOAUTH2", lambda _: next(answers, ""))

    def open_folder(self, folder: bytes) -> Fields:
        """What the server tells of it; one that may only be read is opened for that."""
        try:
            status: Fields = self.select_folder(folder)
        except exceptions.IMAPClientReadOnlyError:
            status = self.select_folder(folder, readonly=True)
        self._look_anew()
        return status

    def folder_names(self) -> list[tuple[str, frozenset[str]]]:
        """Each folder's name, and its flags in lower case."""
        listed = self.list_folders()
        return [(_folder_name(name), lowered(flags)) for flags, _, name in listed]

    def newest_uid(self) -> int:
        """The highest UID in the open folder; 0 while it is empty.

        A look for new mail begins with it: what is said of arrivals from here on is news.
        """
        self._look_anew()
        return max(self.search_uids("UID *:*"), default=0)

    def search_uids(self, criteria: str) -> list[int]:
        words = self._answers("SEARCH", criteria)
        if any(isinstance(word, bytes) for word in words):
            raise ImapProtocolError(f"{self.host} answers SEARCH with {words!r:.200}")
        return sorted(word for word in words if isinstance(word, int))

    def fetch_fields(self, uids: str, items: str) -> dict[int, Fields]:
        """What the server tells of each mail, by UID; several answers may tell of one."""
        fields_by_uid: dict[int, Fields] = defaultdict(dict)
        for answer in self._answers("FETCH", uids, f"(UID {items})")[1::2]:
            named = zip(answer[::2], answer[1::2], strict=False)
            fields = {name.upper(): value for name, value in named}
            uid = fields.get(b"UID")
            if isinstance(uid, int):  # else it is news of some mail, by its place in the folder
                fields_by_uid[uid] |= fields
        return fields_by_uid

    def _answers(self, command: str, *words: str) -> list[Any]:
        """The untagged answers to a UID command as tokens, and nothing that was said before."""
        self._forget()
        typ, data = self._imap.uid(command, *words)
        self._checkok(command, typ, data)
        return list(parse_response(data))

    def _forget(self) -> None:
        """Drop what the server said unasked, but not that a mail has arrived."""
        for name in set(self._imap.untagged_responses) - {"BYE", "READ-ONLY", "EXISTS"}:
            del self._imap.untagged_responses[name]

    def _look_anew(self) -> None:
        """What was said of arrivals so far is no news."""
        self._imap.untagged_responses.pop("EXISTS", None)

    # --- IDLE

    def begin_idle(self) -> bool:
        """True when there is news already."""
        self._forget()
        self._idle_tag = tag = self._imap._command("IDLE")
        while self._imap._get_response():
            if self._imap.tagged_commands[tag]:
                self._check_resp("+", "IDLE", *self._imap.tagged_commands.pop(tag))
        return self.hear_news()

    def hear_news(self) -> bool:
        """Whether a mail has arrived, as far as the server has said."""
        self._imap.hear()
        return "EXISTS" in self._imap.untagged_responses

    def end_idle(self) -> bool:
        self._imap.send(b"DONE\r\n")
        self._checkok("IDLE", *self._imap._command_complete("IDLE", self._idle_tag))
        return "EXISTS" in self._imap.untagged_responses


def quoted(text: str) -> str:
    """An argument in quotes; ValueError for what cannot stand in them."""
    if not re.fullmatch(r"[\x20-\x7e]*", text):
        raise ValueError("no line break and no foreign letter can be looked for")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def lowered(flags: Any) -> frozenset[str]:
    named = [flag for flag in flags or () if isinstance(flag, bytes)]
    return frozenset(flag.decode("utf-8", "replace").lower() for flag in named)


def _folder_name(raw: Any) -> str:
    if not isinstance(raw, bytes):
        return str(raw)  # IMAPClient takes 2026 for a number
    try:
        name = str(decode(raw))
    except ValueError:
        name = ""
    return name if encode(name) == raw else raw.decode("utf-8", "replace")
