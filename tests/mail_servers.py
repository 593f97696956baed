"""A real mail server for tests: Dovecot on loopback, and an SMTP server that delivers into its
maildirs."""

import asyncio
import contextlib
import grp
import os
import pwd
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path
from typing import Protocol

from tests.servers import NOBODY, free_port
from tests.waiting import PATIENCE

PASSWORD = "open sesame"
SUPPORT = "support@acme.test"
CUSTOMER = "ann@example.test"
RECEIVER = "mx.acme.test"
_AS_ROOT = os.getuid() == 0
"""Dovecot will not serve logins as root, and becomes nobody."""
MISSING = "Dovecot is not installed (Debian: apt-get install dovecot-imapd)"


def dovecot_program() -> str | None:
    found = shutil.which("dovecot")
    return found or next((path for path in ("/usr/sbin/dovecot",) if Path(path).exists()), None)


class ImapServer(Protocol):
    """A server with mailboxes."""

    port: int
    tls_port: int

    def deliver(self, user: str, raw: bytes) -> None: ...


class Dovecot:
    """A throw-away IMAP server whose users all have the same password; unprivileged, plain or
    with TLS."""

    def __init__(
        self, *users: str, tls: bool = False, tokens: str | None = None, plain: bool = False
    ) -> None:
        """`plain` says that it knows nothing beyond the first IMAP4rev1: no IDLE, MOVE or
        UIDPLUS."""
        program = dovecot_program()
        assert program is not None, MISSING
        self.folder = Path(tempfile.mkdtemp(prefix="deskhand-dovecot-"))
        self.port = free_port()
        self.tls_port = free_port() if tls else 0
        self._delivered = 0
        for name in ("run", "state", "mail", "home"):
            (self.folder / name).mkdir()
        (self.folder / "users").write_text(
            "".join(f"{user}:{{PLAIN}}{PASSWORD}\n" for user in users)
        )
        if tls:
            self._make_certificate()
        more = "protocol imap {\n  imap_capability = IMAP4rev1\n}\n" if plain else ""
        (self.folder / "dovecot.conf").write_text(self._configuration(tls, tokens) + more)
        for user in users:
            for part in ("tmp", "new", "cur"):
                (self.folder / "mail" / user / part).mkdir(parents=True)
        self._command = [program, "-F", "-c", str(self.folder / "dovecot.conf")]
        if _AS_ROOT:
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, NOBODY, NOBODY)
            drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            self._command = [*drop, *self._command]
        self.start()

    @property
    def certificate(self) -> Path:
        return self.folder / "cert.pem"

    def mails(self, user: str, folder: str = "") -> list[EmailMessage]:
        path = self.folder / "mail" / user / (f".{folder.replace('/', '.')}" if folder else "")
        files = [
            file
            for part in ("new", "cur")
            if (path / part).is_dir()
            for file in (path / part).iterdir()
        ]
        reader = BytesParser(policy=policy.default)
        found: list[EmailMessage] = []
        for file in sorted(files):
            with contextlib.suppress(FileNotFoundError):  # moved on while we looked
                found.append(reader.parsebytes(file.read_bytes()))
        return found

    def deliver(self, user: str, raw: bytes, folder: str = "") -> None:
        """Into the user's INBOX or another folder that is there, as a delivery agent does it."""
        self._delivered += 1
        inbox = self.folder / "mail" / user / (f".{folder}" if folder else "")
        name = f"{time.time():.6f}.{os.getpid()}_{self._delivered}.test"
        part = inbox / "tmp" / name
        part.write_bytes(raw)
        if _AS_ROOT:
            os.chown(part, NOBODY, NOBODY)
        part.rename(inbox / "new" / name)

    def age(self, user: str, message_id: str, days: float) -> None:
        """Make a mail one that the server took in so long ago."""
        for file in (self.folder / "mail" / user).glob("*/*test*"):
            if message_id.encode() in file.read_bytes():
                os.utime(file, (time.time() - days * 86400,) * 2)

    def mark_all(self, user: str, flags: str) -> None:
        """Give the mails in a user's INBOX these flags of a maildir, as `RS`."""
        inbox = self.folder / "mail" / user
        for file in list((inbox / "new").iterdir()):
            file.rename(inbox / "cur" / f"{file.name}:2,{flags}")

    def keywords(self, user: str) -> str:
        """Those that Dovecot has names for in a user's INBOX."""
        path = self.folder / "mail" / user / "dovecot-keywords"
        return path.read_text() if path.exists() else ""

    def rebuild(self, user: str) -> None:
        """What a restored backup does: every mail is there, under new numbers and a new
        UIDVALIDITY."""
        self.stop()
        for file in (self.folder / "mail" / user).glob("dovecot*"):
            file.unlink()
        self.start()

    def start(self) -> None:
        self._is_stopped = False
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._wait()

    def stop(self) -> None:
        assert self._is_stopped or self.lives(), self._log()
        self._is_stopped = True
        self._process.terminate()
        self._process.wait(timeout=PATIENCE)

    def lives(self) -> bool:
        return self._process.poll() is None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            assert self._process.poll() is None, self._log()
            assert time.monotonic() < deadline, self._log()
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            time.sleep(0.02)

    def _log(self) -> str:
        path = self.folder / "dovecot.log"
        return path.read_text() if path.exists() else "dovecot did not start"

    def _make_certificate(self) -> None:
        command = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
        ]
        command += [
            "-addext",
            "subjectAltName=DNS:localhost",
            "-keyout",
            str(self.folder / "key.pem"),
        ]
        subprocess.run(
            [*command, "-out", str(self.certificate)],
            check=True,
            capture_output=True,
            timeout=PATIENCE,
        )

    def _configuration(self, tls: bool, tokens: str | None) -> str:
        uid, gid = (NOBODY, NOBODY) if _AS_ROOT else (os.getuid(), os.getgid())
        user, group, here = pwd.getpwuid(uid).pw_name, grp.getgrgid(gid).gr_name, self.folder
        special = "".join(
            f"  mailbox {name} {{\n    auto = subscribe\n    special_use = \\{name}\n  }}\n"
            for name in ("Drafts", "Sent")
        )
        passwords = (
            "passdb {\n driver = passwd-file\n args = scheme=PLAIN username_format=%u"
            f" {here}/users\n}}"
        )
        if tokens is not None:
            (here / "tokens.conf").write_text(
                f"tokeninfo_url = {tokens}\nusername_attribute = email\n"
            )
            passwords = (
                "auth_mechanisms = xoauth2 oauthbearer\npassdb {\n driver = oauth2\n mechanisms ="
                f" xoauth2 oauthbearer\n args = {here}/tokens.conf\n}}"
            )
        security = (
            f"ssl = yes\nssl_cert = <{here}/cert.pem\nssl_key = <{here}/key.pem"
            if tls
            else "ssl = no"
        )
        return f"""
base_dir = {here}/run
state_dir = {here}/state
log_path = {here}/dovecot.log
protocols = imap
listen = 127.0.0.1
{security}
disable_plaintext_auth = no
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
first_valid_uid = 1
first_valid_gid = 1
mail_location = maildir:{here}/mail/%u
mailbox_idle_check_interval = 1 s
mail_fsync = never
service imap-login {{
  chroot =
  inet_listener imap {{
    address = 127.0.0.1
    port = {self.port}
  }}
  inet_listener imaps {{
    address = 127.0.0.1
    port = {self.tls_port}
  }}
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
{passwords}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={here}/home/%u
}}
namespace inbox {{
  inbox = yes
  separator = /
{special}}}
"""


@dataclass
class SmtpServer:
    """Takes mail for known users into their maildirs; may break off a connection after it was
    given a mail."""

    dovecot: ImapServer
    users: frozenset[str]
    drop_every: int = 0
    """Each so-many-th mail's connection breaks off without an answer; every second of these
    mails was delivered."""
    drop_next: bool = False
    busy: int = 0
    """How many connections are turned away."""
    port: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    """Delivered mails by Message-ID and recipient."""
    dropped: int = 0
    refuse: frozenset[str] = frozenset()
    silent: str = ""
    """Where it says nothing more until the other side gives up: `before` the end of a mail or
    `after` it has taken one."""
    slow_for: str = ""
    """Whose mail is delivered only by `deliver_slow_mail`."""
    sessions: list[list[str]] = field(default_factory=list)
    certificate: Path | None = None
    """With it, STARTTLS is offered; or, in `smtp_server(tls=True)`, all is TLS from the first
    byte."""
    talks: list[asyncio.Task[None]] = field(default_factory=list)
    """With each client that has called."""
    _given: int = 0
    _slow: list[tuple[str, bytes]] = field(default_factory=list)

    def deliver_slow_mail(self) -> None:
        """Deliver what was kept back."""
        self.slow_for = ""
        while self._slow:
            self.dovecot.deliver(*self._slow.pop(0))

    def tls(self) -> ssl.SSLContext:
        assert self.certificate is not None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.certificate.with_name("key.pem"))
        return context

    def has_taken(self, count: int) -> bool:
        return len(self.taken) >= count

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session: list[str] = []
        self.sessions.append(session)
        if (talk := asyncio.current_task()) is not None:
            self.talks.append(talk)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await self._talk(reader, writer, session)
        writer.close()

    async def _talk(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, session: list[str]
    ) -> None:
        recipients: list[str] = []

        async def say(line: str) -> None:
            writer.write(line.encode() + b"\r\n")
            await writer.drain()

        if self.busy:
            self.busy -= 1
            await say("421 too busy")
            return
        await say("220 test ready")
        while line := (await reader.readline()).decode().strip():
            session.append(line)
            verb = line.split()[0].upper()
            if verb == "DATA" and self.silent == "before":
                await reader.read()
                return
            await say(self._answer(verb, line, recipients))
            if verb == "STARTTLS":
                await writer.start_tls(self.tls())
            is_over = verb == "QUIT"
            if verb == "DATA":
                is_over = not await self._hears_mail(reader, writer, recipients)
            if is_over:
                return

    async def _hears_mail(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, recipients: list[str]
    ) -> bool:
        """False when the connection is over."""
        raw = await reader.readuntil(b"\r\n.\r\n")
        if not self._take(raw[:-3].replace(b"\r\n..", b"\r\n."), recipients):
            writer.transport.abort()
            return False
        if self.silent == "after":
            await reader.read()
            return False
        writer.write(b"250 2.0.0 taken\r\n")
        await writer.drain()
        return True

    def _answer(self, verb: str, line: str, recipients: list[str]) -> str:
        """What is said to a line; a recipient who may be written to is added."""
        if verb == "EHLO":
            more = "250-STARTTLS\r\n" if self.certificate is not None else ""
            return f"250-test\r\n{more}250-8BITMIME\r\n250 AUTH PLAIN LOGIN XOAUTH2"
        if verb == "RCPT":
            address = line.partition("<")[2].partition(">")[0].lower()
            if address not in self.users or address in self.refuse:
                return "550 5.1.1 no such user"
            recipients.append(address)
        answers = {
            "STARTTLS": "220 go ahead",
            "AUTH": "235 welcome",
            "DATA": "354 go ahead",
            "QUIT": "221 bye",
        }
        return answers.get(verb, "250 ok")

    def _take(self, raw: bytes, recipients: list[str]) -> bool:
        """False when the connection is to break off now."""
        self._given += 1
        drop = self.drop_next or (bool(self.drop_every) and self._given % self.drop_every == 0)
        self.drop_next = False
        self.dropped += drop
        if not drop or self.dropped % 2:
            message_id = str(
                BytesParser(policy=policy.default).parsebytes(raw, headersonly=True)["Message-ID"]
            )
            for user in recipients:
                if user == self.slow_for:
                    self._slow.append((user, raw))
                else:
                    self.dovecot.deliver(user, raw)
                self.taken[f"{message_id} {user}"] += 1
        return not drop


@asynccontextmanager
async def smtp_server(
    dovecot: ImapServer,
    *users: str,
    drop_every: int = 0,
    certificate: Path | None = None,
    tls: bool = False,
) -> AsyncIterator[SmtpServer]:
    smtp = SmtpServer(dovecot, frozenset(users), drop_every, certificate=certificate)
    context = smtp.tls() if tls else None
    server = await asyncio.start_server(smtp.serve, "127.0.0.1", 0, limit=1 << 26, ssl=context)
    smtp.port = int(server.sockets[0].getsockname()[1])
    try:
        yield smtp
    finally:
        server.close()
        await asyncio.gather(*smtp.talks, return_exceptions=True)


def a_mail(
    number: int | str = 1,
    *,
    body: str = "Where is my parcel?",
    proven: bool = False,
    **headers: str,
) -> bytes:
    """From Ann; `proven` by the server that the desk trusts."""
    mail = EmailMessage()
    if proven:
        mail["Authentication-Results"] = f"{RECEIVER}; dkim=pass header.d=example.test"
    mail["From"], mail["To"] = headers.pop("From", f"Ann <{CUSTOMER}>"), SUPPORT
    mail["Subject"], mail["Message-ID"] = (
        headers.pop("Subject", "My parcel"),
        f"<{number}@example.test>",
    )
    mail["Date"] = "Sun, 15 Nov 2026 09:00:00 +0000"
    for name, value in headers.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(body)
    return mail.as_bytes(policy=policy.SMTP)


def a_bounce(message_id: str) -> bytes:
    """A delivery report, as mail servers write them (RFC 3464)."""
    report = f"""\
From: Mail Delivery System <mailer-daemon@example.test>
To: {SUPPORT}
Subject: Undelivered Mail
Message-ID: <bounce-of-{message_id.strip("<>")}>
Date: Sun, 15 Nov 2026 09:00:00 +0000
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b
Content-Type: text/plain

Your message could not be delivered.

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; example.test

Final-Recipient: rfc822; {CUSTOMER}
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 no such user

--b
Content-Type: text/rfc822-headers

From: {SUPPORT}
Message-ID: {message_id}

--b--
"""
    return report.replace("\n", "\r\n").encode()
