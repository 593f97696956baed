"""Reservations of the pharmacy desk through the gate: stock moves, once a key, and each customer
sees only his own."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from deskhand.desks.pharmacy.catalogue import reservations, stock
from deskhand.model.message import Message
from deskhand.model.principal import ANONYMOUS, Principal, PrincipalKind
from deskhand.wiring import LoadedDesk, open_database, own_database, read_desk
from tests.kit import a_message
from tests.pharmacy_kit import Counter, known
from tests.servers import new_database, postgres_programs

ANN, BEN = known("ann"), known("ben")


@pytest.fixture(scope="module")
def loaded() -> LoadedDesk:
    return read_desk("pharmacy")


@pytest.fixture(params=["sqlite", "postgres"])
async def counters(
    request: pytest.FixtureRequest, tmp_path: Path, loaded: LoadedDesk
) -> AsyncIterator[Callable[[], Any]]:
    """`await counters()`: one more process at the same database."""
    if request.param == "postgres" and postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    url = (
        str(tmp_path / "desk.db")
        if request.param == "sqlite"
        else await asyncio.to_thread(new_database)
    )
    async with AsyncExitStack() as stack:

        async def one() -> Counter:
            database = await stack.enter_async_context(open_database(url))
            return Counter(loaded, own_database(database, "pharmacy"))

        yield one


async def test_stock_moves_with_a_reservation_and_comes_back_with_its_end(
    counters: Callable[[], Any],
) -> None:
    counter = await counters()
    before = await counter.shelf()
    made = await counter.ask(
        ANN, action="create", drug_name="Ibalgin 400 24 tbl", pharmacy_id="PH01", packs=2
    )
    assert made.verdict == "allow"
    number = made.result.data["reservation"]["id"]
    assert await counter.shelf() == before - 2

    seen = await counter.ask(ANN, action="check", drug_name="ibalginu")
    assert [one["id"] for one in seen.result.data["reservations"]] == [number]
    gone = await counter.ask(ANN, action="cancel", reservation=number)
    assert gone.result.data["reservation"]["status"] == "cancelled"
    assert await counter.shelf() == before
    again = await counter.ask(ANN, action="cancel", drug_name="Ibalgin")
    assert not again.result.ok
    assert await counter.shelf() == before


async def test_the_same_effect_twice_is_one_reservation(counters: Callable[[], Any]) -> None:
    first, second = await counters(), await counters()
    before = await first.shelf()
    wish = {"action": "create", "drug_name": "Ibalgin 400", "pharmacy_id": "PH01"}
    made = await asyncio.gather(first.ask(ANN, run="r", **wish), second.ask(ANN, run="r", **wish))
    assert made[0].result.data["reservation"]["id"] == made[1].result.data["reservation"]["id"]
    assert await first.shelf() == before - 1


async def test_another_customers_reservation_does_not_exist(counters: Callable[[], Any]) -> None:
    counter = await counters()
    made = await counter.ask(ANN, action="create", drug_name="Ibalgin 400", pharmacy_id="PH01")
    number, left = made.result.data["reservation"]["id"], await counter.shelf()

    theirs = await counter.ask(BEN, action="cancel", reservation=number)
    nobodys = await counter.ask(BEN, action="cancel", reservation="R-ABCDEFGH")
    assert (theirs.verdict, theirs.rule) == (nobodys.verdict, nobodys.rule) == ("deny", "not_yours")
    assert theirs.result.for_model()["error"].replace(number, "") == nobodys.result.for_model()[
        "error"
    ].replace("R-ABCDEFGH", "")
    named = await counter.ask(BEN, action="cancel", drug_name=number)
    assert not named.result.ok
    assert (await counter.ask(BEN, action="check")).result.data["reservations"] == []
    assert await counter.shelf() == left


async def test_what_nobody_comes_for_goes_back_on_the_shelf(counters: Callable[[], Any]) -> None:
    counter = await counters()
    before = await counter.shelf()
    await counter.ask(ANN, action="create", drug_name="Ibalgin 400", pharmacy_id="PH01", packs=3)
    await counter.change(reservations.update().values(expires_at=1.0))
    assert (await counter.ask(ANN, action="check")).result.data["reservations"][0][
        "status"
    ] == "expired"
    await counter.ask(BEN, action="create", drug_name="Paralen 500")  # any next one puts it back
    assert await counter.shelf() == before


async def test_more_than_there_is_cannot_be_had(counters: Callable[[], Any]) -> None:
    counter = await counters()
    await counter.change(
        stock.update().where(stock.c.product.in_(["D003", "D004"])).values(packs=1)
    )
    refused = await counter.ask(
        ANN, action="create", drug_name="Ibalgin 400", pharmacy_id="PH01", packs=2
    )
    assert refused.result.error.error_type == "sold_out"
    assert await counter.shelf() == 1


@pytest.mark.parametrize(
    ("who", "action", "verdict"),
    [
        (ANN, "create", "allow"),
        (known("ann", PrincipalKind.FORWARDED), "create", "allow"),
        (known("ann", PrincipalKind.FORWARDED), "check", "allow"),
        (known("ann", PrincipalKind.FORWARDED), "cancel", "hold"),
        (ANONYMOUS, "create", "hold"),
        (ANONYMOUS, "check", "hold"),
        (ANONYMOUS, "cancel", "hold"),
    ],
)
async def test_who_may_do_what(
    loaded: LoadedDesk, tmp_path: Path, who: Principal, action: str, verdict: str
) -> None:
    async with open_database(str(tmp_path / "desk.db")) as database:
        counter = Counter(loaded, own_database(database, "pharmacy"))
        assert (await counter.ask(who, action=action, drug_name="Paralen 500")).verdict == verdict


async def test_in_a_run_about_a_medical_question_nothing_passes(
    loaded: LoadedDesk, tmp_path: Path
) -> None:
    async with open_database(str(tmp_path / "desk.db")) as database:
        counter = Counter(loaded, own_database(database, "pharmacy"))
        body = "Is Paralen available and can I take it with alcohol?"
        for action in ("create", "check", "cancel"):
            answer = await counter.ask(ANN, body, action=action, drug_name="Paralen 500")
            assert (answer.verdict, answer.rule) == ("hold", "medical questions are for people")
            assert answer.requires_escalation


async def test_fifty_at_once_take_exactly_what_is_there(counters: Callable[[], Any]) -> None:
    processes = [await counters() for _ in range(3)]
    await processes[0].change(stock.update().values(packs=0))
    await processes[0].change(
        stock.update().where(stock.c.product == "D003", stock.c.pharmacy == "PH01").values(packs=17)
    )
    wish = {"action": "create", "drug_name": "Ibalgin 400", "pharmacy_id": "PH01"}
    people = [known(f"customer{number}") for number in range(50)]
    answers = await asyncio.gather(
        *(
            processes[number % 3].ask(who, run=f"r{number}", **wish)
            for number, who in enumerate(people)
        )
    )
    assert sum(answer.result.ok for answer in answers) == 17
    assert await processes[0].shelf() == 0


def test_a_message_is_medical_by_any_of_its_parts(loaded: LoadedDesk) -> None:
    fact = loaded.code.message_facts[0]
    plain = a_message(body="Do you have Paralen?").changed(subject="Paralen")
    assert (fact.name, fact.function(plain, plain.body)) == ("medical", False)
    hidden: list[tuple[Message, str]] = [
        (plain.changed(subject="can I take it while pregnant?"), plain.body),
        (plain, "Do you have Paralen?\n\nearlier: what is the dosage?"),
    ]
    assert all(fact.function(message, text) for message, text in hidden)
