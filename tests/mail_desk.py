"""A small desk that answers mail, and waiting for what comes of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import dedent

from deskhand.wiring import Desk, open_database, open_desk, read_desk
from tests.automatic import automatic
from tests.mail_servers import PASSWORD, SUPPORT, ImapServer, SmtpServer
from tests.waiting import until

DESK = """
desk: mails
brain: {{scripted: brain.yaml}}
undo_seconds: {undo}
mail: {{trusted_servers: [mx.acme.test]}}
{more}
channels:
  support:
    imap: {{host: localhost, port: {imap}, security: {security}, user: {user}{secret}{imap_more}}}
    smtp: {{host: localhost, port: {smtp}, security: {security}, copy_within: 3{smtp_more}}}
    identity: Acme Support <{user}>
    signature: |
      Acme
flows:
  answer:
    stages:
      draft: {{task: draft, next: dispatch}}
      dispatch: {{service: dispatch}}
"""
BRAIN = """
rules:
  - answer: {text: It is on its way., language: en}
"""


def write_desk(
    folder: Path,
    dovecot: ImapServer,
    smtp: SmtpServer,
    *,
    undo: float = 0,
    more: str = "",
    imap_more: str = "",
    smtp_more: str = "",
    security: str = "none",
    secret: str = "password_file: secrets/imap",
) -> Path:
    desk = folder / "desk"
    (desk / "secrets").mkdir(parents=True, exist_ok=True)
    (desk / "secrets" / "imap").write_text(PASSWORD + "\n")
    (desk / "brain.yaml").write_text(dedent(BRAIN))
    (desk / "desk.yaml").write_text(
        DESK.format(
            imap=dovecot.tls_port if security == "tls" else dovecot.port,
            security=security,
            secret=f", {secret}",
            smtp=smtp.port,
            user=SUPPORT,
            undo=undo,
            more=automatic(more),
            imap_more=imap_more and f", {imap_more}",
            smtp_more=smtp_more and f", {smtp_more}",
        )
    )
    return desk


@asynccontextmanager
async def at_work(desk: Path, database: str | None = None) -> AsyncIterator[Desk]:
    """The desk, reading its mailbox; ready once it has seen what is there."""
    url = database or str(desk.parent / "desk.db")
    async with (
        open_database(url) as opened,
        open_desk(
            read_desk(str(desk)), opened, outbox=desk.parent / "outbox", listen=True
        ) as working,
    ):
        await until(lambda: all(keeper.health.state == "connected" for keeper in working.channels))
        yield working


@asynccontextmanager
async def refused(desk: Path, database: Path) -> AsyncIterator[Desk]:
    """The same desk on another database, once it has found the claim of the first."""
    async with (
        open_database(str(database)) as opened,
        open_desk(
            read_desk(str(desk)), opened, outbox=desk.parent / "outbox", listen=True
        ) as working,
    ):
        (runner,) = working.channels
        await until(lambda: "another installation" in runner.health.detail)
        yield working
