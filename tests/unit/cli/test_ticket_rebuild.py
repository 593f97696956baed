"""`deskhand tickets rebuild` where active tickets lie in a Redis that others use too."""

import asyncio
import shutil
from pathlib import Path

import pytest

from deskhand.wiring.tickets import ACTIVE_TICKETS
from tests.cli_kit import SAMPLES, Cli
from tests.servers import redis

pytest.importorskip("redis", reason="the extra `redis` is not installed")

from redis.asyncio import Redis

pytestmark = pytest.mark.skipif(
    shutil.which("redis-server") is None, reason="Redis is not installed"
)


async def write(url: str, key: str, value: str | None) -> None:
    async with Redis.from_url(url) as raw:
        if value is None:
            await raw.delete(key)
        else:
            await raw.set(key, value)


def test_another_programs_key_is_named_and_the_exit_code_says_so(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, prefix = redis().url, tmp_path.name
    monkeypatch.setenv(ACTIVE_TICKETS, f"{url}?prefix={prefix}")
    cli("init", "shop")
    cli("run", SAMPLES / "spam.eml", "--desk", "shop", "--live", "--json")
    cli("tickets", "open", "CUST-777", "Swordfish")
    assert cli("tickets", "rebuild").code == 0
    key = f"{prefix}.customers:shop:ZZ"

    asyncio.run(write(url, key, "theirs"))
    rebuilt = cli("tickets", "rebuild")

    assert rebuilt.code == 1
    assert "1 tickets: 0 active, 1 archived" in rebuilt.out
    assert f"left alone: the key {key} belongs to another program" in rebuilt.out
    assert "choose another prefix" in rebuilt.out.splitlines()[-1]
    assert cli("tickets", "rebuild", "--json").json["foreign"] == [key]
    asyncio.run(write(url, key, None))
    assert cli("tickets", "rebuild").code == 0
