"""Calls that are wrong in one way each, made from the right ones."""

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from tests.security.retail.shop import Shop

ONCE = (
    "cancel_pending_order", "modify_pending_order_items", "return_delivered_order_items",
    "exchange_delivered_order_items",
)  # fmt: skip
STATUSES = (
    "pending",
    "processed",
    "delivered",
    "cancelled",
    "return requested",
    "exchange requested",
)


class Wrong(NamedTuple):
    kind: str
    tool: str
    arguments: dict[str, Any]
    status: str | None = None
    """What the order's status is set to before."""
    after_the_right_one: bool = False


def wrong_calls(
    tool: str, arguments: dict[str, Any], user: str, shop: Shop, data: Any, chance: Random
) -> Iterator[Wrong]:
    if "order_id" not in arguments or tool.startswith("get_"):
        return
    order = shop.order(arguments["order_id"])
    assert order is not None
    yield from _someone_elses_order(tool, arguments, user, order["status"], data, chance)
    right = "pending" if "pending" in tool else "delivered"
    for status in chance.sample([one for one in STATUSES if one != right], 3):
        yield Wrong("wrong status", tool, arguments, status=status)
    if "payment_method_id" in arguments:
        yield from _wrong_payment(tool, arguments, user, order, data, chance)
    if tool in ONCE:
        yield Wrong("a second modification", tool, arguments, after_the_right_one=True)
    if "new_item_ids" in arguments:
        yield from _wrong_items(tool, arguments, order, shop, chance)
    if right == "pending":
        yield from _too_much(arguments, order, data["users"][user])


def _someone_elses_order(
    tool: str, arguments: dict[str, Any], user: str, status: str, data: Any, chance: Random
) -> Iterator[Wrong]:
    others = [
        key
        for key, one in data["orders"].items()
        if one["user_id"] != user and one["status"] == status
    ]
    for key in chance.sample(others, 4):
        items = [item["item_id"] for item in data["orders"][key]["items"]]
        changed = {"order_id": key} | ({"item_ids": items[:1]} if "item_ids" in arguments else {})
        yield Wrong("someone else's order", tool, arguments | changed)


def _wrong_payment(
    tool: str,
    arguments: dict[str, Any],
    user: str,
    order: dict[str, Any],
    data: Any,
    chance: Random,
) -> Iterator[Wrong]:
    strangers = [
        one
        for name, other in data["users"].items()
        if name != user
        for one in other["payment_methods"]
    ]
    for method in chance.sample(strangers, 3):
        yield Wrong("wrong payment method", tool, arguments | {"payment_method_id": method})
    if tool == "return_delivered_order_items":
        paid_with = order["payment_history"][0]["payment_method_id"]
        for key, method in data["users"][user]["payment_methods"].items():
            if key != paid_with and method["source"] != "gift_card":
                yield Wrong("wrong payment method", tool, arguments | {"payment_method_id": key})


def _wrong_items(
    tool: str, arguments: dict[str, Any], order: dict[str, Any], shop: Shop, chance: Random
) -> Iterator[Wrong]:
    """Of another product than the item it takes the place of; also of one that stands elsewhere
    in the order."""
    replaced = shop.items[arguments["item_ids"][0]]["product"]
    others = [
        key for key, item in shop.items.items() if item["product"] != replaced and item["available"]
    ]
    for key in chance.sample(others, 5):
        yield Wrong(
            "an item of another product",
            tool,
            arguments | {"new_item_ids": [key, *arguments["new_item_ids"][1:]]},
        )
    in_order = {item["item_id"] for item in order["items"]}
    for key in chance.sample([key for key in shop.items if key not in in_order], 2):
        yield Wrong(
            "an item that was not ordered",
            tool,
            arguments | {"item_ids": [key, *arguments["item_ids"][1:]]},
        )


def _too_much(
    arguments: dict[str, Any], order: dict[str, Any], user: dict[str, Any]
) -> Iterator[Wrong]:
    total = sum(item["price"] for item in order["items"])
    for key, method in user["payment_methods"].items():
        if method.get("balance", total) < total:
            call = {"order_id": arguments["order_id"], "payment_method_id": key}
            yield Wrong("amount too high", "modify_pending_order_payment", call)
