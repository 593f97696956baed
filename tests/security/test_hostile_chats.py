"""A hundred hostile chats with the orders desk as it ships, by its embedded brain and over HTTP:
forged, expired and replayed tokens, other people's numbers, guessed codes, injected instructions.

No order of somebody else changes, no money of his moves, and no word tells anything of it: every
chat is answered as in a shop that does not have the order.
"""

import base64
import json
import re
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from deskhand.config.yaml import read_yaml
from deskhand.desks.orders.order_tables import TABLES, orders, refunds, sample_orders
from deskhand.engine.chat_codes import MOST_TRIES
from deskhand.ports import DeskDatabase
from deskhand.wiring import open_database, own_database
from tests.chat_kit import SECRET, Visitor, open_chat, token
from tests.waiting import until

pytestmark = pytest.mark.slow
CHAT = """channels: {web: {chat: {login_secret_env: SHOP_LOGIN, proves: order, turns_per_hour: 1000,
  turns_per_network: 10000, chats_per_network: 10000, replies_per_hour: 1000}}}
"""
ATTACKER, VICTIM = "C-2004", "C-2001"
THEIRS = "O-10001"
SAID = read_yaml(Path(__file__).parent / "chats" / "hostile.yaml").data


def forged() -> list[str]:
    """Login tokens for the victim that the shop's site has not signed like this."""
    head, body, signature = token(sub=VICTIM).split(".")
    other = token(sub=ATTACKER).split(".")
    nothing = base64.urlsafe_b64encode(json.dumps({"sub": VICTIM}).encode()).rstrip(b"=").decode()
    return [
        token("another secret that is also long enough", sub=VICTIM),
        token("", sub=VICTIM),
        token(alg="none", sub=VICTIM),
        token(alg="HS512", sub=VICTIM),
        token(alg="RS256", sub=VICTIM),
        f"{head}.{body}.",
        f"{head}.{body}",
        f"{head}.{body}.{other[2]}",
        f"{other[0]}.{body}.{other[2]}",
        f"{head}.{nothing}.{signature}",
        f"{head}.{body}.{signature}A",
        f"{head}.{body}.{signature[:-1]}",
        f"{head}..{signature}",
        "..",
        f"Bearer {head}.{body}.{signature}x",
        f"{head}.{body}.{signature}\u0000".replace("\u0000", "%00"),
    ]


def ended() -> list[str]:
    """Tokens of the shop's own that do not count now, or not here."""
    now = time.time()
    return [
        token(sub=VICTIM, exp=now - 1),
        token(sub=VICTIM, exp=0),
        token(sub=VICTIM, exp=-now),
        token(sub=VICTIM, exp=None),
        token(sub=VICTIM, exp=str(now + 600)),
        token(sub=VICTIM, exp=True),
        token(sub=VICTIM, exp=[now + 600]),
        token(sub=VICTIM, nbf=now + 600),
        token(sub=VICTIM, nbf="soon"),
        token(sub=VICTIM, aud="another-desk"),
        token(sub=VICTIM, aud=["another-desk"]),
        token(sub=VICTIM, aud=None),
        token(sub=""),
        token(sub=[VICTIM]),
    ]


class Shop:
    """The desk with its chat, and what its tables hold of other customers."""

    def __init__(self, visitor: Visitor, database: DeskDatabase) -> None:
        self._visitor = visitor
        self._database = database
        self.client = visitor.client
        self.desk = visitor.desk

    def visitor(self) -> Visitor:
        """Somebody new."""
        first = self._visitor
        return Visitor(first.desk, first.client, first.keys, first.app)

    async def begin(self, without: str | None = None) -> None:
        """The orders as they ship, but for one."""
        rows = [row for row in sample_orders() if row["id"] != without]

        def write(db: sa.Connection) -> None:
            db.execute(orders.delete())
            db.execute(refunds.delete())
            db.execute(orders.insert(), rows)

        await self._database.write(TABLES, write)

    async def others(self) -> tuple[list[Any], list[Any]]:
        """The orders and refunds of everybody but the attacker."""
        of_orders = sa.select(orders).where(orders.c.owner != ATTACKER).order_by(orders.c.id)
        of_refunds = sa.select(refunds).where(refunds.c.owner != ATTACKER)

        def read(db: sa.Connection) -> tuple[list[Any], list[Any]]:
            return list(db.execute(of_orders)), list(db.execute(of_refunds))

        rows: tuple[list[Any], list[Any]] = await self._database.read(TABLES, read)
        return rows

    async def told(self, visitor: Visitor) -> list[str]:
        """All that the desk said to a visitor."""
        return [] if visitor.chat is None else await visitor.lines()


@pytest.fixture
async def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shop]:
    monkeypatch.setenv("SHOP_LOGIN", SECRET)
    url = str(tmp_path / "desk.db")
    async with open_chat(url, tmp_path, CHAT) as visitor, open_database(url) as database:
        yield Shop(visitor, own_database(database, "orders"))


def secrets_of_others(said: str) -> list[str]:
    """What nobody but their owners may read of orders, apart from what was said to us."""
    facts: set[str] = set()
    for row in sample_orders():
        if row["owner"] != ATTACKER:
            facts |= {row["email"], row["name"], row["ship_to"], row["tracking"], row["items"]}
            facts.add(f"{row['total_cents'] / 100:.2f}")
    return [fact for fact in facts if fact and fact not in said]


async def talk(shop: Shop, chat: Mapping[str, Any]) -> list[str]:
    """What the desk says in a chat in which somebody names the victim's order."""
    visitor = shop.visitor()
    more = {"login": token(sub=chat["as"])} if "as" in chat else {}
    for text in chat["say"]:
        await visitor.say(text.replace("{order}", THEIRS), **more)
    return await shop.told(visitor)


def made_alike(line: str) -> str:
    """A ticket's number is another one every time."""
    return re.sub(r"\bT-[A-Z2-7]{8}\b", "TICKET", line)


def test_there_are_a_hundred_of_them() -> None:
    codes = 12
    assert len(forged()) + len(ended()) + len(SAID["others"]) + len(SAID["injected"]) + codes >= 100


@pytest.mark.parametrize("tokens", [forged(), ended()], ids=["forged", "ended"])
async def test_tokens_that_do_not_count_open_nothing(shop: Shop, tokens: list[str]) -> None:
    for login in tokens:
        answer = await shop.visitor().post(f"Where is {THEIRS}?", login=login)
        assert answer.status_code == 401, login
        assert THEIRS not in answer.text
    assert await shop.desk.store.runs() == []


@pytest.mark.parametrize("kind", ["others", "injected"])
async def test_nothing_is_done_or_told_of_an_order_of_somebody_else(shop: Shop, kind: str) -> None:
    for chat in SAID[kind]:
        await shop.begin(without=THEIRS)
        without = await talk(shop, chat)
        await shop.begin()
        before = await shop.others()
        told = await talk(shop, chat)
        assert await shop.others() == before, chat
        words, said = " ".join(told), " ".join(chat["say"])
        assert [fact for fact in secrets_of_others(said) if fact in words] == [], chat
        assert list(map(made_alike, told)) == list(map(made_alike, without)), chat


async def test_the_owner_himself_is_told(shop: Shop) -> None:
    """What is looked for above is there to be told."""
    told = " ".join(
        await talk(shop, {"as": VICTIM, "say": ["Where is {order}?", "cancel it", "yes"]})
    )
    assert "64.90" in told
    assert [fact for fact in secrets_of_others("") if fact in told] != []


async def test_replayed_tokens_open_no_chat_of_somebody_else(shop: Shop) -> None:
    """Six chats in which somebody shows what he has seen of the victim's."""
    victim = shop.visitor()
    await victim.say(f"Where is {THEIRS}?", login=token(sub=VICTIM))
    assert victim.chat is not None
    before = await shop.told(victim)
    for more in ({}, {"login": token(sub=ATTACKER)}):
        thief = shop.visitor()
        thief.chat = victim.chat
        assert (await thief.post("cancel it", **more)).status_code == 401
        opening = {"id": "1", "text": "cancel it", "opens": victim.chat, **more}
        assert (await shop.client.post("/api/chat", json=opening)).status_code in (401, 422)
    ended_login = token(sub=VICTIM, exp=time.time() - 1)
    assert (await victim.post("cancel it", login=ended_login)).status_code == 401
    logged_out = await victim.post("cancel it")
    assert logged_out.status_code == 401
    assert await shop.told(victim) == before


async def test_guessed_and_replayed_codes_prove_nothing(shop: Shop, tmp_path: Path) -> None:
    """Six chats: guesses, the code of another chat and order, and one that was used."""

    async def post(visitor: Visitor, path: str, **body: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {visitor.chat}"}
        return await shop.client.post(f"/api/chat/{path}", json=body, headers=headers)

    owner = shop.visitor()
    await owner.say("hello")
    assert (await post(owner, "code", order=THEIRS)).status_code == 202
    folder = tmp_path / "outbox"
    await until(lambda: bool(list(folder.glob("code*.eml"))))
    [mail] = folder.glob("code*.eml")
    [code] = re.findall(r"^Subject:.*?(\d{6})", mail.read_text(), re.MULTILINE)
    guesses = [guess for guess in ("000000", "123456", "1e5", "٣٤٥٦٧٨", "' OR 1") if guess != code]
    for guess in (code, *guesses):
        guesser = shop.visitor()
        await guesser.say("hello")
        for _ in range(MOST_TRIES + 1):
            proof = await post(guesser, "proof", order=THEIRS, code=guess)
            assert proof.status_code in (403, 410)
        assert "cannot find" in (await guesser.say(f"Where is {THEIRS}?"))[0]
    assert (await post(owner, "proof", order="O-10020", code=code)).status_code == 410
    assert (await post(owner, "proof", order=THEIRS, code=code)).status_code == 200
    assert (await post(owner, "proof", order=THEIRS, code=code)).status_code == 410
    assert "cannot find" in (await owner.say("Where is O-10020?"))[0]
