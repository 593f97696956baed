"""Mail in and out while processes die and connections break: every mail is answered, once."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.mail_storm import storm
from tests.mail_servers import MISSING, dovecot_program
from tests.servers import new_database, postgres_programs

pytestmark = pytest.mark.skipif(dovecot_program() is None, reason=MISSING)


def all_well(count: int) -> dict[str, int]:
    return {"runs": count, "sent": count, "answers": count, "doubled": 0, "lost": 0}


async def test_thirty_mails_and_two_kills(tmp_path: Path) -> None:
    came = await storm(tmp_path, 30, kills=2, within=300)
    assert came["dropped"] >= 3
    assert {name: came[name] for name in all_well(30)} == all_well(30)


@pytest.mark.skipif(postgres_programs() is None, reason="PostgreSQL's server is not installed")
async def test_two_workers_share_a_mailbox_and_one_reads_it_after_the_other(tmp_path: Path) -> None:
    url = await asyncio.to_thread(new_database)
    came = await storm(tmp_path, 10, kills=1, within=300, postgres=url)
    assert {name: came[name] for name in all_well(10)} == all_well(10)


@pytest.mark.chaos
async def test_five_hundred_mails_and_two_kills(tmp_path: Path) -> None:
    came = await storm(tmp_path, 500, kills=2, within=1800)
    print(came)
    assert came["dropped"] >= 50
    assert {name: came[name] for name in all_well(500)} == all_well(500)
