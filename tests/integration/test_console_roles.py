"""Who may do what: every route of the console asks for a role, and every action is written down."""

import re
from collections.abc import AsyncIterator, Iterator
from hashlib import scrypt
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.rows import pack
from deskhand.model.access import Role
from deskhand.web.console.actions import role_for
from deskhand.web.console.session import NEEDS
from deskhand.wiring import console_actions, user_accounts
from tests.api_kit import Client, Served, served
from tests.approvals_kit import PASSWORD, Person, person, words_of

OPEN = {"/login", "/approvals/login", "/setup", "/static/{name}", "/rate/{desk}/{ticket}/{secret}"}
"""What is answered without a session."""
ACTIONS = ("approve", "reject", "note", "assign", "retry", "close", "rights", "take", "undo")


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, "shop", "bank", approvals=True) as running:
        yield running


def console_routes(shop: Served) -> Iterator[tuple[str, str, Route]]:
    """Method, path and route of all that the console answers to people who are logged in."""
    mounted = next(route for route in shop.app.routes if getattr(route, "path", "") == "/approvals")
    console = mounted.endpoint.app  # type: ignore[attr-defined]
    for route in console.routes:
        leads_inside = route.path.count("/") == 1 and not hasattr(route.endpoint, NEEDS)
        if route.path in OPEN or leads_inside:
            continue
        for method in sorted(route.methods - {"HEAD"}):
            yield method, route.path, route


async def test_each_role_reaches_exactly_the_routes_that_ask_for_no_more(shop: Served) -> None:
    accounts = user_accounts(shop.database)
    people: dict[Role, Person] = {}
    for role in Role:
        await accounts.add(role.value, PASSWORD, ["*"], role=role)
        people[role] = Person(shop)
        assert (await people[role].log_in(role.value)).status_code == 303
    seen = 0
    for method, path, route in console_routes(shop):
        needs = getattr(route.endpoint, NEEDS)
        for action in ACTIONS if "{action}" in path else ("",):
            filled = re.sub(r"\{(?!action)[a-z_]+(:path)?\}", "nothing", path)
            filled = filled.replace("{action}", action)
            for role, who in people.items():
                if filled in ("/logout", "/events"):
                    continue
                asked = (
                    who.get(filled)
                    if method == "GET"
                    else who.post(filled, data={"csrf": who.csrf})
                )
                answer = await asked
                needed = needs if isinstance(needs, Role) else needs(_Asked(method, action))
                may = role.covers(needed)
                assert (answer.status_code != 403) == may, (method, filled, role)
                assert answer.status_code < 500, (method, filled, role)
                if may and "{desk}" in path:  # a desk that one may not touch does not exist
                    assert answer.status_code == 404, (method, filled, role)
                seen += 1
            if method == "POST" and filled != "/logout":
                forged = await people[Role.ADMIN].post(filled, data={"csrf": "guessed"})
                assert forged.status_code == 403, filled
    assert seen > 80


class _Asked:
    """As much of a request as tells which role it needs."""

    def __init__(self, method: str, action: str) -> None:
        self.method = method
        self.path_params = {"action": action}


async def test_every_action_is_written_down_with_who_and_from_where(shop: Served) -> None:
    ida = await person(shop, "ida")
    await ida.post("/preferences", data={"csrf": ida.csrf, "theme": "dark"})
    await ida.post("/desk/users", data={"csrf": ida.csrf, "name": "eve"})
    log = console_actions(shop.database)
    rows = [(row.who, row.method, row.path, row.status) for row in await log.list()]
    assert rows == [
        ("ida", "POST", "/desk/users", 403),
        ("ida", "POST", "/preferences", 303),
        ("ida", "POST", "/login", 303),
    ]
    assert await log.first_changed() is None
    forged = t.console_actions.update().where(t.console_actions.c.number == 2).values(who="eve")
    await shop.database.write_core(lambda core: core.execute(forged).close())
    assert await log.first_changed() == 2


async def test_the_first_person_comes_in_by_a_link_that_works_once(shop: Served) -> None:
    accounts = user_accounts(shop.database)
    token = await accounts.setup_link()
    assert token is not None
    new = Person(shop)
    assert "Who are you?" in (await new.get(f"/setup?token={token}")).text
    assert (await new.get("/setup?token=guessed")).status_code == 404
    form = {"token": token, "name": "ida", "password": PASSWORD, "again": PASSWORD}
    assert (await new.post("/setup", data={**form, "again": "x"})).status_code == 422
    made = await new.post("/setup", data=form)
    assert made.headers["location"] == "/setup/steps"
    page = words_of((await new.get("/setup/steps")).text)
    assert "Hand a sample in" in page
    assert "No mailbox yet" in page
    assert [(user.name, user.role) for user in await accounts.list()] == [("ida", Role.ADMIN)]
    again = await Person(shop).post("/setup", data={**form, "name": "eve"})
    assert again.status_code == 404
    assert await accounts.setup_link() is None


async def test_an_admin_keeps_users_and_somebody_is_always_left_who_can(shop: Served) -> None:
    await user_accounts(shop.database).add("ada", PASSWORD, ["*"], role=Role.ADMIN)
    ada = Person(shop)
    await ada.log_in("ada")
    form = {"csrf": ada.csrf, "name": "tom", "role": "agent", "desks": "shop", "limit": "50 EUR"}
    shown = words_of((await ada.post("/desk/users", data=form)).text)
    password = re.search(r"tom: (\S+)", shown)
    assert password is not None
    tom = Person(shop)
    assert (await tom.log_in("tom", password[1])).status_code == 303
    rights = {"csrf": ada.csrf, "role": "viewer", "limit": ""}
    await ada.post("/desk/users/tom/rights", data=rights)
    assert (await tom.get("/approvals/")).status_code in (303, 307)
    wrong = await ada.post("/desk/users", data={**form, "name": "eve", "limit": "much"})
    assert wrong.status_code == 409
    assert (await ada.post("/desk/users/ada/remove", data={"csrf": ada.csrf})).status_code == 409


async def test_a_password_of_an_earlier_version_is_read_once_and_exchanged(shop: Served) -> None:
    accounts = user_accounts(shop.database)
    await accounts.add("ida", PASSWORD, ["*"])
    salt = bytes(16)
    digest = scrypt(PASSWORD.encode(), salt=salt, n=2**10, r=8, p=1, dklen=32)
    old = f"scrypt$10$8$1${salt.hex()}${digest.hex()}"
    values = t.users.update().values(password=old)
    await shop.database.write_core(lambda core: core.execute(values).close())
    assert await accounts.log_in("ida", "wrong password", "here") is None
    assert await accounts.log_in("ida", PASSWORD, "here") is not None
    stored = await shop.database.read_core(
        lambda core: core.execute(t.users.select()).one().password
    )
    assert stored.startswith("$argon2id$")
    assert await accounts.log_in("ida", PASSWORD, "here") is not None


async def test_nobody_decides_what_his_own_address_asked_for(shop: Served) -> None:
    api: Client = await shop.client(desks=["shop"])
    review = await api.under_review(subject="My order")
    message = (await shop.desks["shop"].store.messages([review["run"]]))[review["run"]]
    accounts = user_accounts(shop.database)
    await accounts.add("ida", PASSWORD, ["*"], mail=message.writer.address)
    ida = Person(shop)
    await ida.log_in("ida")
    refused = await ida.do(review, "approve")
    assert refused.status_code == 409
    assert "ida asked for this; somebody else must decide it" in words_of(refused.text)
    tom = await person(shop, "tom")
    assert (await tom.do(review, "approve")).status_code == 303


async def held_payment(shop: Served, amount: str) -> dict[str, Any]:
    """A review of a call that moves so much, as the gate writes it down."""
    api: Client = await shop.client(desks=["shop"])
    review = await api.under_review(subject=f"Pay {amount}")
    payload = pack({**review["payload"], "moves": [amount]})
    this = t.reviews.c.id == review["review"]
    change = t.reviews.update().where(this).values(payload=payload)
    await shop.database.write_core(lambda core: core.execute(change).close())
    return review


async def test_nobody_lets_more_move_than_his_limit_on_the_page_or_over_the_api(
    shop: Served,
) -> None:
    large, small = await held_payment(shop, "60 EUR"), await held_payment(shop, "40 EUR")
    dollars = await held_payment(shop, "1 USD")
    await user_accounts(shop.database).add("ida", PASSWORD, ["*"], limit="50 EUR")
    ida = Person(shop)
    await ida.log_in("ida")
    words = "60 EUR is above the limit of ida, 50 EUR; a colleague with a higher one must decide it"

    refused = await ida.do(large, "approve")
    assert (refused.status_code, words in words_of(refused.text)) == (409, True)
    assert (await ida.do(dollars, "approve")).status_code == 409, "nobody can tell how much it is"
    assert (await ida.do(small, "approve")).status_code == 303
    as_ida = await shop.client(name="Ida")
    decision = {"decision": "approve", "version": 1, "payload_hash": large["payload_hash"]}
    path = f"/api/reviews/{large['review']}/decision"
    over_api = await as_ida.post(path, json=decision)
    assert (over_api.status_code, over_api.json()["detail"]) == (409, words)
    assert (await ida.do(large, "reject", note="no")).status_code == 303, "refusing moves nothing"


async def test_what_is_done_with_a_key_is_written_down_with_where_it_came_from(
    shop: Served,
) -> None:
    client = await shop.client(name="backend", desks=["shop"])
    review = await client.under_review()
    decision = {"decision": "approve", "version": 1, "payload_hash": review["payload_hash"]}
    path = f"/api/reviews/{review['review']}/decision"
    assert (await client.post(path, json=decision)).status_code == 200
    assert (await client.post(path, json=decision)).status_code == 409
    stranger = await shop.client(name="stranger", desks=["bank"])
    assert (await stranger.post(path, json=decision)).status_code == 404

    log = console_actions(shop.database)
    rows = [(row.who, row.client, row.path, row.status) for row in await log.list()]
    assert rows == [
        ("key stranger", "127.0.0.1", path, 404),
        ("key backend", "127.0.0.1", path, 409),
        ("key backend", "127.0.0.1", path, 200),
    ], "and neither the message nor what was only read"
    assert await log.first_changed() is None


def test_what_decides_needs_more_than_what_prepares() -> None:
    assert role_for("approve") is Role.APPROVER
    assert role_for("undo") is Role.APPROVER
    assert role_for("note") is Role.AGENT
    assert Role.ADMIN.covers(Role.APPROVER)
    assert not Role.VIEWER.covers(Role.AGENT)
