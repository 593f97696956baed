"""The console's metrics: what people made of replies, by category, and as CSV."""

import csv
from pathlib import Path

import pytest

from tests.api_kit import served
from tests.approvals_kit import Person, make_passwords_cheap, person, words_of


async def test_what_people_did_is_shown_by_category_and_given_as_csv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_passwords_cheap(monkeypatch)
    more = "undo_seconds: 0\ntrust: {start: draft}\n"
    async with served(tmp_path, "shop", "bank", more=more, approvals=True) as shop:
        api = await shop.client(desks=["shop"])
        review = await api.under_review()
        ida, bert = await person(shop), await person(shop, "bert", "bank")
        await ida.do(review, "approve")
        await shop.desks["shop"].dispatcher.wait(review["run"])

        page = words_of((await ida.get("/metrics/")).text)
        assert "Approved unchanged 1" in page
        assert "Trust earned: shop" in page
        assert "question" in page
        table = list(csv.DictReader((await ida.get("/metrics/?format=csv")).text.splitlines()))
        [row] = [row for row in table if row["category"] == "question"]
        assert (row["desk"], row["mode"], row["unchanged"]) == ("shop", "draft", "1")
        assert "question" not in words_of((await bert.get("/metrics/?desk=shop")).text)
        assert (await Person(shop).get("/metrics/")).status_code == 303


async def test_a_desk_that_earns_nothing_says_so_and_promises_no_next_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_passwords_cheap(monkeypatch)
    async with served(tmp_path, "shop", approvals=True) as shop:
        await (await shop.client(desks=["shop"])).under_review()
        page = words_of((await (await person(shop)).get("/metrics/")).text)
        assert "Set in desk.yaml" in page
        assert "Waiting now 1" in page
        assert "What is missing" not in page
