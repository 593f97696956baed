"""The inbox desk as the tutorial takes it live: copied, given a mailbox, its drafts approved;
what it learns of it."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from deskhand.engine.story import read_records, story_of
from deskhand.knowledge.exchanges import owner_of
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewState, RunStatus, Verdict
from deskhand.wiring import Desk, exchanges_of, find_desk, open_database
from tests.mail_desk import at_work
from tests.mail_servers import (
    CUSTOMER,
    MISSING,
    PASSWORD,
    SUPPORT,
    Dovecot,
    SmtpServer,
    a_mail,
    dovecot_program,
    smtp_server,
)
from tests.waiting import until

pytestmark = pytest.mark.skipif(dovecot_program() is None, reason=MISSING)

CHANNEL = """
undo_seconds: 0
channels:
  support:
    imap: {{host: localhost, port: {imap}, security: none, user: {user}, password_file: secrets/imap}}
    smtp: {{host: localhost, port: {smtp}, security: none, copy_within: 3}}
    identity: Acme <{user}>
"""  # noqa: E501


@pytest.fixture
def dovecot() -> Iterator[Dovecot]:
    server = Dovecot(SUPPORT, CUSTOMER)
    yield server
    server.remove()


@pytest.fixture
async def smtp(dovecot: Dovecot) -> AsyncIterator[SmtpServer]:
    async with smtp_server(dovecot, SUPPORT, CUSTOMER) as server:
        yield server


def my_desk(folder: Path, dovecot: Dovecot, smtp: SmtpServer) -> Path:
    """What the tutorial says: a copy of the shipped desk and one mailbox in YAML."""
    desk = Path(shutil.copytree(find_desk("inbox"), folder / "my-desk"))
    (desk / "secrets").mkdir()
    (desk / "secrets" / "imap").write_text(f"{PASSWORD}\n")
    written = (desk / "desk.yaml").read_text().replace("mx.acme.example", "mx.acme.test")
    mailbox = CHANNEL.format(imap=dovecot.port, smtp=smtp.port, user=SUPPORT)
    (desk / "desk.yaml").write_text(written + mailbox)
    return desk


async def waiting(desk: Desk) -> Review:
    found: list[Review] = []

    async def there() -> bool:
        found[:] = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
        return bool(found)

    await until(there)
    return found[0]


async def sent(desk: Desk, count: int) -> None:
    async def all_there() -> bool:
        return len(await desk.store.runs(status=RunStatus.SENT)) == count

    await until(all_there)


async def test_a_mailbox_in_yaml_makes_the_inbox_desk_live(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    folder = my_desk(tmp_path, dovecot, smtp)
    async with at_work(folder, str(tmp_path / "desk.db")) as desk:
        dovecot.deliver(
            SUPPORT,
            a_mail(1, body="Dobrý den, jak dlouhá je záruka na židle?", proven=True),
        )
        review = await waiting(desk)
        assert review.reason == "draft mode: a person sends it"
        assert "pět let" in review.payload["reply"]["text"]
        await until(lambda: len(dovecot.mails(SUPPORT, "Drafts")) == 1)
        assert dovecot.mails(CUSTOMER) == []
        await desk.store.decide(
            review.id, Verdict(Decision.APPROVE, "eve", review.version, review.payload_hash)
        )
        await until(lambda: len(dovecot.mails(CUSTOMER)) == 1)
        await sent(desk, 1)
        [run] = await desk.store.runs()
        state = story_of(await read_records(desk.store, run.id))["state"]
        assert (state["classification"], state["selected_tools"]) == (
            "inquiry",
            ["get_contact", "create_draft"],
        )
        assert state["final_response"] == state["draft_response"]
        message = await desk.store.message(run.id)
        assert message is not None
        owner = owner_of(message.principal)
        assert owner is not None

        async def learned() -> bool:
            async with open_database(str(tmp_path / "desk.db")) as database:
                return [
                    one.how for one in await exchanges_of(database, "inbox").of_owner(owner)
                ] == ["approved"]

        await until(learned)
        dovecot.deliver(
            SUPPORT, a_mail(2, body="A mohu kávovar vrátit, když mi nebude vyhovovat?", proven=True)
        )
        again = await waiting(desk)
        later = story_of(await read_records(desk.store, again.run_id))
        assert any("jak dlouhá je záruka" in one for one in later["state"]["context"])
