"""Connections to mail servers: checked TLS, time limits, and no secret in any error."""

import asyncio
import ssl
from pathlib import Path

from deskhand.config.sections.channels import ServerSpec
from deskhand.errors import ConfigError, RetryableError

ANSWER_WITHIN = 60.0
_BUFFER = 1 << 20
"""Bytes in the longest line that is read."""


class ServerUnavailable(RetryableError):
    """The mail server cannot be reached, hung up or did not answer in time."""

    fix: str | None = None
    """What to change in desk.yaml, where that would help."""


class TlsFailed(ServerUnavailable):
    """The line could not be encrypted, or the server is not who it should be."""

    def __init__(self, server: ServerSpec, error: Exception) -> None:
        reason = getattr(error, "verify_message", "") or getattr(error, "reason", "") or error
        where = f"{server.host}:{server.port}"
        super().__init__(f"{where}: TLS failed: {str(reason) or 'no answer in time'}")
        self.fix = _tls_fix(server, error)


class LoginRefused(RetryableError):
    """The mail server refuses the login; the secret's file may hold another one next time."""


class Wire:
    """Lines and bytes both ways; every fault is a ServerUnavailable that names the server."""

    def __init__(
        self, server: ServerSpec, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._server, self._reader, self._writer = server, reader, writer
        self.where = f"{server.host}:{server.port}"

    @classmethod
    async def open(cls, server: ServerSpec) -> "Wire":
        context = _tls(server) if server.security == "tls" else None
        where = f"{server.host}:{server.port}"
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                reader, writer = await asyncio.open_connection(
                    server.host,
                    server.port,
                    ssl=context,
                    limit=_BUFFER,
                    server_hostname=server.host if context else None,
                )
        except ssl.SSLError as error:
            raise TlsFailed(server, error) from error
        except (OSError, TimeoutError) as error:
            raise ServerUnavailable(
                f"{where} cannot be reached: {str(error) or 'no answer in time'}"
            ) from error
        return cls(server, reader, writer)

    async def start_tls(self) -> None:
        """Switch to TLS; raises where the server spoke before: a stranger may have written that."""
        if self._reader._buffer:  # type: ignore[attr-defined]
            raise ServerUnavailable(f"{self.where}: the server spoke before TLS was up")
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                await self._writer.start_tls(_tls(self._server), server_hostname=self._server.host)
        except (OSError, TimeoutError) as error:
            raise TlsFailed(self._server, error) from error

    async def line(self, within: float = ANSWER_WITHIN) -> bytes:
        try:
            async with asyncio.timeout(within):
                line = await self._reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            raise ServerUnavailable(f"{self.where}: a line of the server does not end") from error
        except asyncio.IncompleteReadError as error:
            raise ServerUnavailable(f"{self.where} hung up") from error
        except TimeoutError as error:
            raise ServerUnavailable(f"{self.where} did not answer within {within:g} s") from error
        except OSError as error:
            raise ServerUnavailable(f"{self.where}: {error}") from error
        return line

    async def exactly(self, count: int) -> bytes:
        try:
            async with asyncio.timeout(ANSWER_WITHIN + count / 50_000):
                return await self._reader.readexactly(count)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise ServerUnavailable(f"{self.where} broke off within a mail") from error

    async def send(self, data: bytes) -> None:
        try:
            async with asyncio.timeout(ANSWER_WITHIN + len(data) / 50_000):
                self._writer.write(data)
                await self._writer.drain()
        except (OSError, TimeoutError) as error:
            raise ServerUnavailable(f"{self.where}: {str(error) or 'takes no data'}") from error

    async def close(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(1):
                await self._writer.wait_closed()
        except (OSError, TimeoutError):
            pass
        except asyncio.CancelledError:
            # An earlier close that was cancelled leaves this behind; a cancellation of our own
            # must pass, or a task that is to end goes on and whoever stops it waits for ever.
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise


_UNKNOWN_ISSUER = (18, 19, 20, 21)
_EXPIRED, _OTHER_HOST = 10, 62
"""OpenSSL's numbers for what is wrong with a certificate."""


def _tls_fix(server: ServerSpec, error: Exception) -> str | None:
    """The key of desk.yaml that most likely mends it."""
    code = getattr(error, "verify_code", None)
    if code in _UNKNOWN_ISSUER:
        return (
            "its certificate is signed by nobody this machine knows: set `ca_file` beside `host`"
            " to the PEM file of your own authority"
        )
    if code == _OTHER_HOST:
        return f"its certificate is for another name: set `host` to that name, not {server.host}"
    if code == _EXPIRED:
        return "its certificate has expired: renew it on the server"
    if isinstance(error, ssl.SSLError) and code is None and server.security == "tls":
        return (
            f"port {server.port} does not begin with TLS: set `security: starttls`, or `port` to"
            " the one for TLS (993 for IMAP, 465 for SMTP)"
        )
    return None


def _tls(server: ServerSpec) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(
            cafile=None if server.ca_file is None else str(server.ca_file)
        )
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            f"the certificates in {server.ca_file} cannot be read: {error}",
            fix="name a PEM file with `ca_file`",
        ) from None


def read_secret(path: Path) -> str:
    """The first line of a secret's file; what it holds never appears in an error."""
    try:
        secret = path.read_text(encoding="utf-8").partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigError(
            f"the secret cannot be read: {why}", file=path, fix="write it into this file"
        ) from None
    if not secret:
        raise ConfigError(
            "the file is empty", file=path, fix="write the secret into its first line"
        )
    return secret
