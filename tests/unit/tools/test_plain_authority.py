from typing import Annotated, Literal

import pytest
from pydantic import Field

from deskhand import Money, SenderAddress, tool
from deskhand.tools.plain_authority import concerns


@tool(effect="keyed")
async def pay(
    customer_id: str,
    to: list[str],
    amount: float,
    note: str,
    kind: Literal["a"],
    iban: str | None = None,
) -> None:
    """Pay."""


@tool(effect="read")
async def query(sql: Annotated[str, Field(max_length=100)], order_id: str) -> None:
    """Look something up in words of a database."""


@tool(effect="keyed")
async def careful(to: SenderAddress, amount: Money, text: str) -> None:
    """Take everything typed."""


def test_authority_in_plain_text_is_pointed_out() -> None:
    assert [concern.split()[0] for concern in concerns(pay)] == [
        "customer_id",
        "to",
        "amount",
        "iban",
    ]
    assert "SenderAddress" in concerns(pay)[1]
    assert "Money" in concerns(pay)[2]


def test_free_commands_are_pointed_out_even_where_nothing_is_changed() -> None:
    assert [concern.split()[0] for concern in concerns(query)] == ["sql", "order_id"]
    assert "whose it is" in concerns(query)[1]


def test_typed_parameters_are_nobodys_concern() -> None:
    assert concerns(careful) == []


@pytest.mark.parametrize(
    ("effect", "wanted"),
    [("read", ["order"]), ("keyed", ["order"])],
)
def test_an_order_as_plain_text_is_pointed_out(
    effect: Literal["read", "keyed"], wanted: list[str]
) -> None:
    """Whoever names any order in such a tool is answered, whoever it belongs to."""

    @tool(effect=effect)
    async def plain_lookup(order: str) -> None:
        """Look an order up."""

    assert [concern.split()[0] for concern in concerns(plain_lookup)] == wanted
