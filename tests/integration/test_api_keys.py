"""Keys: shown once, kept as digests, told apart by their names."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deskhand.adapters.stores.api_keys import SqlKeyStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.errors import ConfigError, Conflict, NotFound
from deskhand.model.access import Scope
from deskhand.ports import ApiKeys
from deskhand.wiring import Database, api_keys, open_database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(str(tmp_path / "deskhand.db")) as opened:
        yield opened


@pytest.fixture
def keys(database: Database) -> SqlKeyStore:
    return api_keys(database)


async def test_a_key_is_found_by_its_secret_alone(keys: ApiKeys) -> None:
    key, secret = await keys.add("shop-backend", ["messages:write", "runs:read"], ["shop", "bank"])
    other, _ = await keys.add("other", ["runs:read"], ["*"])
    assert await keys.find(secret) == key
    assert key.scopes == {Scope.MESSAGES_WRITE, Scope.RUNS_READ}
    assert (key.may(Scope.RUNS_READ), key.may(Scope.RUNS_WRITE)) == (True, False)
    assert (key.touches("shop"), key.touches("sho"), other.touches("sho")) == (True, False, True)
    number = key.id.removeprefix("key_")
    assert secret.startswith(f"dh_{number}_")
    for wrong in (
        "",
        secret[:-1],
        secret + "0",
        secret.upper(),
        key.id,
        secret.replace(number, "0" * 20),
        "é" * 40,
    ):
        assert await keys.find(wrong) is None


async def test_the_database_does_not_hold_the_secret(keys: ApiKeys, database: Database) -> None:
    _, secret = await keys.add("shop-backend", ["runs:read"], ["shop"])
    assert isinstance(database, SqliteDatabase)
    await database.checkpoint()
    stored = database.path.read_bytes()
    assert b"shop-backend" in stored
    assert secret.rsplit("_", 1)[1].encode() not in stored


async def test_a_revoked_key_is_listed_and_opens_nothing(keys: ApiKeys) -> None:
    key, secret = await keys.add("shop-backend", ["runs:read"], ["shop"])
    revoked = await keys.revoke(key.id)
    assert revoked.revoked_at is not None
    assert await keys.revoke(key.id) == revoked
    assert await keys.find(secret) is None
    assert list(await keys.list()) == [revoked]
    with pytest.raises(NotFound):
        await keys.revoke("key_x")


async def test_a_name_belongs_to_one_key_at_a_time(keys: ApiKeys) -> None:
    first, _ = await keys.add("Ida", ["runs:read"], ["*"])
    with pytest.raises(Conflict, match="revoke it"):
        await keys.add("Ida", ["runs:read"], ["*"])
    await keys.revoke(first.id)
    second, _ = await keys.add("Ida", ["runs:read"], ["*"])
    assert [key.id for key in await keys.list()] == [first.id, second.id]


@pytest.mark.parametrize(
    ("name", "scopes", "desks"),
    [
        ("", ["runs:read"], ["*"]),
        ("two\nlines", ["runs:read"], ["*"]),
        ("x" * 101, ["runs:read"], ["*"]),
        ("x", [], ["*"]),
        ("x", ["runs:rea"], ["*"]),
        ("x", ["runs:read"], []),
        ("x", ["runs:read"], ["two words"]),
    ],
)
async def test_a_key_that_makes_no_sense_is_refused_with_what_to_write(
    keys: ApiKeys, name: str, scopes: list[str], desks: list[str]
) -> None:
    with pytest.raises(ConfigError, match="fix:"):
        await keys.add(name, scopes, desks)
    assert not await keys.list()


async def test_a_scope_that_this_version_does_not_know_gives_nothing(
    keys: ApiKeys, database: Database
) -> None:
    _, secret = await keys.add("newer", ["runs:read"], ["*"])
    await database.write_core(
        lambda core: core.exec_driver_sql(
            "UPDATE api_keys SET scopes = 'runs:read moon:land'"
        ).close()
    )
    found = await keys.find(secret)
    assert found is not None
    assert found.scopes == {Scope.RUNS_READ}
