"""What every database promises about people who log in."""

import pytest

from deskhand.adapters.stores.users import SESSION_SECONDS, WINDOW, SqlUserStore
from deskhand.errors import ConfigError, Conflict, NotFound, TooManyLogins
from tests.approvals_kit import PASSWORD, make_passwords_cheap
from tests.conformance.adapters import Stores


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    make_passwords_cheap(monkeypatch)


class Clock:
    now = 1_800_000_000.0


async def people(stores: Stores) -> tuple[SqlUserStore, Clock]:
    clock = Clock()
    return SqlUserStore((await stores())._database, lambda: clock.now), clock


async def test_a_session_lasts_until_it_is_left_unused_or_ended(stores: Stores) -> None:
    users, clock = await people(stores)
    await users.add("ida", PASSWORD, ["shop", "bank"])
    secret = await users.log_in("ida", PASSWORD, "10.0.0.1")
    assert secret is not None
    session = await users.session(secret)
    assert session is not None
    assert (session.user.name, session.user.desks, len(session.csrf) > 30) == (
        "ida",
        ("shop", "bank"),
        True,
    )
    for _ in range(5):  # used again and again
        clock.now += SESSION_SECONDS / 6
        assert await users.session(secret) is not None
    clock.now += SESSION_SECONDS / 4
    assert await users.session(secret) is None
    idle = await users.log_in("ida", PASSWORD, "10.0.0.1")
    assert idle is not None
    clock.now += SESSION_SECONDS / 2
    assert await users.session(idle) is None
    third = await users.log_in("ida", PASSWORD, "10.0.0.1")
    assert third is not None
    await users.log_out(third)
    assert await users.session(third) is None
    assert await users.session("x" * 43) is None
    assert await users.session("nonsense") is None


async def test_a_new_password_or_a_removal_ends_all_sessions(stores: Stores) -> None:
    users, _ = await people(stores)
    await users.add("ida", PASSWORD, ["*"])
    first = await users.log_in("ida", PASSWORD, "here")
    assert first is not None
    await users.set_password("ida", "another good one")
    assert await users.session(first) is None
    assert await users.log_in("ida", PASSWORD, "here") is None
    second = await users.log_in("ida", "another good one", "here")
    assert second is not None
    assert (await users.remove("ida")).removed_at is not None
    assert await users.session(second) is None
    assert await users.log_in("ida", "another good one", "here") is None
    with pytest.raises(Conflict, match="already"):
        await users.add("IDA", PASSWORD, ["*"])
    with pytest.raises(NotFound):
        await users.remove("otto")


async def test_many_wrong_guesses_are_stopped_for_a_while(stores: Stores) -> None:
    users, clock = await people(stores)
    await users.add("ida", PASSWORD, ["*"])
    for _ in range(5):
        assert await users.log_in("ida", "a wrong guess", "there") is None
    with pytest.raises(TooManyLogins):
        await users.log_in("Ida ", PASSWORD, "there")
    assert await users.log_in("ida", PASSWORD, "elsewhere") is not None
    for number in range(15):
        assert await users.log_in(f"name {number}", "a wrong guess", "there") is None
    with pytest.raises(TooManyLogins):
        await users.log_in("otto", "a wrong guess", "there")
    clock.now += WINDOW + 1
    assert await users.log_in("ida", PASSWORD, "there") is not None


@pytest.mark.parametrize(
    ("name", "password", "desks"),
    [
        ("", PASSWORD, ["*"]),
        ("a\nb", PASSWORD, ["*"]),
        ("ida", "short", ["*"]),
        ("ida", PASSWORD, []),
        ("ida ", PASSWORD, ["*"]),
    ],
)
async def test_what_cannot_be_an_account_is_said(
    stores: Stores, name: str, password: str, desks: list[str]
) -> None:
    users, _ = await people(stores)
    with pytest.raises(ConfigError):
        await users.add(name, password, desks)
    assert list(await users.list()) == []


async def test_neither_passwords_nor_secrets_are_stored(stores: Stores) -> None:
    users, _ = await people(stores)
    await users.add("ida", PASSWORD, ["*"])
    secret = await users.log_in("ida", PASSWORD, "here")
    assert secret is not None
    stored = await users._database.read_core(
        lambda core: str(
            [
                *core.exec_driver_sql("SELECT * FROM users"),
                *core.exec_driver_sql("SELECT * FROM sessions"),
            ]
        )
    )
    assert PASSWORD not in stored
    assert secret not in stored
    assert "scrypt$" in stored
