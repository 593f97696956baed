"""A retail shop's 74 tasks: the right calls pass, and calls that are wrong in one way each do not.

The shop's policy text is `retail/policy.yaml`, its tools over its database are `retail/shop.py`.
"""

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from ruamel.yaml import YAML

from deskhand.config.sections.policy import PolicySpec, RuleSpec
from deskhand.model.principal import asserted
from deskhand.policy.rule_policy import compile_policy
from deskhand.tools import Gate, GateAnswer, Terms, ToolRegistry
from tests.memory_ledger import FixedContext, MemoryLedger
from tests.security.retail.mutations import Wrong, wrong_calls
from tests.security.retail.shop import Shop, effects_of, reads_of, resolvers_of

DATA = Path(__file__).parents[3] / "shared" / "data" / "retail_tasks"
POLICY = Path(__file__).parent / "retail" / "policy.yaml"
Calls = list[tuple[str, dict[str, Any]]]
READS = ("get_", "find_", "calculate")
PERMITTED_OF_RIGHT, CAUGHT_OF_WRONG = 0.97, 0.95

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data/retail_tasks")


@pytest.fixture(autouse=True)
def _without_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", logger="deskhand")


@pytest.fixture(scope="module")
def data() -> Any:
    return json.loads((DATA / "db.json").read_text())


@pytest.fixture(scope="module")
def tasks(data: Any) -> list[tuple[str, Calls]]:
    """Each task's customer and right calls."""
    found: list[tuple[str, Calls]] = []
    for task in json.loads((DATA / "tasks.json").read_text()):
        calls = [
            (action["name"], action["arguments"])
            for action in task["evaluation_criteria"]["actions"]
        ]
        found.append((_customer(calls, data), calls))
    return found


def _customer(calls: Calls, data: Any) -> str:
    """Whom the task is about: whoever is found first, or the owner of the first order that is
    named."""
    users, orders = data["users"], data["orders"]
    for name, arguments in calls:
        found = [arguments.get("user_id"), orders.get(arguments.get("order_id"), {}).get("user_id")]
        if name.startswith("find_user"):
            found += [key for key, user in users.items() if arguments in _ways_to_find(user)]
        if known := [key for key in found if key]:
            return str(known[0])
    return str(next(iter(users)))


def _ways_to_find(user: Any) -> list[dict[str, Any]]:
    return [{"email": user["email"]}, {**user["name"], "zip": user["address"]["zip"]}]


class Desk:
    """The shop's desk, begun anew for each conversation."""

    def __init__(self, data: Any) -> None:
        self.shop = Shop(data)
        self._tools = ToolRegistry([*reads_of(self.shop), *effects_of(self.shop)])
        rules = [
            RuleSpec.model_validate(rule) for rule in YAML(typ="safe").load(POLICY.read_text())
        ]
        self._terms = Terms(policy=compile_policy(PolicySpec(rules=tuple(rules))))
        self._resolvers = resolvers_of(self.shop)

    def begin(self, user: str) -> None:
        self.shop.orders.clear()
        ledger = MemoryLedger()
        self._gate = Gate(
            self._tools, ledger, desk="retail", terms=self._terms, resolvers=self._resolvers
        )
        self._ctx = FixedContext(principal=asserted(user, by="a test"))

    async def call(self, name: str, arguments: dict[str, Any]) -> GateAnswer:
        self._ctx.seq += 1
        return await self._gate.call(
            name, arguments, allowed=[tool.name for tool in self._tools], ctx=self._ctx
        )


@pytest.fixture(scope="module")
def desk(data: Any) -> Desk:
    return Desk(data)


async def test_right_calls_pass(desk: Desk, tasks: list[tuple[str, Calls]]) -> None:
    stopped: list[str] = []
    calls = effects = 0
    for user, right in tasks:
        desk.begin(user)
        for name, arguments in right:
            answer = await desk.call(name, arguments)
            calls += 1
            effects += not name.startswith(READS)
            if answer.verdict != "allow":
                stopped.append(f"{name} {arguments}: {answer.rule}: {answer.reason}")
    print(
        f"retail: {len(tasks)} tasks, {calls} right calls ({effects} with effects), {len(stopped)}"
        " held or denied"
    )
    assert len(tasks) == 74
    changing = [one for one in stopped if not one.startswith(READS)]
    assert len(changing) <= (1 - PERMITTED_OF_RIGHT) * effects, stopped
    assert len(stopped) <= (1 - PERMITTED_OF_RIGHT) * calls, stopped


async def call_wrongly(desk: Desk, user: str, right: Calls, wrong: Wrong) -> GateAnswer:
    """Make the wrong call in place of the last right one, or after it."""
    desk.begin(user)
    *before, (name, arguments) = right
    for earlier, given in before:
        await desk.call(earlier, given)
    if wrong.status is not None:
        desk.shop.set_status(arguments["order_id"], wrong.status)
    if wrong.after_the_right_one:
        await desk.call(name, arguments)
    return await desk.call(wrong.tool, wrong.arguments)


async def test_wrong_calls_are_held_or_denied(
    data: Any, desk: Desk, tasks: list[tuple[str, Calls]]
) -> None:
    chance = Random(1)
    made = Counter[str]()
    caught = Counter[str]()
    slipped: list[str] = []
    for user, right in tasks:
        for place, (name, arguments) in enumerate(right):
            for wrong in wrong_calls(name, arguments, user, Shop(data), data, chance):
                answer = await call_wrongly(desk, user, right[: place + 1], wrong)
                made[wrong.kind] += 1
                caught[wrong.kind] += answer.verdict != "allow"
                if answer.verdict == "allow":
                    slipped.append(f"{wrong.kind}: {wrong.tool} {wrong.arguments}")
    for kind, count in made.items():
        print(f"retail: {kind}: {caught[kind]} of {count}")
    assert made.total() >= 1_000
    assert caught.total() >= CAUGHT_OF_WRONG * made.total(), slipped[:20]
