"""A policy's mistakes are told with file, line and what to write instead."""

from pathlib import Path
from textwrap import dedent

import pytest

from deskhand.config.desk import DeskSpec, load_desk
from deskhand.config.tool_shape import ToolShape
from deskhand.errors import ConfigErrors
from deskhand.model.money import Money
from deskhand.wiring import read_desk
from tests.unit.config.conftest import Desk, Files

SHAPES = {
    "refund": ToolShape(
        "refund",
        "keyed",
        "medium",
        {
            "order": {"type": "string"},
            "amount": {"type": "string", "format": "money"},
            "reason": {"type": "string", "enum": ["damaged", "late"]},
            "items": {"type": "integer"},
            "language": {"type": "string"},
        },
        frozenset({"order", "amount"}),
        frozenset({"order"}),
    ),
    "find_order": ToolShape(
        "find_order", "read", "low", {"number": {"type": "string"}}, frozenset({"number"})
    ),
}
HEAD = "desk: acme\nflows: {main: {stages: {work: {service: dispatch}}}}\n"


def load(desk: Desk, policy: str, files: Files | None = None) -> DeskSpec:
    return load_desk(desk(HEAD + dedent(policy), files), tools=SHAPES, services={"dispatch"})


def problems(
    desk: Desk, policy: str, files: Files | None = None
) -> list[tuple[str, int | None, str, str]]:
    with pytest.raises(ConfigErrors) as caught:
        load(desk, policy, files)
    return [
        (str(one.file).rpartition("/")[2], one.line, one.problem, one.fix or "")
        for one in caught.value.problems
    ]


def test_rules_become_a_policy(desk: Desk) -> None:
    spec = load(
        desk,
        """
        time_zone: Europe/Prague
        policy:
          - name: small
            when: {tool: refund, amount: {at_most: 50 EUR}, order.sent_on.age: {below: 30 days}}
            then: allow
            limit: {per: day, calls: 3, money: 100 EUR}
          - {name: rest, then: hold, why: a colleague looks, say: Please wait., requires_escalation: true}
        """,  # noqa: E501
    )
    assert spec.policy is not None
    assert [rule.name for rule in spec.policy.rules] == ["small", "rest"]
    assert spec.policy.rules[0].limit is not None
    assert spec.policy.rules[0].limit.money == Money.of("100 EUR")
    assert spec.time_zone == "Europe/Prague"


def test_rules_may_stand_in_their_own_file(desk: Desk) -> None:
    rules = "policy:\n  - {name: all, when: {tool: refund}, then: deny}\n"
    spec = load(desk, "", {"policy.yaml": rules})
    assert spec.policy is not None
    wrong = rules + "  - {name: more, when: {tool: refnd}, then: deny}\n"
    [(file, line, problem, fix)] = problems(desk, "", {"policy.yaml": wrong})
    assert (file, line) == ("policy.yaml", 3)
    assert "no tool `refnd`" in problem
    assert "did you mean `refund`" in fix


@pytest.mark.parametrize(
    ("rule", "problem", "fix"),
    [
        ("{name: a, wen: {tool: refund}, then: deny}", "unknown key `wen`", "did you mean `when`"),
        ("{name: a, when: {tool: refund}, then: denny}", "`then` cannot be", "did you mean `deny`"),
        (
            "{name: a, when: {tool: refundd}, then: deny}",
            "no tool `refundd`",
            "did you mean `refund`",
        ),
        (
            "{name: a, when: {tool: {in: [refund, fnd_order]}}, then: deny}",
            "no tool `fnd_order`",
            "find_order",
        ),
        (
            "{name: a, when: {tool: refund, ammount: {at_most: 5 EUR}}, then: deny}",
            "no fact `ammount`",
            "`amount`",
        ),
        (
            "{name: a, when: {tool: refund, zebra: 1}, then: deny}",
            "no argument of `refund`",
            "amount",
        ),
        (
            "{name: a, when: {tool: find_order, amount: 1 EUR}, then: deny}",
            "`amount` is no fact",
            "number",
        ),
        (
            "{name: a, when: {tool: refund, amount: {at_most: 50}}, then: deny}",
            "an amount of money",
            "`50 EUR`",
        ),
        (
            "{name: a, when: {tool: refund, items: {above: 3 days}}, then: deny}",
            "a whole number",
            "`50`",
        ),
        (
            "{name: a, when: {tool: refund, reason: lost}, then: deny}",
            "can never be `lost`",
            "damaged",
        ),
        (
            "{name: a, when: {time.weekday: fryday}, then: deny}",
            "can never be `fryday`",
            "`friday`",
        ),
        (
            "{name: a, when: {principal.kynd: login}, then: deny}",
            "no fact `principal.kynd`",
            "`principal.kind`",
        ),
        (
            "{name: a, when: {principal.kind: {is: 3}}, then: deny}",
            "can never be `3`",
            "write text",
        ),
        (
            "{name: a, when: {tool: refund, amount: {at_mst: 5 EUR}}, then: deny}",
            "no operator `at_mst`",
            "at_most",
        ),
        (
            "{name: a, when: {any: [{tool: refund}, {not: {effct: read}}]}, then: deny}",
            "`effct`",
            "`effect`",
        ),
        (
            "{name: a, when: {tool: refund, order: {is_not: {fact: order2}}}, then: deny}",
            "`order2`",
            "`order`",
        ),
        (
            "{name: a, when: {tool: refund}, then: deny, limit: {per: day, calls: 1}}",
            "no effect with",
            "allow",
        ),
        (
            "{name: a, when: {tool: refund}, then: allow, limit: {per: day}}",
            "limits nothing",
            "calls",
        ),
        ("{name: a, when: {}, then: deny}", "the condition is empty", "at least one"),
        ("{name: a, then: deny}\n  - {name: a, then: hold}", "two rules called `a`", "rename"),
    ],
)
def test_a_mistake_says_where_and_what_to_write(
    desk: Desk, rule: str, problem: str, fix: str
) -> None:
    [(file, line, told, mended)] = problems(desk, f"policy:\n  - {rule}\n")
    assert file == "desk.yaml"
    assert line in (4, 5)
    assert problem in told
    assert fix in mended


def test_a_policy_cannot_be_in_two_places(desk: Desk) -> None:
    [(_, line, told, _)] = problems(desk, "policy: []\n", {"policy.yaml": "policy: []\n"})
    assert line == 3
    assert "beside it" in told


def test_a_strange_zone_is_refused(desk: Desk) -> None:
    [(_, _, told, fix)] = problems(desk, "time_zone: Europe/Praha\n")
    assert "Europe/Praha" in told
    assert "Europe/" in fix


def test_a_field_that_the_type_does_not_declare_is_told(tmp_path: Path) -> None:
    (tmp_path / "desk.yaml").write_text(
        HEAD
        + "policy:\n"
        + "  - {name: paid, when: {tool: cancel, booking.state: paid}, then: hold}\n"
        + "  - {name: late, when: {booking.starts_on.age: {above: 1 days}}, then: hold}\n"
        + "  - {name: mine, when: {tool: cancel, booking.owner: ann}, then: hold}\n"
        + "  - {name: loose, when: {tool: send_back, order.anything: x}, then: hold}\n"
    )
    (tmp_path / "tools.py").write_text(BOOKINGS)
    with pytest.raises(ConfigErrors) as caught:
        read_desk(str(tmp_path))
    (told,) = caught.value.problems
    assert (told.problem, told.line) == ("`booking` has no field `state`", 4)
    assert told.fix == "did you mean `status`?"


BOOKINGS = """
from datetime import date

from deskhand import Context, Owned, OwnedOrder, Principal, resolver, tool


class Booking(Owned):
    status: str
    starts_on: date


@resolver(Booking)
async def bookings(key: str, principal: Principal, ctx: Context) -> Booking | None:
    return None


@resolver(OwnedOrder)
async def orders(key: str, principal: Principal, ctx: Context) -> OwnedOrder | None:
    return None


@tool(effect="reversible", risk="low")
async def cancel(booking: Booking) -> dict:
    \"\"\"Cancel a booking.\"\"\"
    return {}


@tool(effect="reversible", risk="low")
async def send_back(order: OwnedOrder) -> dict:
    \"\"\"Send an order back.\"\"\"
    return {}
"""
