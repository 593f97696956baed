"""The approvals page without a browser: people who log in, pages they read, forms they send."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import httpx

from deskhand.wiring import user_accounts
from tests.api_kit import Served

HOME = "/approvals/"
LOGIN = "/login"
PASSWORD = "correct horse battery"
ORIGIN = {"Origin": "http://desk.test"}


class Person(httpx.AsyncClient):
    """A browser that follows nothing by itself and runs no script."""

    def __init__(self, shop: Served) -> None:
        super().__init__(
            transport=httpx.ASGITransport(shop.app), base_url="http://desk.test", headers=ORIGIN
        )
        self.csrf = ""

    async def log_in(self, name: str, password: str = PASSWORD, to: str = HOME) -> httpx.Response:
        answer = await self.post(LOGIN, data={"name": name, "password": password, "to": to})
        if answer.status_code == 303:
            page = await self.get(HOME)
            found = re.search(r'name="csrf" value="([^"]+)"', page.text)
            assert found is not None, page.text
            self.csrf = found[1]
        return answer

    async def do(self, review: dict[str, Any], action: str, **fields: str) -> httpx.Response:
        """Send a form of the review's page, as it was shown."""
        shown = {
            "csrf": self.csrf,
            "version": str(review["version"]),
            "hash": review["payload_hash"],
        }
        return await self.post(
            f"{HOME}{review['desk']}/{review['review']}/{action}", data={**shown, **fields}
        )

    async def page(self, review: dict[str, Any]) -> str:
        answer = await self.get(f"{HOME}{review['desk']}/{review['review']}")
        assert answer.status_code == 200, answer.text
        return answer.text


async def person(shop: Served, name: str = "ida", *desks: str) -> Person:
    """Somebody with an account, logged in."""
    await user_accounts(shop.database).add(name, PASSWORD, desks or ("*",))
    client = Person(shop)
    answer = await client.log_in(name)
    assert answer.status_code == 303, answer.text
    return client


def words_of(page: str) -> str:
    """What a reader sees, roughly: without tags, on one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def outbox(shop: Served) -> list[str]:
    return [path.read_text() for path in sorted(Path(shop.folder / "outbox").glob("**/*.eml"))]
