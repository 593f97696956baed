"""Logging in with an OpenID provider: the whole way of a browser, and what liars try."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from deskhand.adapters import openid
from deskhand.adapters.stores import openid_logins as begun_logins
from deskhand.errors import ConfigError
from deskhand.model.access import Admission, Role
from deskhand.ports.login import SingleSignOn
from deskhand.wiring import (
    Database,
    console_actions,
    openid_logins,
    openid_provider,
    user_accounts,
)
from tests.api_kit import Served, served
from tests.approvals_kit import PASSWORD, Person, words_of
from tests.openid_server import (
    CLIENT,
    PUBLIC,
    SECRET,
    Key,
    OpenIdServer,
    openid_server,
    signed_by_a_key_it_brings,
    signed_by_a_stranger,
    signed_with_the_public_key,
    tampered,
    unsigned,
)

ANN = {"email": "Ann@Acme.example", "email_verified": True}
TIMES = ("exp", "iat", "nbf")
VIEWERS = Admission({}, Role.VIEWER, ("shop",))
NOBODY = Admission({}, None, ("*",))
GROUPS = Admission({"leads": Role.ADMIN, "support": Role.AGENT}, None, ("*",))


@pytest.fixture
async def server() -> AsyncIterator[OpenIdServer]:
    async with openid_server(person=dict(ANN)) as running:
        yield running


def single(
    server: OpenIdServer, admission: Admission, **settings: Any
) -> Callable[[Database], SingleSignOn]:
    passwords = settings.pop("passwords", True)

    def built(database: Database) -> SingleSignOn:
        said = {"client": CLIENT, "secret": SECRET, "name": "Acme", "public_url": PUBLIC}
        provider = openid_provider(issuer=server.url, **{**said, **settings})
        return SingleSignOn(provider, openid_logins(database), admission, passwords)

    return built


@asynccontextmanager
async def shop_with(
    folder: Path, server: OpenIdServer, admission: Admission = VIEWERS, **settings: Any
) -> AsyncIterator[Served]:
    built = single(server, admission, **settings)
    async with served(folder, approvals=True, public_url=PUBLIC, single=built) as shop:
        yield shop


async def begun(person: Person, to: str = "/tickets/") -> str:
    """Where a browser goes that wants to log in."""
    answer = await person.get("/login/oidc", params={"to": to})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


async def come_back(place: str) -> str:
    """Log in at the provider; where it sends the browser."""
    async with httpx.AsyncClient() as browser:
        answer = await browser.get(place)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


async def logged_in(person: Person, to: str = "/tickets/") -> httpx.Response:
    return await person.get(await come_back(await begun(person, to)))


async def is_in(person: Person) -> bool:
    return (await person.get("/approvals/")).status_code == 200


async def test_somebody_logs_in_with_the_provider_and_out_again(
    tmp_path: Path, server: OpenIdServer
) -> None:
    async with shop_with(tmp_path, server) as shop:
        person = Person(shop)
        page = await person.get("/login?to=/tickets/")
        assert "Log in with Acme" in words_of(page.text)
        assert 'href="/login/oidc?to=/tickets/"' in page.text
        place = await begun(person)
        asked = parse_qs(urlsplit(place).query)
        assert {"state", "nonce", "code_challenge"} <= asked.keys()
        cookie = person.cookies.jar
        assert [(kept.name, kept.path) for kept in cookie] == [("deskhand_login", "/login/oidc")]
        back = await person.get(await come_back(place))
        assert back.status_code == 200
        assert 'content="0;url=/tickets/"' in back.text
        kept = back.headers.get_list("set-cookie")
        [session] = [line for line in kept if line.startswith("deskhand_session=")]
        assert "HttpOnly" in session
        assert "samesite=strict" in session.lower()
        assert await is_in(person)
        [user] = await user_accounts(shop.database).list()
        assert (user.name, user.role, user.desks) == ("ann@acme.example", Role.VIEWER, ("shop",))
        [row] = await console_actions(shop.database).list()
        assert (row.who, row.path, row.status) == ("ann@acme.example", "/login/oidc/callback", 303)

        csrf = (await person.get("/approvals/")).text.partition('name="csrf" value="')[2]
        out = await person.post("/logout", data={"csrf": csrf.partition('"')[0]})
        page = await person.get(out.headers["location"])
        assert "Log out of Acme too" in words_of(page.text)
        assert f"{server.url}/logout?client_id={CLIENT}" in page.text
        assert not await is_in(person)


async def test_the_same_person_comes_back_to_the_same_account(
    tmp_path: Path, server: OpenIdServer
) -> None:
    async with shop_with(tmp_path, server) as shop:
        await logged_in(Person(shop))
        server.person = {"email": "ann.smith@acme.example", "email_verified": True}
        second = Person(shop)
        await logged_in(second)
        assert await is_in(second)
        assert len(await user_accounts(shop.database).list()) == 1

        server.person = {"sub": "another", **ANN}  # her earlier address, given to somebody else
        other = Person(shop)
        refused = await logged_in(other)
        assert refused.status_code == 403
        assert "belongs to another account" in words_of(refused.text)
        assert not await is_in(other)


async def test_an_account_that_is_there_is_known_by_its_verified_address(
    tmp_path: Path, server: OpenIdServer
) -> None:
    async with shop_with(tmp_path, server, NOBODY) as shop:
        accounts = user_accounts(shop.database)
        await accounts.add("ann", PASSWORD, ["*"], role=Role.ADMIN, mail="ann@acme.example")
        person = Person(shop)
        await logged_in(person)
        assert await is_in(person)
        assert (await person.get("/desk/users")).status_code == 200  # still an admin
        await accounts.remove("ann")
        gone = await logged_in(Person(shop))
        assert "your account was removed" in words_of(gone.text)


@pytest.mark.parametrize(
    ("person", "words"),
    [
        ({"email": "ann@acme.example"}, "does not say that your address is verified"),
        ({**ANN, "email_verified": False}, "does not say that your address is verified"),
        ({}, "does not say that your address is verified"),
        ({**ANN, "email": "ann\n@acme.example"}, "does not say that your address is verified"),
        ({**ANN, "email": "ann'--@acme.example"}, "cannot be the name of an account"),
    ],
)
async def test_who_cannot_be_told_apart_gets_no_account(
    tmp_path: Path, server: OpenIdServer, person: dict[str, Any], words: str
) -> None:
    server.person = person
    async with shop_with(tmp_path, server) as shop:
        refused = await logged_in(Person(shop))
        assert refused.status_code == 403
        assert words in words_of(refused.text)
        assert await user_accounts(shop.database).list() == []


async def test_an_address_that_is_not_verified_opens_nobodys_account(
    tmp_path: Path, server: OpenIdServer
) -> None:
    server.person = {"email": "ann@acme.example", "email_verified": False}
    async with shop_with(tmp_path, server, trusts_addresses=True) as shop:
        await user_accounts(shop.database).add("ann@acme.example", PASSWORD, ["*"], role="admin")
        person = Person(shop)
        assert (await logged_in(person)).status_code == 403
        assert not await is_in(person)


async def test_an_operator_may_believe_addresses_that_the_provider_says_nothing_about(
    tmp_path: Path, server: OpenIdServer
) -> None:
    server.person = {"email": "ann@acme.example"}
    async with shop_with(tmp_path, server, trusts_addresses=True) as shop:
        person = Person(shop)
        await logged_in(person)
        assert await is_in(person)


async def test_unknown_people_are_refused_unless_a_setting_lets_them_look(
    tmp_path: Path, server: OpenIdServer
) -> None:
    async with shop_with(tmp_path, server, NOBODY) as shop:
        refused = await logged_in(Person(shop))
        assert refused.status_code == 403
        assert "nobody has made an account for you yet" in words_of(refused.text)
        assert await user_accounts(shop.database).list() == []


async def test_groups_say_the_role_at_every_login(tmp_path: Path, server: OpenIdServer) -> None:
    async with shop_with(tmp_path, server, GROUPS) as shop:
        accounts = user_accounts(shop.database)
        await accounts.add("root", PASSWORD, ["*"], role=Role.ADMIN)
        expected = [
            (["support", "leads", "x"], Role.ADMIN),
            (["support"], Role.AGENT),
            ("leads", Role.ADMIN),
        ]
        for groups, role in expected:
            server.person = {**ANN, "groups": groups}
            await logged_in(Person(shop))
            [ann] = [user for user in await accounts.list() if user.name != "root"]
            assert ann.role is role
        for nothing in ([], ["x"], None, 5, {"leads": 1}):
            server.person = {**ANN, "groups": nothing}
            refused = await logged_in(Person(shop))
            assert "none of your groups" in words_of(refused.text)


async def test_the_only_admin_stays_one(tmp_path: Path, server: OpenIdServer) -> None:
    async with shop_with(tmp_path, server, GROUPS) as shop:
        accounts = user_accounts(shop.database)
        server.person = {**ANN, "groups": ["leads"]}
        await logged_in(Person(shop))
        server.person = {**ANN, "groups": ["support"]}
        await logged_in(Person(shop))
        [ann] = await accounts.list()
        assert ann.role is Role.ADMIN


async def test_passwords_can_be_switched_off(tmp_path: Path, server: OpenIdServer) -> None:
    async with shop_with(tmp_path, server, passwords=False) as shop:
        await user_accounts(shop.database).add("ida", PASSWORD, ["*"])
        person = Person(shop)
        page = await person.get("/login")
        assert "password" not in page.text
        refused = await person.log_in("ida")
        assert refused.status_code == 403
        assert "nobody logs in with a password here" in words_of(refused.text)
        await logged_in(person)
        assert await is_in(person)


async def test_nobody_knows_the_password_of_an_account_that_a_provider_made(
    tmp_path: Path, server: OpenIdServer
) -> None:
    async with shop_with(tmp_path, server) as shop:
        await logged_in(Person(shop))
        for guess in ("", "!", "None", "ann@acme.example"):
            assert (await Person(shop).log_in("ann@acme.example", guess)).status_code == 403


# --- what liars try


@pytest.mark.parametrize(
    "forge",
    [
        unsigned,
        signed_with_the_public_key,
        signed_by_a_stranger,
        signed_by_a_key_it_brings,
        tampered,
        lambda server, claims: "not.a.token",
        lambda server, claims: "",
    ],
)
async def test_a_token_that_the_provider_did_not_sign_opens_nothing(
    tmp_path: Path, server: OpenIdServer, forge: Any
) -> None:
    server.forge = forge
    await refused_login(tmp_path, server)


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another-program"},
        {"aud": [CLIENT, "another-program"]},
        {"aud": [CLIENT, "another-program"], "azp": "another-program"},
        {"azp": "another-program"},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": None},
        {"sub": None},
        {"sub": ""},
        {"sub": "2482\x0089"},
        {"exp": None},
        {"iat": None},
        {"exp": -3600, "iat": -3700},
        {"iat": -3600},
        {"iat": 3600},
        {"nbf": 3600},
    ],
)
async def test_a_token_for_others_or_another_time_opens_nothing(
    tmp_path: Path, server: OpenIdServer, claims: dict[str, Any]
) -> None:
    """Times are seconds from now."""
    now = int(time.time())
    moments = {name: claims[name] + now for name in TIMES if claims.get(name)}
    server.claims = {**claims, **moments}
    await refused_login(tmp_path, server)


@pytest.mark.parametrize(
    "answer",
    [
        {"state": "another"},
        {"state": ""},
        {"iss": "https://evil.example"},
        {"iss": ""},
        {"code": ""},
        {"code": "another"},
        {"error": "access_denied", "code": ""},
        {"error": "<script>alert(1)</script>"},
        {"code": "x" * 5000},
    ],
)
async def test_an_answer_that_is_not_the_one_asked_for_opens_nothing(
    tmp_path: Path, server: OpenIdServer, answer: dict[str, str]
) -> None:
    server.answer = answer
    await refused_login(tmp_path, server)


async def refused_login(folder: Path, server: OpenIdServer) -> None:
    async with shop_with(folder, server) as shop:
        person = Person(shop)
        answer = await logged_in(person)
        assert answer.status_code == 403, answer.text
        assert "<script>" not in answer.text
        assert "deskhand_session" not in str(answer.headers)
        assert not await is_in(person)
        assert await user_accounts(shop.database).list() == []
        [row] = await console_actions(shop.database).list()
        assert (row.path, row.status) == ("/login/oidc/callback", 403)


async def test_a_token_for_several_programs_says_that_it_was_issued_to_us(
    tmp_path: Path, server: OpenIdServer
) -> None:
    server.claims = {"aud": [CLIENT, "another-program"], "azp": CLIENT}
    async with shop_with(tmp_path, server) as shop:
        person = Person(shop)
        await logged_in(person)
        assert await is_in(person)


async def test_an_answer_works_once_and_only_in_the_browser_that_asked(
    tmp_path: Path, server: OpenIdServer
) -> None:
    async with shop_with(tmp_path, server) as shop:
        ann, eve = Person(shop), Person(shop)
        stolen = await come_back(await begun(ann))
        assert (await eve.get(stolen)).status_code == 403  # she has no cookie
        await begun(eve)
        assert (await eve.get(stolen)).status_code == 403  # or one of another login
        assert not await is_in(eve)

        secret = ann.cookies.get("deskhand_login")
        assert (await ann.get(stolen)).status_code == 200
        again = Person(shop)
        again.cookies.set("deskhand_login", secret or "", domain="desk.test", path="/login/oidc")
        replayed = await again.get(stolen)
        assert replayed.status_code == 403
        assert "finished already" in words_of(replayed.text)
        assert not await is_in(again)


async def test_a_login_that_was_begun_too_long_ago_is_begun_again(
    tmp_path: Path, server: OpenIdServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shop_with(tmp_path, server) as shop:
        person = Person(shop)
        back = await come_back(await begun(person))
        monkeypatch.setattr(begun_logins, "BEGUN_FOR", -1.0)
        assert (await person.get(back)).status_code == 403
        assert not await is_in(person)


async def test_many_logins_that_nobody_finishes_keep_nobody_out(
    tmp_path: Path, server: OpenIdServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(begun_logins, "MOST_BEGUN", 3)
    async with shop_with(tmp_path, server) as shop:
        first, last = Person(shop), Person(shop)
        early = await come_back(await begun(first))
        for _ in range(5):
            await begun(Person(shop))
        assert (await first.get(early)).status_code == 403
        await logged_in(last)
        assert await is_in(last)


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.example/",
        "//evil.example/tickets/",
        "/\\evil.example/",
        "javascript:alert(1)",
        "/tickets/\r\nLocation: https://evil.example",
        "/login/oidc",
        '/tickets/"><script>alert(1)</script>',
    ],
)
async def test_nobody_is_led_elsewhere_after_logging_in(
    tmp_path: Path, server: OpenIdServer, to: str
) -> None:
    async with shop_with(tmp_path, server) as shop:
        back = await logged_in(Person(shop), to)
        assert back.status_code == 200
        assert "evil" not in back.text
        assert "<script>" not in back.text


# --- the provider changes


@pytest.mark.parametrize("make", [Key.rsa, Key.curve])
async def test_keys_that_change_are_found(
    tmp_path: Path, server: OpenIdServer, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openid, "KEYS_AGAIN", 0.0)
    async with shop_with(tmp_path, server) as shop:
        await logged_in(Person(shop))
        earlier, server.key = server.key, make()
        server.published = [earlier, server.key]
        person = Person(shop)
        await logged_in(person)
        assert await is_in(person)
        assert server.asked.count("keys") == 2
        await logged_in(Person(shop))
        assert server.asked.count("keys") == 2
        assert server.asked.count("discovery") == 1


async def test_forged_tokens_do_not_make_us_ask_for_keys_again_and_again(
    tmp_path: Path, server: OpenIdServer
) -> None:
    server.forge = signed_by_a_key_it_brings
    async with shop_with(tmp_path, server) as shop:
        for _ in range(5):
            assert (await logged_in(Person(shop))).status_code == 403
    assert server.asked.count("keys") == 1


async def test_a_provider_that_is_away_is_said_on_a_page_that_still_takes_passwords(
    tmp_path: Path, server: OpenIdServer
) -> None:
    async with shop_with(tmp_path, server) as shop:
        server.away = True
        person = Person(shop)
        answer = await person.get("/login/oidc")
        assert answer.status_code == 503
        assert "your provider does not answer" in words_of(answer.text)
        assert 'name="password"' in answer.text
        server.away = False
        back = await come_back(await begun(person))
        server.away = True
        assert (await person.get(back)).status_code == 503
        assert not await is_in(person)
        server.away = False
        await logged_in(person)
        assert await is_in(person)


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://evil.example/token"},
        {"jwks_uri": None},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
)
async def test_a_provider_that_says_what_cannot_be_is_not_used(
    tmp_path: Path, server: OpenIdServer, metadata: dict[str, Any]
) -> None:
    server.metadata = metadata
    async with shop_with(tmp_path, server) as shop:
        assert (await Person(shop).get("/login/oidc")).status_code == 503


@pytest.mark.parametrize(
    "issuer", ["http://login.example.com", "login.example.com", "", "https://"]
)
def test_a_provider_that_others_could_listen_to_is_refused(issuer: str) -> None:
    with pytest.raises(ConfigError, match="fix:"):
        openid_provider(issuer=issuer, client=CLIENT, secret=None, name="Acme", public_url=PUBLIC)


async def test_behind_https_the_cookies_are_for_https_alone(
    tmp_path: Path, server: OpenIdServer
) -> None:
    built = single(server, VIEWERS, public_url="https://desk.test")
    public = "https://desk.test"
    async with served(tmp_path, approvals=True, public_url=public, single=built) as shop:
        answer = await Person(shop).get("/login/oidc")
        assert "Secure" in answer.headers["set-cookie"]


async def test_without_a_provider_there_is_no_such_page(tmp_path: Path) -> None:
    async with served(tmp_path, approvals=True) as shop:
        person = Person(shop)
        assert (await person.get("/login/oidc")).status_code == 404
        assert "Log in with" not in (await person.get("/login")).text
