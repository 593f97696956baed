"""Mail in and out while processes die and connections break: every mail is answered, once."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.mail_storm import storm
from tests.mail_servers import MISSING, dovecot_program
from tests.servers import new_database, postgres_programs

pytestmark = pytest.mark.skipif(dovecot_program() is None, reason=MISSING)


def all_well(count: int) -> dict[str, int]:
    return {
        "runs": count,
        "sent": count,
        "answers": count,
        "doubled": 0,
        "lost": 0,
        "decided": count // 2,
    }


def well(came: dict[str, int | float], count: int) -> bool:
    assert {name: came.get(name) for name in all_well(count)} == all_well(count), came
    assert not [name for name in came if name.startswith("broken")], came
    return True


@pytest.mark.timeout(1500)
@pytest.mark.slow
async def test_sixty_mails_approvals_and_three_kills(tmp_path: Path) -> None:
    came = await storm(tmp_path, 60, kills=3, within=600)
    assert came["dropped"] >= 6
    assert well(came, 60)


@pytest.mark.skipif(postgres_programs() is None, reason="PostgreSQL's server is not installed")
@pytest.mark.slow
async def test_two_workers_share_a_mailbox_and_one_reads_it_after_the_other(tmp_path: Path) -> None:
    url = await asyncio.to_thread(new_database)
    came = await storm(tmp_path, 10, kills=1, within=300, postgres=url)
    assert well(came, 10)


@pytest.mark.chaos
@pytest.mark.timeout(7500)
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
async def test_a_thousand_mails_approvals_and_ten_kills(tmp_path: Path, database: str) -> None:
    if database == "postgres" and postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed")
    url = await asyncio.to_thread(new_database) if database == "postgres" else None
    came = await storm(tmp_path, 1000, kills=10, within=3600, postgres=url)
    print(came)
    assert came["dropped"] >= 100
    assert well(came, 1000)
