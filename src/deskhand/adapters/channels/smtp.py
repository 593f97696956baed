"""Sending one mail (RFC 6409), and knowing afterwards whether it may have left."""

import base64
import contextlib
import re
import socket
from collections.abc import Awaitable, Callable, Sequence

from deskhand.adapters.channels.credentials import Tokens, password_of, xoauth2
from deskhand.adapters.channels.mail_connection import LoginRefused, ServerUnavailable, Wire
from deskhand.config.sections.channels import ServerSpec
from deskhand.crashpoints import crash_point
from deskhand.errors import ToolError

_DATA_WITHIN = 90.0
_MOST_LINES = 200


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
    except (ServerUnavailable, LoginRefused) as error:
        raise ToolError("mail_server", str(error)) from error
    try:
        copied = await smtp.envelope(sender, recipients, copy_to)
        await smtp.begin()
        await smtp.body(raw)
        crash_point("mail.before_data")
        await before_last_line()
    except SmtpRefused as error:
        raise ToolError(
            "mail_refused", f"{smtp.where}: {error}", recoverable=error.code < 500
        ) from error
    except ServerUnavailable as error:
        raise ToolError("mail_server", str(error)) from error
    else:
        return copied if await smtp.accepted() else False
    finally:
        await smtp.close()


class Smtp:
    """One connection for one mail."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._words: dict[str, str] = {}
        self.where = wire.where

    @classmethod
    async def connect(cls, server: ServerSpec, tokens: Tokens | None = None) -> "Smtp":
        """ServerUnavailable or LoginRefused when it cannot be."""
        wire = await Wire.open(server)
        smtp = cls(wire)
        try:
            await smtp._expect(220)
            await smtp._hello()
            if server.security == "starttls":
                await smtp._say("STARTTLS", 220)
                await wire.start_tls()
                await smtp._hello()
            if server.login is not None:
                await smtp._log_in(server, tokens)
        except SmtpRefused as error:
            await wire.close()
            raise ServerUnavailable(f"{wire.where}: {error}") from error
        except BaseException:
            await wire.close()
            raise
        return smtp

    async def envelope(self, sender: str, recipients: Sequence[str], copy_to: str | None) -> bool:
        await self._say(
            f"MAIL FROM:<{_address(sender)}>" + self._parameters(sender, *recipients), 250
        )
        for recipient in recipients:
            await self._say(f"RCPT TO:<{_address(recipient)}>", 250, 251)
        if copy_to is None:
            return False
        with contextlib.suppress(SmtpRefused):
            await self._say(f"RCPT TO:<{_address(copy_to)}>", 250, 251)
            return True
        return False

    async def begin(self) -> None:
        await self._say("DATA", 354)

    async def body(self, raw: bytes) -> None:
        """All but the last line: until that is said, nothing has left."""
        text = re.sub(rb"\r\n|\r|\n", b"\r\n", raw)
        text = re.sub(rb"(?m)^\.", b"..", text)
        await self._wire.send(text if text.endswith(b"\r\n") else text + b"\r\n")

    async def accepted(self) -> bool:
        """Say the last line and hear the answer; ConnectionError when it does not come."""
        try:
            crash_point("mail.after_mark")
            await self._wire.send(b".\r\n")
            crash_point("mail.after_data")
            await self._expect(250, within=_DATA_WITHIN)
            crash_point("mail.after_yes")
        except ServerUnavailable as error:
            raise ConnectionError(f"{error} after it had been given the mail") from error
        except SmtpRefused as error:
            raise ToolError(
                "mail_refused", f"{self.where}: {error}", recoverable=error.code < 500
            ) from error
        return True

    async def close(self) -> None:
        try:
            with contextlib.suppress(ServerUnavailable):
                await self._wire.send(b"QUIT\r\n")
        finally:
            await self._wire.close()

    # --- inside

    def _parameters(self, *addresses: str) -> str:
        foreign = any(not address.isascii() for address in addresses)
        if not foreign:
            return ""
        if "SMTPUTF8" not in self._words:
            raise SmtpRefused(
                553, "an address has letters that this server does not take (no SMTPUTF8)"
            )
        return " SMTPUTF8"

    async def _hello(self) -> None:
        name = re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname()) or "localhost"
        lines = await self._say(f"EHLO {name}", 250)
        self._words = {
            (word := line.partition(" "))[0].upper(): word[2].upper() for line in lines[1:]
        }

    async def _log_in(self, server: ServerSpec, tokens: Tokens | None) -> None:
        login = server.login
        assert login is not None
        ways = self._words.get("AUTH", "").split()
        try:
            if tokens is not None:
                await self._say(f"AUTH XOAUTH2 {xoauth2(login.user, await tokens.token())}", 235)
            elif "PLAIN" in ways or "LOGIN" not in ways:
                word = base64.b64encode(f"\0{login.user}\0{password_of(login)}".encode()).decode()
                await self._say(f"AUTH PLAIN {word}", 235)
            else:
                await self._say("AUTH LOGIN", 334)
                await self._say(base64.b64encode(login.user.encode()).decode(), 334)
                await self._say(base64.b64encode(password_of(login).encode()).decode(), 235)
        except SmtpRefused as error:
            if tokens is not None:
                tokens.forget()
            if error.code < 500 and error.code != 334:
                raise
            raise LoginRefused(
                f"{self.where} does not let {login.user} in ({error.code})"
            ) from error

    async def _say(self, line: str, *good: int) -> list[str]:
        await self._wire.send(line.encode() + b"\r\n")
        return await self._expect(*good)

    async def _expect(self, *good: int, within: float = 60.0) -> list[str]:
        lines: list[str] = []
        for _ in range(_MOST_LINES):
            line = (await self._wire.line(within)).decode("utf-8", "replace").rstrip("\r\n")
            if not re.match(r"\d{3}", line):
                raise ServerUnavailable(f"{self.where}: the server says {line[:80]!r}")
            lines.append(line[4:])
            if line[3:4] != "-":
                code = int(line[:3])
                if code not in good:
                    raise SmtpRefused(code, " ".join(lines)[:300])
                return lines
        raise ServerUnavailable(f"{self.where}: the server's answer does not end")


def _address(address: str) -> str:
    """Raises for line breaks, spaces and brackets: an address must not become a command."""
    if not address or re.search(r"[\s<>\x00-\x1f\x7f]", address) or len(address) > 320:
        raise SmtpRefused(553, "this is not a mail address")
    return address
