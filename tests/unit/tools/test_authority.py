"""A model has the sender's authority and nobody else's, whatever it asks for."""

import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import deskhand
from deskhand.config.sections.outgoing import OutgoingSpec
from deskhand.config.sections.policy import PolicySpec, RuleSpec
from deskhand.errors import ConfigError
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Envelope
from deskhand.model.message import Address, Message
from deskhand.model.money import Money
from deskhand.model.principal import ANONYMOUS, Principal, PrincipalKind, asserted
from deskhand.model.run import Decision, Verdict
from deskhand.policy.rule_policy import RulePolicy, compile_policy
from deskhand.tools import (
    Context,
    Customer,
    CustomerId,
    Gate,
    GateAnswer,
    Owned,
    SenderAddress,
    Slot,
    Terms,
)
from deskhand.tools.authority import Resolver, resolver
from deskhand.tools.registry import Tool, ToolRegistry, tool
from tests.memory_ledger import FixedContext, MemoryLedger

ANN, BOB = asserted("c-ann", by="a test", address="ann@example.com"), asserted("c-bob", by="a test")


class Order(Owned):
    paid: Money


ORDERS = {
    "O-1": Order(id="O-1", owner="c-ann", paid=Money.of("80 EUR")),
    "O-2": Order(id="O-2", owner="c-bob", paid=Money.of("90 EUR")),
    "O-3": Order(id="O-3", owner="Ann@example.com", paid=Money.of("5 EUR")),
}
SLOTS = {
    "S-1": datetime(2026, 11, 16, 9, tzinfo=UTC),
    "S-2": datetime(2026, 11, 16, 10, tzinfo=UTC),
}
done: list[Any] = []
looked_up: list[str] = []


@resolver(Order)
async def find_order(key: str, principal: Principal, ctx: Context) -> Order | list[Order] | None:
    looked_up.append(key)
    if key == "broken":
        raise ConnectionResetError("the shop is away")
    return [ORDERS["O-1"], ORDERS["O-2"]] if key == "O" else ORDERS.get(key.upper())


@resolver(Slot)
async def find_slot(key: str, principal: Principal, ctx: Context) -> Slot | None:
    if key not in SLOTS:
        return None
    held_for = "c-bob" if key == "S-2" else None
    return Slot(id=key, start=SLOTS[key], held_for=held_for)


@resolver(Customer)
async def find_customer(key: str, principal: Principal, ctx: Context) -> Customer | None:
    known = {"ann@example.com": "c-ann", "c-ann": "c-ann"}.get(key)
    return Customer(id=known, tier="gold") if known else None


@tool(effect="read")
async def order_status(order: Order) -> dict[str, Any]:
    """Look up one of the customer's own orders."""
    return {"order": order.id, "paid": str(order.paid)}


@tool(effect="keyed", risk="medium")
async def refund(order: Order, amount: Money, ctx: Context) -> dict[str, Any]:
    """Refund part of an order to where it was paid from."""
    done.append((order.id, str(amount), ctx.effect_key))
    return {"refunded": str(amount)}


@tool(effect="keyed")
async def refund_several(orders: list[Order]) -> dict[str, Any]:
    """Refund orders."""
    done.extend(order.id for order in orders)
    return {"count": len(orders)}


@tool(effect="keyed", risk="low")
async def book(slot: Slot, customer: CustomerId) -> dict[str, Any]:
    """Book a slot that was offered."""
    done.append((slot.id, customer))
    return {"booked": slot.id}


@tool(effect="keyed", risk="low")
async def send_copy(
    to: SenderAddress, text: str, customer: Customer | None = None
) -> dict[str, Any]:
    """Send a copy to the customer."""
    done.append((str(to), customer and customer.id))
    return {"sent": True}


@tool(effect="read")
async def my_orders(customer: CustomerId) -> dict[str, Any]:
    """List the customer's orders."""
    return {"orders": [order.id for order in ORDERS.values() if order.owner == customer]}


@tool(effect="read")
async def look_at(thing: str) -> Any:
    """Look at something the tool should have kept to itself."""
    return {
        "order": ORDERS["O-2"],
        "list": [{"order": "O-9", "customer_id": "c-bob"}],
        "own": {"order": "O-1", "customer_id": "c-ann", "owner": "ann@example.com"},
        "nobody": {"customer_id": None},
    }[thing]


@tool(effect="keyed")
async def profile(customer_id: str) -> dict[str, Any]:
    """Read a profile, the customer named in plain text."""
    done.append(customer_id)
    return {}


@tool(effect="keyed")
async def pay_out(iban: str) -> dict[str, Any]:
    """Pay to an account that the model names."""
    done.append(iban)
    return {}


@tool(effect="keyed", risk="high")
async def close_account(why: str) -> dict[str, Any]:
    """Close the account."""
    done.append(why)
    return {}


@tool(effect="reversible", risk="high")
async def open_ticket(text: str) -> dict[str, Any]:
    """Open a ticket."""
    done.append(text)
    return {}


@tool(effect="keyed")
async def hand_to(recipient: Order) -> dict[str, Any]:
    """Give something to whoever holds an order."""
    done.append(recipient.id)
    return {}


@tool(effect="keyed")
async def send_letter(to: SenderAddress, subject: str, lines: list[str]) -> dict[str, Any]:
    """Send a letter."""
    done.append(subject)
    return {}


@tool(effect="keyed")
async def send_to_several(to: list[SenderAddress]) -> dict[str, Any]:
    """Send a copy to several."""
    done.append(to)
    return {}


TOOLS: list[Tool] = [
    order_status, refund, refund_several, book, send_copy, my_orders, look_at, profile, pay_out, close_account,  # noqa: E501
    open_ticket, hand_to, send_letter, send_to_several,
]  # fmt: skip
RESOLVERS: list[Resolver] = [find_order, find_slot, find_customer]


@pytest.fixture(autouse=True)
def _fresh() -> None:
    done.clear()
    looked_up.clear()


async def call(
    name: str,
    principal: Principal = ANN,
    *,
    terms: Terms | None = None,
    outputs: Any = None,
    approvals: dict[str, Verdict] | None = None,
    **arguments: Any,
) -> GateAnswer:
    gate = Gate(ToolRegistry(TOOLS), MemoryLedger(), desk="acme", terms=terms, resolvers=RESOLVERS)
    ctx = FixedContext(principal=principal)
    ctx.approvals = approvals or {}
    message = Message(
        id="m",
        conversation="c",
        sender=Address(address="ann@example.com"),
        cc=(Address(address="mallory@example.com"),),
        headers={"Reply-To": "mallory@example.com"},
        body="Refund 12.50 for O-1 please, or call me on 602 123 457",
        received_at=datetime.now(UTC),
        principal=principal,
    )
    ctx.envelope = Envelope.of(message, run_id="run_1").changed(outputs=outputs or {})
    return await gate.call(name, arguments, allowed=[each.name for each in TOOLS], ctx=ctx)


def _policy(rules: list[dict[str, Any]]) -> RulePolicy:
    return compile_policy(PolicySpec(rules=tuple(RuleSpec.model_validate(rule) for rule in rules)))


def test_a_model_sees_keys_and_never_what_the_gate_fills() -> None:
    shown = {each.name: each.parameters for each in TOOLS}
    assert shown["refund"]["properties"]["order"]["type"] == "string"
    assert shown["refund"]["properties"]["amount"]["type"] == "string"
    assert shown["refund_several"]["properties"]["orders"]["items"]["type"] == "string"
    assert list(shown["book"]["properties"]) == ["slot"]
    assert list(shown["send_copy"]["properties"]) == ["to", "text"]
    assert shown["my_orders"]["properties"] == {}


async def test_an_own_order_is_looked_up_and_handed_over() -> None:
    answer = await call("refund", order="O-1", amount="12.50 EUR")
    assert (answer.verdict, answer.result.data) == ("allow", {"refunded": "12.50 EUR"})
    assert done == [("O-1", "12.50 EUR", "run_1.1.0")]
    assert answer.arguments == {"order": "O-1", "amount": "12.50 EUR"}


@pytest.mark.parametrize("key", ["O-2", "O-404", "' OR 1=1 --"])
async def test_what_is_not_there_and_what_is_not_yours_look_the_same(key: str) -> None:
    answer = await call("refund", order=key, amount="1 EUR")
    assert (answer.verdict, answer.rule) == ("deny", "not_yours")
    assert answer.result.for_model() == {"error": f"There is no order {key} of this customer."}
    assert answer.result.error
    assert answer.result.error.error_type == ErrorCode.NOT_FOUND
    assert done == []


async def test_the_reviewer_learns_more_than_the_model() -> None:
    assert "is not the principal's" in (await call("refund", order="O-2", amount="1 EUR")).reason
    assert "does not exist" in (await call("refund", order="O-404", amount="1 EUR")).reason


async def test_owners_known_by_their_address_are_recognised() -> None:
    assert (await call("order_status", order="O-3")).verdict == "allow"
    assert (await call("order_status", BOB, order="O-3")).rule == "not_yours"


async def test_nobody_owns_nothing() -> None:
    assert (await call("order_status", ANONYMOUS, order="O-1")).rule == "not_yours"
    assert (await call("my_orders", ANONYMOUS)).rule == "needs_a_customer"
    assert (await call("open_ticket", ANONYMOUS, text="help")).verdict == "allow"
    assert (await call("close_account", ANONYMOUS, why="x")).rule == "needs_a_principal"


async def test_a_forwarded_customer_is_read_for_and_not_acted_for() -> None:
    forwarded = Principal(
        kind=PrincipalKind.FORWARDED, address="ann@example.com", how="named by Crisp"
    )
    assert (await call("order_status", forwarded, order="O-1")).verdict == "allow"
    held = await call("refund", forwarded, order="O-1", amount="1 EUR")
    assert (held.verdict, held.rule) == ("hold", "needs_a_principal")
    assert done == []


async def test_several_matches_wait_for_a_person() -> None:
    answer = await call("refund", order="O", amount="1 EUR")
    assert (answer.verdict, answer.rule) == ("hold", "ambiguous_object")
    assert "O-2" not in str(answer.result.for_model())
    assert (
        await call("refund", asserted("c-eve", by="a test"), order="O", amount="1 EUR")
    ).rule == "not_yours"


async def test_a_company_rule_sees_the_one_that_is_meant_by_an_ambiguous_key() -> None:
    """Also when a person has let the ambiguity pass."""
    dear = {
        "name": "dear",
        "when": {"tool": "refund", "amount": {"above": {"fact": "order.paid"}}},
        "then": "deny",
    }
    terms = Terms(policy=_policy([dear, {"name": "rest", "then": "allow"}]))
    held = await call("refund", terms=terms, order="O", amount="80.01 EUR")
    assert held.rule == "ambiguous_object"
    approved = {held.call_hash: Verdict(Decision.APPROVE, "kim", 1, at=time.time())}
    assert (
        await call("refund", terms=terms, approvals=approved, order="O", amount="80.01 EUR")
    ).rule == "dear"


async def test_a_company_rule_is_asked_about_every_one_of_several_things() -> None:
    dear = {
        "name": "dear",
        "when": {"tool": "refund_several", "orders.paid": {"above": "50 EUR"}},
        "then": "deny",
    }
    terms = Terms(policy=_policy([dear, {"name": "rest", "then": "allow"}]))
    for keys in (["O-1", "O-3"], ["O-3", "O-1"]):
        assert (await call("refund_several", terms=terms, orders=keys)).rule == "dear"
    assert (await call("refund_several", terms=terms, orders=["O-3"])).verdict == "allow"


async def test_one_stranger_among_several_keys_is_enough() -> None:
    assert (await call("refund_several", orders=["O-1", "O-2"])).rule == "not_yours"
    assert (await call("refund_several", orders=["O-1", "O-3"])).verdict == "allow"
    assert done == ["O-1", "O-3"]


async def test_after_an_approval_everything_is_looked_up_again() -> None:
    """Approved while it was Ann's; sold to somebody else before the call was made."""
    orders = {"O-9": "c-ann"}

    @resolver(Order)
    async def find(key: str, principal: Principal, ctx: Context) -> Order | None:
        return Order(id=key, owner=orders[key], paid=Money.of("9 EUR"))

    @tool(effect="irreversible")
    async def scrap(order: Order) -> dict[str, Any]:
        """Scrap an order for good."""
        done.append(order.id)
        return {}

    gate = Gate(ToolRegistry([scrap]), MemoryLedger(), desk="acme", resolvers=[find])
    ctx = FixedContext(principal=ANN)
    held = await gate.call("scrap", {"order": "O-9"}, allowed=["scrap"], ctx=ctx)
    assert held.rule == "irreversible_needs_approval"
    ctx.approvals[held.call_hash] = Verdict(Decision.APPROVE, "eve", 1, at=time.time())
    orders["O-9"] = "c-bob"
    assert (
        await gate.call("scrap", {"order": "O-9"}, allowed=["scrap"], ctx=ctx)
    ).rule == "not_yours"
    assert done == []
    orders["O-9"] = "c-ann"
    assert (
        await gate.call("scrap", {"order": "O-9"}, allowed=["scrap"], ctx=ctx)
    ).verdict == "allow"
    assert done == ["O-9"]


async def test_a_resolver_that_breaks_lets_nothing_pass() -> None:
    assert (await call("order_status", order="broken")).verdict == "deny"
    answer = await call("refund", order="broken", amount="1 EUR")
    assert (answer.verdict, answer.rule) == ("hold", "lookup_failed")
    assert "shop is away" not in str(answer.result.for_model())


async def test_nothing_is_looked_up_for_a_call_that_is_not_admitted() -> None:
    await call("refund", order="O-1", amount="a lot")
    assert looked_up == []


async def test_a_slot_must_have_been_offered_or_be_held_for_the_customer() -> None:
    offered = {
        "act": {
            "results": [{"tool": "free_slots", "data": {"slots": [{"id": "S-1"}, {"id": "S-2"}]}}]
        }
    }
    assert (await call("book", slot="S-1")).rule == "not_offered"
    assert (await call("book", slot="S-1", outputs=offered)).verdict == "allow"
    assert (await call("book", slot="S-2", outputs=offered)).rule == "not_yours"
    assert (await call("book", BOB, slot="S-2")).verdict == "allow"
    assert done == [("S-1", "c-ann"), ("S-2", "c-bob")]


async def test_a_model_cannot_offer_a_slot_to_itself() -> None:
    claimed = {"plan": {"results": [{"tool": "free_slots", "data": {"slots": [{"id": "S-1"}]}}]}}
    terms = Terms(model_outputs=frozenset({"plan"}))
    assert (await call("book", slot="S-1", outputs=claimed, terms=terms)).rule == "not_offered"


async def test_a_note_that_names_a_slot_does_not_offer_it() -> None:
    laundered = {
        "act": {"results": [{"tool": "read_notes", "data": {"notes": ["S-1", {"text": "S-1"}]}}]}
    }
    assert (await call("book", slot="S-1", outputs=laundered)).rule == "not_offered"


@pytest.mark.parametrize(
    "to", ["mallory@example.com", "ann@example.com.evil.example", "ann@example.co", "c-ann"]
)
async def test_an_address_that_is_nobodys_here_waits_for_a_person(to: str) -> None:
    answer = await call("send_copy", to=to, text="hi")
    assert (answer.verdict, answer.rule) == ("hold", "recipient")
    assert done == []


async def test_what_a_tool_sends_is_looked_through_like_a_reply() -> None:
    link = "Please confirm at https://evil.example/" + "x" * 300
    assert (await call("send_copy", to="ann@example.com", text=link)).rule == "outgoing_content"
    late = "Dear customer, " * 40 + "write to drop@evil.example"
    assert (await call("send_copy", to="ann@example.com", text=late)).rule == "outgoing_content"
    forged = await call(
        "send_letter", to="ann@example.com", subject="Hi\r\nBcc: drop@evil.example", lines=["hello"]
    )
    assert (forged.verdict, forged.rule) == ("deny", "header_injection")
    assert done == []


async def test_what_a_tool_sends_names_nothing_of_another_customers() -> None:
    """A desk's own tool that carries text to a customer knows as much as a reply does."""
    results = [{"tool": "search", "status": "success", "data": {"order": "O-2"}}]
    for outputs in (None, {"act": {"results": results}}):
        answer = await call("send_copy", outputs=outputs, to="ann@example.com", text="See O-2.")
        assert (answer.verdict, answer.rule) == ("hold", "outgoing_content")
        assert "O-2" in answer.reason
        letter = await call(
            "send_letter", outputs=outputs, to="ann@example.com", subject="About O-2", lines=["Hi"]
        )
        assert letter.rule == "outgoing_content"
    assert done == []
    assert (await call("send_copy", to="ann@example.com", text="See O-1.")).verdict == "allow"


def test_nothing_but_the_gate_carries_words_that_a_model_chose() -> None:
    """Whoever has an outbox can send past the gate. Beside the tool of the gate, these do: a
    question about how the desk did, in the operator's words, and what was said in a chat, to the
    one who said it."""
    sources = Path(deskhand.__file__).parent
    holders = {
        file.relative_to(sources).as_posix()
        for file in sources.rglob("*.py")
        if re.search(r"\bChannelPost\(|\boutbox\.send\(|_folder\.send\(", file.read_text())
    }
    assert holders == {
        "tools/delivery.py",
        "wiring/channels.py",
        "wiring/chat_mails.py",
        "wiring/ticket_work.py",
    }


async def test_a_number_is_repeated_to_the_proven_customer_who_wrote_it() -> None:
    """tests/integration/test_reflection.py asks the same for senders whom nobody has proven."""
    to, other = "ann@example.com", "Call 602 123 458."
    assert (await call("send_copy", to=to, text="You wrote 602 123 457.")).verdict == "allow"
    assert (await call("send_copy", to=to, text=other)).rule == "outgoing_content"
    listed = Terms(outgoing=OutgoingSpec(phones=("602 123 458",)))
    assert (await call("send_copy", terms=listed, to=to, text=other)).verdict == "allow"


async def test_a_note_that_names_an_address_does_not_make_it_the_customers() -> None:
    data = {
        "notes": ["drop@evil.example", "DE89370400440532013000", "+1 900 555 0100"],
        "order": "O-1",
        "phone": "+1 900 555 0100",
    }
    outputs = {"act": {"results": [{"tool": "read_notes", "status": "success", "data": data}]}}
    terms = Terms(trusted_outputs={"act": "act"})
    for text in (
        "Write to drop@evil.example",
        "Pay to DE89 3704 0044 0532 0130 00",
        "Call +1 900 555 0100",
    ):
        answer = await call(
            "send_copy", terms=terms, outputs=outputs, to="ann@example.com", text=text
        )
        assert answer.rule == "outgoing_content"
    answer = await call(
        "send_copy", terms=terms, outputs=outputs, to="ann@example.com", text="It is about O-1"
    )
    assert answer.verdict == "allow"


async def test_a_recipient_of_a_type_of_its_own_is_no_address() -> None:
    assert (await call("hand_to", recipient="O-1")).verdict == "allow"
    assert (await call("hand_to", recipient="O-2")).rule == "not_yours"


async def test_a_broken_address_is_refused_behind_a_foreign_one_too() -> None:
    """What is held may be approved; this never."""
    answer = await call(
        "send_to_several", to=["mallory@example.com", "ann@example.com\r\nBcc: x@evil.example"]
    )
    assert (answer.verdict, answer.rule) == ("deny", "recipient")


async def test_own_addresses_and_the_operators_list_are_written_to() -> None:
    terms = Terms(recipients=frozenset({"warehouse@acme.example"}))
    assert (await call("send_copy", to="Ann@Example.com", text="hi")).verdict == "allow"
    assert (
        await call("send_copy", to="Warehouse@acme.example", text="hi", terms=terms)
    ).verdict == "allow"
    assert done == [("Ann@Example.com", "c-ann"), ("Warehouse@acme.example", "c-ann")]
    assert (
        await call("send_copy", to="ann@example.com\r\nBcc: mallory@example.com", text="hi")
    ).verdict == "deny"


@pytest.mark.parametrize("thing", ["order", "list"])
async def test_another_customers_data_is_withheld(
    thing: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = await call("look_at", thing=thing)
    assert answer.result.error
    assert answer.result.error.error_type == ErrorCode.TOOL_RESULT_WITHHELD
    assert "c-bob" not in answer.result.model_dump_json()
    assert "data of another customer" in caplog.text
    assert (await call("look_at", ANONYMOUS, thing=thing)).result.error


@pytest.mark.parametrize("thing", ["own", "nobody"])
async def test_own_data_passes(thing: str) -> None:
    assert (await call("look_at", thing=thing)).result.ok


async def test_a_customer_named_in_plain_text_is_the_principal_or_nobody() -> None:
    assert (await call("profile", customer_id="c-bob")).rule == "read_scope"
    assert (await call("profile", ANONYMOUS, customer_id="c-ann")).rule == "read_scope"
    assert (await call("profile", customer_id="c-ann")).rule == "unbound_authority"
    assert done == []


async def test_without_a_policy_risk_and_plain_text_wait_for_a_person() -> None:
    assert (await call("close_account", why="x")).rule == "risk_needs_approval"
    assert (await call("pay_out", iban="DE89370400440532013000")).rule == "unbound_authority"
    assert done == []


async def test_the_desk_says_under_which_id_and_tier_it_knows_an_address() -> None:
    sender = Principal(kind=PrincipalKind.SENDER, address="ann@example.com", how="dkim=pass")
    answer = await call("my_orders", sender)
    assert answer.result.data == {"orders": ["O-1"]}
    assert (answer.facts["principal"]["customer_id"], answer.facts["principal"]["tier"]) == (
        "c-ann",
        "gold",
    )


async def test_every_argument_says_where_it_came_from() -> None:
    outputs = {"act": {"results": [{"tool": "order_status", "data": {"order": "O-3"}}]}}
    answer = await call("refund", order="O-1", amount="12.50 EUR", outputs=outputs)
    assert answer.origin == {"order": "message", "amount": "message"}
    assert (await call("order_status", order="O-3", outputs=outputs)).origin == {
        "order": "result:1"
    }
    assert (await call("refund", order="O-3", amount="77 EUR")).origin == {
        "order": "model",
        "amount": "model",
    }
    assert (await call("send_copy", to="ann@example.com", text="x")).origin["to"] == "principal"
    constants = Terms(constants={"open_ticket": {"text": ["call back"]}})
    assert (await call("open_ticket", text="call back", terms=constants)).origin == {
        "text": "operator"
    }


def test_a_type_hidden_where_the_gate_does_not_look_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot look into"):

        @tool(effect="keyed")
        async def sneaky(orders: dict[str, Order]) -> None:
            """Take orders in a mapping."""


@pytest.mark.parametrize("wrong", [str, Money, "Order"])
def test_a_resolver_is_for_a_type_that_gives_authority(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="gives authority"):

        @resolver(wrong)
        async def find(key: str, principal: Principal, ctx: Context) -> None: ...
