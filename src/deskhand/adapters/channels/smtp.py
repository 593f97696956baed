"""Sending one mail (RFC 6409), and knowing afterwards whether it may have left."""

import asyncio
import contextlib
import re
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from aiosmtplib import (
    SMTP,
    SMTPException,
    SMTPResponseException,
    SMTPServerDisconnected,
    SMTPTimeoutError,
)

from deskhand.adapters.channels.credentials import Tokens, password_of
from deskhand.adapters.channels.mail_connection import (
    ANSWER_WITHIN,
    MailLoginRefused,
    ServerUnavailable,
    TlsFailed,
    tls_context,
)
from deskhand.config.sections.channels import ServerSpec
from deskhand.crashpoints import crash_point
from deskhand.errors import ToolError

_DATA_WITHIN = 90.0
_SLOWEST = 50_000
"""Bytes a second that the slowest line takes."""


class SmtpRefused(Exception):
    """The server answered with a code that means no."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code} {text}")
        self.code = code


async def submit(
    server: ServerSpec,
    tokens: Tokens | None,
    sender: str,
    recipients: Sequence[str],
    copy_to: str | None,
    raw: bytes,
    before_last_line: Callable[[], Awaitable[None]],
) -> bool:
    """Hand the mail over for the recipients; True when the copy was taken, too.

    A ToolError says that it did not leave. An OSError says that nobody knows: the line broke after
    the last byte. What `before_last_line` raises passes through, and nothing has left.
    """
    try:
        smtp = await Smtp.connect(server, tokens)
    except (ServerUnavailable, MailLoginRefused) as error:
        raise ToolError("mail_server", str(error)) from error
    try:
        copied = await smtp.envelope(sender, recipients, copy_to)
        await smtp.body(raw)
        crash_point("mail.before_data")
        await before_last_line()
        await smtp.last_line()
        return copied
    except SmtpRefused as error:
        raise ToolError(
            "mail_refused", f"{smtp.where}: {error}", recoverable=error.code < 500
        ) from error
    except ServerUnavailable as error:
        raise ToolError("mail_server", str(error)) from error
    finally:
        await smtp.close()


class Smtp:
    """One connection for one mail."""

    def __init__(self, server: ServerSpec) -> None:
        self.where = f"{server.host}:{server.port}"
        self._server = server
        self._client = SMTP(
            hostname=server.host,
            port=server.port,
            timeout=ANSWER_WITHIN,
            local_hostname=re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname()) or "localhost",
            use_tls=server.security == "tls",
            start_tls=server.security == "starttls",
            tls_context=None if server.security == "none" else tls_context(server),
        )

    @classmethod
    async def connect(cls, server: ServerSpec, tokens: Tokens | None = None) -> "Smtp":
        """ServerUnavailable or LoginRefused when it cannot be."""
        smtp = cls(server)
        try:
            async with smtp._faults():
                await smtp._client.connect()
                await smtp._client.ehlo()
                await smtp._log_in(tokens)
        except SmtpRefused as error:
            smtp._client.close()
            raise ServerUnavailable(f"{smtp.where}: {error}") from error
        except BaseException:
            smtp._client.close()
            raise
        return smtp

    async def envelope(self, sender: str, recipients: Sequence[str], copy_to: str | None) -> bool:
        await self._say(f"MAIL FROM:<{_address(sender)}>{self._more(sender, *recipients)}", 250)
        for recipient in recipients:
            await self._say(f"RCPT TO:<{_address(recipient)}>", 250, 251)
        if copy_to is None:
            return False
        with contextlib.suppress(SmtpRefused):
            await self._say(f"RCPT TO:<{_address(copy_to)}>", 250, 251)
            return True
        return False

    async def body(self, raw: bytes) -> None:
        """DATA and all but the last line: until that is said, nothing has left."""
        await self._say("DATA", 354)
        text = re.sub(rb"(?m)^\.", b"..", re.sub(rb"\r\n|\r|\n", b"\r\n", raw))
        async with self._faults():
            protocol, transport = self._client.protocol, self._client.transport
            if protocol is None or not isinstance(transport, asyncio.WriteTransport):
                raise SMTPServerDisconnected("within a mail")
            transport.set_write_buffer_limits(0)
            protocol.write(text if text.endswith(b"\r\n") else text + b"\r\n")
            async with asyncio.timeout(ANSWER_WITHIN + len(text) / _SLOWEST):
                await protocol._drain_helper()
            if not protocol.is_connected:
                raise SMTPServerDisconnected("within a mail")

    async def last_line(self) -> None:
        """Say it and hear the answer; ConnectionError when that does not come."""
        protocol = self._client.protocol
        crash_point("mail.after_mark")
        try:
            async with self._faults():
                if protocol is None:
                    raise SMTPServerDisconnected("within a mail")
                protocol.write(b".\r\n")
                crash_point("mail.after_data")
                code, words = await protocol.read_response(timeout=_DATA_WITHIN)
        except ServerUnavailable as error:
            raise ConnectionError(f"{error} after it had been given the mail") from error
        if code != 250:
            raise SmtpRefused(code, words[:300])
        crash_point("mail.after_yes")

    async def close(self) -> None:
        """With a goodbye that is not waited for: within a mail it is no more than its text."""
        if self._client.protocol is not None:
            with contextlib.suppress(SMTPException):
                self._client.protocol.write(b"QUIT\r\n")
        self._client.close()

    # --- inside

    def _more(self, *addresses: str) -> str:
        if all(address.isascii() for address in addresses):
            return ""
        if not self._client.supports_extension("SMTPUTF8"):
            raise SmtpRefused(
                553, "an address has letters that this server does not take (no SMTPUTF8)"
            )
        return " SMTPUTF8"

    async def _log_in(self, tokens: Tokens | None) -> None:
        login, client = self._server.login, self._client
        if login is None:
            return
        ways = client.server_auth_methods
        only_login = "login" in ways and "plain" not in ways
        try:
            if tokens is not None:
                await client.auth_xoauth2(login.user, await tokens.token())
            elif only_login:
                await client.auth_login(login.user, password_of(login))
            else:
                await client.auth_plain(login.user, password_of(login))
        except SMTPResponseException as error:
            if tokens is not None:
                tokens.forget()
            if 0 < error.code < 500 and error.code != 334:
                raise
            words = f"{self.where} does not let {login.user} in ({error.code})"
            raise MailLoginRefused(words) from error

    async def _say(self, line: str, *good: int) -> None:
        async with self._faults():
            code, words = await self._client.execute_command(line.encode())
        if code not in good:
            raise SmtpRefused(code, words[:300])

    @asynccontextmanager
    async def _faults(self) -> AsyncIterator[None]:
        """ServerUnavailable or SmtpRefused for whatever goes wrong on the line."""
        try:
            yield
        except SMTPResponseException as error:
            if error.code < 0:
                words = f"{self.where}: the server says {error.message[:120]!r}"
                raise ServerUnavailable(words) from error
            raise SmtpRefused(error.code, error.message[:300]) from error
        except ssl.SSLError as error:
            raise TlsFailed(self._server, error) from error
        except (SMTPException, OSError, TimeoutError) as error:
            if isinstance(error.__cause__, ssl.SSLError):
                raise TlsFailed(self._server, error.__cause__) from error
            raise ServerUnavailable(f"{self.where} {_words(error)}") from error


def _words(error: Exception) -> str:
    if isinstance(error, SMTPTimeoutError | TimeoutError):
        return "did not answer in time"
    if isinstance(error, SMTPServerDisconnected):
        return f"hung up: {error}"
    return f"cannot be reached: {error.__cause__ or error}"


def _address(address: str) -> str:
    """Raises for line breaks, spaces and brackets: an address must not become a command."""
    if not address or re.search(r"[\s<>\x00-\x1f\x7f]", address) or len(address) > 320:
        raise SmtpRefused(553, "this is not a mail address")
    return address
