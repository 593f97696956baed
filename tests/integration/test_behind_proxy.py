"""The approvals page behind a proxy that asks for it by another name than browsers do."""

from pathlib import Path

import httpx
import pytest

from deskhand.cli.serve import _public_origin
from deskhand.cli.web_server import InFront, web_server
from deskhand.errors import ConfigError
from deskhand.wiring import user_accounts
from tests.api_kit import Served, served
from tests.approvals_kit import HOME, PASSWORD, Person

PUBLIC = "https://desk.acme.example"
PROXIED = {"Host": "127.0.0.1:8080", "Origin": PUBLIC, "Sec-Fetch-Site": "same-origin"}


async def log_in(shop: Served, **headers: str) -> tuple[int, str, str]:
    """Status, page and cookie of a login through the proxy."""
    await user_accounts(shop.database).add("ida", PASSWORD, ("*",))
    form = {"name": "ida", "password": PASSWORD, "to": HOME}
    async with Person(shop) as browser:
        answer = await browser.post("/login", data=form, headers=PROXIED | headers)
    return answer.status_code, answer.text, answer.headers.get("set-cookie", "")


async def test_login_works_with_the_public_address(tmp_path: Path) -> None:
    async with served(tmp_path, approvals=True, public_url=PUBLIC) as shop:
        status, _, cookie = await log_in(shop)

    assert status == 303
    assert "Secure" in cookie


async def test_without_it_the_page_and_the_log_say_what_to_set(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(tmp_path, approvals=True) as shop:
        status, page, _ = await log_in(shop)

    assert status == 403
    assert "--public-url" in page
    assert "this server was asked as '127.0.0.1:8080'" in caplog.text


async def test_another_site_is_refused_with_the_setting_too(tmp_path: Path) -> None:
    async with served(tmp_path, approvals=True, public_url=PUBLIC) as shop:
        status, _, _ = await log_in(shop, Origin="https://desk.acme.example.evil.test")

    assert status == 403


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ("https://desk.acme.example/", PUBLIC),
        ("https://desk.acme.example:443", PUBLIC),
        ("https://Desk.Acme.example", PUBLIC),
        ("http://desk.acme.example:8443", "http://desk.acme.example:8443"),
    ],
)
def test_the_address_is_read_as_browsers_write_it(given: str, origin: str) -> None:
    assert _public_origin(given) == origin


@pytest.mark.parametrize("given", ["desk.acme.example", "https://acme.example/desk", "ftp://x"])
def test_what_is_no_address_of_a_site_is_refused(given: str) -> None:
    with pytest.raises(ConfigError, match="--public-url https"):
        _public_origin(given)


@pytest.mark.parametrize(("proxies", "last"), [((), 429), (("10.0.0.0/8",), 403)])
async def test_a_header_says_where_a_request_comes_from_if_a_named_proxy_wrote_it(
    tmp_path: Path, proxies: tuple[str, ...], last: int
) -> None:
    async with served(tmp_path) as shop:
        desks = list(shop.desks.values())
        server = await web_server(desks, shop.database, InFront(proxies=proxies))
        server.config.load()
        transport = httpx.ASGITransport(server.config.loaded_app, client=("10.0.0.7", 4711))
        async with httpx.AsyncClient(transport=transport, base_url="http://desk.test") as client:
            for number in range(21):
                answer = await client.post(
                    "/login",
                    data={"name": f"name {number}", "password": "a wrong guess"},
                    headers={
                        "Origin": "http://desk.test",
                        "X-Forwarded-For": f"192.0.2.{number}",
                    },
                )
    assert answer.status_code == last
