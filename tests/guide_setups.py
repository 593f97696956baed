"""What the Python blocks of the documentation stand on, by the name in the comment before a block.

Each setup is a generator: it puts names into the block's namespace, and looks at them afterwards.
"""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from deskhand import (
    AgentLoop,
    Classification,
    Completion,
    Gate,
    Message,
    Money,
    Owned,
    Plan,
    ProfileSpec,
    Respond,
    ScriptedChatModel,
    ToolRegistry,
    ToolRequest,
    open_database,
    open_desk,
    read_desk,
    tool,
)
from tests.fake_openai import FakeOpenAI
from tests.kit import a_message
from tests.memory_ledger import FixedContext

Names = dict[str, Any]
SETUPS: dict[str, Callable[[Names], AsyncIterator[None]]] = {}


def setup(work: Callable[[Names], AsyncIterator[None]]) -> Callable[[Names], AsyncIterator[None]]:
    SETUPS[work.__name__] = work
    return work


@asynccontextmanager
async def prepared(name: str | None, names: Names) -> AsyncIterator[None]:
    """The block's namespace, made ready; what is asserted afterwards is asserted on leaving."""
    if name is None:
        yield
        return
    async with asynccontextmanager(SETUPS[name])(names):
        yield


class _Shop:
    """The shop that the guide's tools talk to."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    async def open_return(self, order: str, *, idempotency_key: str) -> dict[str, Any]:
        self.keys.append(idempotency_key)
        return {"order": order, "return": "R-1"}

    async def order(self, key: str) -> dict[str, Any] | None:
        known = {"customer": "c-ann", "status": "delivered", "refundable": "80 EUR"}
        return known if key == "P-1001" else None

    async def refund(self, order: str, amount: Money, *, key: str) -> dict[str, Any]:
        self.keys.append(key)
        return {"order": order, "refunded": str(amount)}


async def _called(names: Names, name: str, arguments: dict[str, Any]) -> Any:
    """The block's tool, called through a gate that knows the block's resolvers."""
    resolvers = [value for value in names.values() if type(value).__name__ == "Resolver"]
    gate = Gate(ToolRegistry([names[name]]), resolvers=resolvers)
    return await gate.call(name, arguments, allowed=(name,), ctx=FixedContext())


@setup
async def shop_returns(names: Names) -> AsyncIterator[None]:
    names["shop"] = _Shop()
    yield
    answer = await _called(names, "open_return", {"order": "P-1001"})
    assert answer.result.data["return"] == "R-1", answer
    refused = await _called(names, "open_return", {"order": "x"})
    assert refused.result.error.message == "There is no parcel x."


@setup
async def shop_refunds(names: Names) -> AsyncIterator[None]:
    names["shop"] = _Shop()
    yield
    answer = await _called(names, "refund", {"order": "P-1001", "amount": "20 EUR"})
    assert answer.arguments["order"] == "P-1001", answer
    assert answer.verdict in ("allow", "hold"), answer
    unknown = await _called(names, "refund", {"order": "P-9", "amount": "20 EUR"})
    assert (unknown.verdict, unknown.rule) == ("deny", "not_yours"), unknown


@setup
async def owned_orders(names: Names) -> AsyncIterator[None]:
    class Order(Owned):
        status: str = ""
        refundable: Money
        contact: str | None = None

    row = {"id": "P-1001", "owner": "c-ann", "email": "ann@example.com"}
    names.update(Order=Order, row=row, refundable=Money.of("80 EUR"))
    yield


@setup
async def a_raw_mail(names: Names) -> AsyncIterator[None]:
    names["raw"] = (
        b"From: Ann <ann@example.com>\r\nSubject: Parcel\r\n\r\nWhere is it?\r\n-- \r\nAnn"
    )
    yield
    assert isinstance(names["message"], Message)
    assert names["mail"].visible_reply(names["message"].body).strip() == "Where is it?"


@setup
async def a_web_form(names: Names) -> AsyncIterator[None]:
    yield
    prepared = names["web_form"].function(a_message(body="Ann Reed\nWhere is it?"))
    assert (prepared.name, prepared.text) == ("Ann Reed", "Where is it?")


@setup
async def a_scored_run(names: Names) -> AsyncIterator[None]:
    yield
    run = {"reply": {"text": "Hello\nYour shop\n"}}
    assert names["signed"].function(run, "Your shop") is True


@setup
async def an_urgent_message(names: Names) -> AsyncIterator[None]:
    yield
    fact = names["urgent"].function
    assert fact(a_message(), "I need it TODAY") is True
    assert fact(a_message(), "no hurry") is False


@setup
async def own_stock(names: Names) -> AsyncIterator[None]:
    yield
    assert names["TABLES"].name == "stock"
    assert names["reserve"].rehearsable is True


@setup
async def router_parts(names: Names) -> AsyncIterator[None]:
    class Parts:
        async def classify(self, interaction: Any, eligible: Any, history: Any) -> Classification:
            return Classification(intent_id="refund", parameters={})

        def plan(self, intent_id: str, parameters: Any) -> Plan:
            return Plan(steps=(Respond(message="Your money is on its way."),))

        async def execute(self, call: Any) -> dict[str, Any]:
            return {}

    names.update(classifier=Parts(), planner=Parts(), executor=Parts())
    yield
    assert names["response"].text == "Your money is on its way."


@setup
async def agent_loop(names: Names) -> AsyncIterator[None]:
    """The parts of the loop, and the loop that the page has made of them before."""

    @tool(effect="read")
    async def find_order(order: str) -> dict[str, str]:
        """Look up where a parcel is."""
        return {"order": order, "status": "on its way"}

    def answer(request: Any) -> Completion:
        if request.messages[-1]["role"] == "tool":
            return Completion("It is on its way.", "test/model")
        call = ToolRequest("c1", "find_order", '{"order": "P-1001"}')
        return Completion("", "test/model", (call,))

    registry = ToolRegistry([find_order])
    chat, gate = ScriptedChatModel(answer), Gate(registry)
    profile = ProfileSpec(
        name="helper", system_prompt="You help.", tools=("find_order",), model="test/model"
    )
    loop = AgentLoop(profile, chat, gate, registry)
    names.update(chat=chat, gate=gate, registry=registry, loop=loop)
    yield
    assert getattr(names["event"], "status", "") == "completed"


@setup
async def model_server(names: Names) -> AsyncIterator[None]:
    async with FakeOpenAI() as server:
        with patch.dict(os.environ, {"MODEL_SERVER": server.base_url}):
            yield
    assert names["answer"].text == "Hello, this is an answer."
    assert names["chunk"].completion.text == names["answer"].text


@setup
async def triage_desk(names: Names) -> AsyncIterator[None]:
    async with (
        open_database("triage.db") as database,
        open_desk(read_desk("triage"), database, outbox=Path("outbox"), live=False) as desk,
    ):
        names["desk"] = desk
        yield
    assert names["answer"].run_id
