"""What stands around the queue: how many wait, what is due, and where one is among them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api_kit import Served, served
from tests.approvals_kit import HOME, person, words_of

MORE = "undo_seconds: 0\nreviews: {expire_after: 1 hour}\n"


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, "shop", "bank", more=MORE, approvals=True) as running:
        yield running


async def test_a_review_says_its_place_and_the_queue_what_is_due(shop: Served) -> None:
    api = await shop.client(desks=["shop"])
    reviews = [await api.under_review() for _ in range(3)]
    ida = await person(shop)
    queue = words_of((await ida.get(HOME)).text)
    assert "Waiting 3" in queue
    assert "3 due by" in queue
    for number, review in enumerate(reviews, start=1):
        assert f"{number} of 3" in words_of(await ida.page(review))
    await ida.do(reviews[0], "reject", note="spam")
    assert "1 of 2" in words_of(await ida.page(reviews[1]))
    assert " of 2" not in words_of(await ida.page(reviews[0]))


async def test_the_place_is_that_among_what_was_chosen(shop: Served) -> None:
    api = await shop.client(desks=["shop"])
    reviews = [await api.under_review() for _ in range(3)]
    ida = await person(shop)
    await ida.do(reviews[1], "assign", to="ida")
    mine = f"{HOME}shop/{reviews[1]['review']}?tab=mine"
    assert "1 of 1" in words_of((await ida.get(mine)).text)
    assert "2 of 3" in words_of((await ida.get(mine.removesuffix("?tab=mine"))).text)
    words = f"{HOME}shop/{reviews[1]['review']}?words=nothing-like-this"
    assert " of 3" not in words_of((await ida.get(words)).text)
