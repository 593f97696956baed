"""What every database promises about people who log in."""

import asyncio
from collections import Counter

import pytest

from deskhand.adapters.stores.login_pace import FORGOTTEN
from deskhand.adapters.stores.users import SESSION_SECONDS, SqlUserStore
from deskhand.errors import ConfigError, Conflict, NotFound, TooManyLogins
from deskhand.model.access import DEVICE_SECONDS
from tests.approvals_kit import PASSWORD
from tests.conformance.adapters import Stores


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
    clock.now += FORGOTTEN + 1
    assert await users.log_in("ida", PASSWORD, "there") is not None


async def test_guesses_at_once_are_counted_before_they_are_tried(stores: Stores) -> None:
    users, _ = await people(stores)
    await users.add("ida", PASSWORD, ["*"])
    answers = await asyncio.gather(
        *(users.log_in("ida", f"wrong guess {n}", "there") for n in range(60)),
        return_exceptions=True,
    )
    assert Counter(map(type, answers)) == {type(None): 5, TooManyLogins: 55}


async def test_each_wrong_password_makes_the_next_wait_longer(stores: Stores) -> None:
    users, clock = await people(stores)
    waits: list[float] = []
    for _ in range(8):
        while True:
            try:
                assert await users.log_in("ida", "a wrong guess", "there") is None
                break
            except TooManyLogins as error:
                waits.append(error.retry_after)
                clock.now += error.retry_after
    assert waits == [30, 60, 120]


async def test_a_right_password_does_not_count_as_a_try(stores: Stores) -> None:
    users, _ = await people(stores)
    await users.add("ida", PASSWORD, ["*"])
    for _ in range(30):
        assert await users.log_in("ida", PASSWORD, "here") is not None


async def test_a_device_that_was_logged_in_with_is_not_kept_out_by_strangers(
    stores: Stores,
) -> None:
    users, clock = await people(stores)
    await users.add("ida", PASSWORD, ["*"])
    await users.add("otto", PASSWORD, ["*"])
    secret = await users.log_in("ida", PASSWORD, "here")
    assert secret is not None
    device = await users.device(secret)
    assert device is not None
    for number in range(50):
        assert await users.log_in("ida", "a wrong guess", f"there {number}") is None
    with pytest.raises(TooManyLogins):
        await users.log_in("ida", PASSWORD, "here")
    assert await users.log_in("ida", PASSWORD, "here", device) is not None
    with pytest.raises(TooManyLogins):
        await users.log_in("ida", PASSWORD, "here", device[:-1] + "x")
    for _ in range(10):
        assert await users.log_in("ida", "a wrong guess", "there", device) is None
    with pytest.raises(TooManyLogins):
        await users.log_in("ida", PASSWORD, "there", device)
    clock.now += DEVICE_SECONDS
    assert await users.log_in("otto", "a wrong guess", "here", device) is None
    assert await users.device("x" * 43) is None


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
    assert "$argon2id$" in stored
