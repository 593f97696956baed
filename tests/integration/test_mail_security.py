"""Lines that others cannot read, and logins with tokens: on a real Dovecot with a certificate of
its own."""

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskhand.model.run import RunStatus
from deskhand.wiring import check_channels, read_desk
from tests.fake_gmail import fake_gmail
from tests.forked import run_command
from tests.mail_desk import at_work, write_desk
from tests.mail_servers import (
    CUSTOMER,
    MISSING,
    SUPPORT,
    Dovecot,
    a_mail,
    dovecot_program,
    smtp_server,
)
from tests.waiting import until

pytestmark = pytest.mark.skipif(dovecot_program() is None, reason=MISSING)


@pytest.fixture
def dovecot() -> Iterator[Dovecot]:
    server = Dovecot(SUPPORT, CUSTOMER, tls=True)
    yield server
    server.remove()


@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_mail_goes_in_and_out_over_lines_that_others_cannot_read(
    tmp_path: Path, dovecot: Dovecot, security: str
) -> None:
    async with smtp_server(
        dovecot, SUPPORT, CUSTOMER, certificate=dovecot.certificate, tls=security == "tls"
    ) as smtp:
        trust = f"ca_file: {dovecot.certificate}"
        folder = write_desk(
            tmp_path, dovecot, smtp, security=security, imap_more=trust, smtp_more=trust
        )
        async with at_work(folder) as desk:
            dovecot.deliver(SUPPORT, a_mail(1))

            async def sent() -> bool:
                return bool(await desk.store.runs(status=RunStatus.SENT))

            await until(sent)
        assert len(dovecot.mails(CUSTOMER)) == 1
        assert any("STARTTLS" in line for line in smtp.sessions[-1]) == (security == "starttls")


async def test_a_certificate_nobody_vouches_for_is_refused(
    tmp_path: Path, dovecot: Dovecot
) -> None:
    async with smtp_server(dovecot, SUPPORT, certificate=dovecot.certificate) as smtp:
        for security in ("tls", "starttls"):
            folder = write_desk(tmp_path, dovecot, smtp, security=security)
            found = (await check_channels(read_desk(str(folder)).spec))["support"]
            assert "TLS failed" in str(found)
            assert "`ca_file`" in str(getattr(found, "fix", ""))
        assert not smtp.sessions


async def test_a_port_without_tls_is_told_with_the_key_to_set(
    tmp_path: Path, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with smtp_server(dovecot, SUPPORT, certificate=dovecot.certificate) as smtp:
        desk = write_desk(tmp_path, dovecot, smtp, security="tls") / "desk.yaml"
        desk.write_text(desk.read_text().replace(str(dovecot.tls_port), str(dovecot.port)))
        monkeypatch.chdir(tmp_path)
        done = await asyncio.to_thread(run_command, "doctor", str(desk.parent), "--port", "0")
        said = done.stdout
    assert "TLS failed" in said
    assert "fix: port" in said
    assert "`security: starttls`" in said


async def test_a_mailbox_is_opened_with_an_access_token(tmp_path: Path) -> None:
    async with fake_gmail() as provider:
        dovecot = Dovecot(SUPPORT, CUSTOMER, tokens=f"{provider.url}/tokeninfo?access_token=")
        try:
            async with smtp_server(dovecot, SUPPORT, CUSTOMER) as smtp:
                oauth = (
                    f"oauth: {{token_url: {provider.url}/token, client_id: a, client_secret_file:"
                    " secrets/client, refresh_token_file: secrets/refresh}"
                )
                folder = write_desk(tmp_path, dovecot, smtp, secret=oauth)
                (folder / "secrets" / "client").write_text("client-secret")
                (folder / "secrets" / "refresh").write_text("refresh-1")
                found = await check_channels(read_desk(str(folder)).spec)
                assert found == {"support": "localhost reads INBOX; localhost takes replies"}
                word = next(
                    line for line in smtp.sessions[0] if line.startswith("AUTH XOAUTH2 ")
                ).split()[2]
                assert (
                    base64.b64decode(word)
                    == f"user={SUPPORT}\x01auth=Bearer access-0\x01\x01".encode()
                )
                (folder / "secrets" / "refresh").write_text("a stolen one")
                refused = str((await check_channels(read_desk(str(folder)).spec))["support"])
                assert refused == f"{provider.url}/token gave no token: invalid_grant"
        finally:
            dovecot.remove()
