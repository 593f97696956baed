"""The retail shop's database behind tools: customers name orders, items and payment methods, the
gate binds them."""

import copy
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from deskhand.model.principal import Principal
from deskhand.tools import Context, CustomerId, Tool, tool
from deskhand.tools.authority import Authority, Owned, Resolver, resolver

CURRENCY = "USD"


class Account(Owned):
    """The customer's own account."""


class Order(Owned):
    """One of the customer's own orders."""

    status: str
    items: list[str]
    products: list[str]
    paid_with: str
    total: str


class PaymentMethod(Owned):
    """One of the customer's own payment methods."""

    source: str
    balance: str | None = None


class Item(Authority):
    """A variant of a product: anybody may ask for one."""

    product: str
    available: bool

    def belongs_to(self, principal: Principal) -> bool:
        return True


class Shop:
    """A view of the database that keeps its changes to itself."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self.orders: dict[str, dict[str, Any]] = {}
        self.items = {
            item: {**variant, "product": product["product_id"]}
            for product in data["products"].values()
            for item, variant in product["variants"].items()
        }

    @property
    def users(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._data["users"]
        return found

    def order(self, key: str) -> dict[str, Any] | None:
        if key not in self.orders and key in self._data["orders"]:
            self.orders[key] = copy.deepcopy(self._data["orders"][key])
        return self.orders.get(key)

    def set_status(self, key: str, status: str) -> None:
        order = self.order(key)
        assert order is not None
        order["status"] = status


def money(amount: float) -> str:
    return f"{Decimal(str(amount)):.2f} {CURRENCY}"


def resolvers_of(shop: Shop) -> list[Resolver]:
    @resolver(Order)
    async def order_of(key: str, principal: Principal, ctx: Context) -> Order | None:
        order = shop.order(key)
        if order is None:
            return None
        paid = [one for one in order["payment_history"] if one["transaction_type"] == "payment"]
        items = [item["item_id"] for item in order["items"]]
        products = [item["product_id"] for item in order["items"]]
        return Order(
            id=key,
            owner=order["user_id"],
            status=order["status"],
            items=items,
            products=products,
            paid_with=paid[0]["payment_method_id"],
            total=money(sum(item["price"] for item in order["items"])),
        )

    @resolver(Account)
    async def account_of(key: str, principal: Principal, ctx: Context) -> Account | None:
        return Account(id=key, owner=key) if key in shop.users else None

    @resolver(PaymentMethod)
    async def method_of(key: str, principal: Principal, ctx: Context) -> PaymentMethod | None:
        for name, user in shop.users.items():
            if (method := user["payment_methods"].get(key)) is not None:
                balance = money(method["balance"]) if "balance" in method else None
                return PaymentMethod(id=key, owner=name, source=method["source"], balance=balance)
        return None

    @resolver(Item)
    async def item_of(key: str, principal: Principal, ctx: Context) -> Item | None:
        item = shop.items.get(key)
        return (
            None
            if item is None
            else Item(id=key, product=item["product"], available=item["available"])
        )

    return [order_of, account_of, method_of, item_of]


def reads_of(shop: Shop) -> list[Tool]:
    @tool(effect="read")
    async def find_user_id_by_email(email: str, customer: CustomerId) -> dict[str, Any]:
        """Find the customer by e-mail: himself or nobody."""
        return {"user_id": customer if shop.users[customer]["email"] == email else None}

    @tool(effect="read")
    async def find_user_id_by_name_zip(
        first_name: str, last_name: str, zip: str, customer: CustomerId
    ) -> dict[str, Any]:
        """Find the customer by name and postal code: himself or nobody."""
        user = shop.users[customer]
        is_he = (user["name"], user["address"]["zip"]) == (
            {"first_name": first_name, "last_name": last_name},
            zip,
        )
        return {"user_id": customer if is_he else None}

    @tool(effect="read")
    async def get_user_details(user_id: Account) -> dict[str, Any]:
        """Show the customer's account."""
        return dict(shop.users[user_id.id])

    @tool(effect="read")
    async def get_order_details(order_id: Order) -> dict[str, Any]:
        """Show an order."""
        return shop.order(order_id.id) or {}

    @tool(effect="read")
    async def get_product_details(product_id: str) -> dict[str, Any]:
        """Show a product; public."""
        return {"product": product_id}

    @tool(effect="read")
    async def get_item_details(item_id: Item) -> dict[str, Any]:
        """Show an item; public."""
        return dict(shop.items[item_id.id])

    @tool(effect="read")
    async def calculate(expression: str) -> dict[str, Any]:
        """Do a sum."""
        return {"expression": expression}

    return [
        find_user_id_by_email,
        find_user_id_by_name_zip,
        get_user_details,
        get_order_details,
        get_product_details,
        get_item_details,
        calculate,
    ]


def effects_of(shop: Shop) -> list[Tool]:
    return [
        *effects_on_pending_orders(shop),
        *effects_on_delivered_orders(shop),
        *effects_on_accounts(),
    ]


def moved(shop: Shop, order: Order, status: str) -> dict[str, Any]:
    shop.set_status(order.id, status)
    return {"order_id": order.id, "status": status}


def effects_on_pending_orders(shop: Shop) -> list[Tool]:
    @tool(effect="keyed", risk="medium")
    async def cancel_pending_order(order_id: Order, reason: str) -> dict[str, Any]:
        """Cancel a pending order."""
        return moved(shop, order_id, "cancelled")

    @tool(effect="keyed", risk="medium")
    async def modify_pending_order_address(
        order_id: Order,
        address1: str,
        address2: str,
        city: str,
        state: str,
        country: str,
        zip: str,
    ) -> dict[str, Any]:
        """Send a pending order elsewhere."""
        return moved(shop, order_id, order_id.status)

    @tool(effect="keyed", risk="medium")
    async def modify_pending_order_payment(
        order_id: Order, payment_method_id: PaymentMethod
    ) -> dict[str, Any]:
        """Have a pending order paid otherwise."""
        return moved(shop, order_id, order_id.status)

    @tool(effect="keyed", risk="medium")
    async def modify_pending_order_items(
        order_id: Order,
        item_ids: list[Item],
        new_item_ids: list[Item],
        payment_method_id: PaymentMethod,
    ) -> dict[str, Any]:
        """Change items of a pending order."""
        return moved(shop, order_id, "pending (item modified)")

    return [
        cancel_pending_order,
        modify_pending_order_address,
        modify_pending_order_payment,
        modify_pending_order_items,
    ]


def effects_on_delivered_orders(shop: Shop) -> list[Tool]:
    @tool(effect="keyed", risk="medium")
    async def return_delivered_order_items(
        order_id: Order, item_ids: list[Item], payment_method_id: PaymentMethod
    ) -> dict[str, Any]:
        """Take items back."""
        return moved(shop, order_id, "return requested")

    @tool(effect="keyed", risk="medium")
    async def exchange_delivered_order_items(
        order_id: Order,
        item_ids: list[Item],
        new_item_ids: list[Item],
        payment_method_id: PaymentMethod,
    ) -> dict[str, Any]:
        """Exchange items."""
        return moved(shop, order_id, "exchange requested")

    return [return_delivered_order_items, exchange_delivered_order_items]


def effects_on_accounts() -> list[Tool]:
    @tool(effect="keyed", risk="medium")
    async def modify_user_address(
        user_id: Account,
        address1: str,
        address2: str,
        city: str,
        state: str,
        country: str,
        zip: str,
    ) -> dict[str, Any]:
        """Change the customer's own address."""
        return {"user_id": user_id.id}

    @tool(effect="reversible")
    async def transfer_to_human_agents(summary: str) -> dict[str, Any]:
        """Hand over to a person."""
        return {"transferred": True}

    return [modify_user_address, transfer_to_human_agents]
