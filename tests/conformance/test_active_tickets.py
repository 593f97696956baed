"""What every store of active tickets must do: keep, find by customer, clear, and mix nobody up."""

from typing import Any

import pytest

from tests.conformance.adapters import ActiveStores

ANN, BOB = "customer:ANN", "customer:BOB"
ONE, TWO = "TKT-00000001", "TKT-00000002"
ODD = (
    "customer:a:b",
    "customer:a",
    "customer:*",
    "customer:a b*[x]?",
    "customer:%3A",
    "address:č@x.cz",
)


async def all_of(store: Any) -> list[tuple[str, str]]:
    return sorted([one async for one in store.all_checkpoints()])


async def test_a_checkpoint_is_kept_found_exchanged_and_cleared(active: ActiveStores) -> None:
    store = active()
    assert await store.get_raw_checkpoint_data(ANN, ONE) is None
    assert await store.scan_activated_ticket_ids(ANN) == []
    await store.put_checkpoint(ANN, ONE, {"number": 1, "subject": "Kávovar “x”"})
    await store.put_checkpoint(ANN, TWO, {"number": 1})
    await store.put_checkpoint(ANN, ONE, {"number": 2})
    assert await store.get_raw_checkpoint_data(ANN, ONE) == {"number": 2}
    assert await store.scan_activated_ticket_ids(ANN) == [ONE, TWO]
    assert await store.checkpoints_of(ANN) == {ONE: {"number": 2}, TWO: {"number": 1}}
    assert await store.delete_ticket_checkpoints(ANN, ONE) == 1
    assert await store.delete_ticket_checkpoints(ANN, ONE) == 0
    assert await store.scan_activated_ticket_ids(ANN) == [TWO]


@pytest.mark.parametrize("number", ["CUST-001", "a:b", "*", "a b", "čáp"])
async def test_a_customer_is_found_by_his_bare_number(active: ActiveStores, number: str) -> None:
    store = active()
    await store.put_checkpoint(f"customer:{number}", ONE, {"number": 1})
    await store.put_checkpoint(f"address:{number}", TWO, {"number": 2})
    assert await store.scan_activated_ticket_ids(number) == [ONE]
    assert await store.get_raw_checkpoint_data(number, ONE) == {"number": 1}
    assert await store.get_raw_checkpoint_data(number, TWO) is None
    assert await store.delete_ticket_checkpoints(number, TWO) == 0
    assert await store.delete_ticket_checkpoints(number, ONE) == 1
    assert await all_of(store) == [(f"address:{number}", TWO)]


async def test_customers_and_desks_are_kept_apart_whatever_their_names(
    active: ActiveStores,
) -> None:
    store, other = active(), active("desk:2 *")
    for number, customer in enumerate(ODD):
        await store.put_checkpoint(customer, ONE, {"number": number})
    await other.put_checkpoint(ODD[0], TWO, {"number": 99})
    for number, customer in enumerate(ODD):
        assert await store.checkpoints_of(customer) == {ONE: {"number": number}}
    assert await all_of(store) == sorted((customer, ONE) for customer in ODD)
    assert await all_of(other) == [(ODD[0], TWO)]
    assert await store.delete_ticket_checkpoints(ODD[2], ONE) == 1
    assert len(await all_of(store)) == len(ODD) - 1
    assert await other.checkpoints_of(ODD[0]) == {TWO: {"number": 99}}


async def test_many_checkpoints_are_all_named(active: ActiveStores) -> None:
    store = active()
    wanted = []
    for number in range(520):
        customer, ticket = f"customer:{number % 260}", f"TKT-{number:08}"
        await store.put_checkpoint(customer, ticket, {"number": number})
        wanted.append((customer, ticket))
    assert await all_of(store) == sorted(wanted)
    assert await store.foreign_keys() == []


@pytest.mark.parametrize("customer", [ANN, BOB])
async def test_who_has_no_ticket_has_none(active: ActiveStores, customer: str) -> None:
    store = active()
    await store.put_checkpoint("customer:SOMEBODY", ONE, {})
    assert await store.checkpoints_of(customer) == {}
