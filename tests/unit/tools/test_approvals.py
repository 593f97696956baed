"""Approvals hold for one call, for a while, and by enough people; caps and the stop switch hold
for all."""

import json
import sys
from typing import Any

import pytest

from deskhand import crashpoints
from deskhand.model.money import Money
from deskhand.model.run import Decision, Verdict, canonical_hash
from deskhand.model.totals import Limit, Stop
from deskhand.policy.call_facts import CallFacts, facts_of
from deskhand.policy.rule_policy import NullPolicy, RuleDecision
from deskhand.tools import Gate, GateAnswer, Terms, ToolRegistry, tool
from deskhand.tools.rules import RULES
from tests.memory_ledger import FixedContext, MemoryLedger

DAY = 86_400.0
done: list[str] = []


@tool(effect="irreversible")
async def wire(amount: Money) -> dict[str, Any]:
    """Send money that nobody gets back."""
    done.append(str(amount))
    return {"sent": str(amount)}


@tool(effect="keyed")
async def credit(amount: Money) -> dict[str, Any]:
    """Credit an amount."""
    done.append(str(amount))
    return {"credited": str(amount)}


@pytest.fixture(autouse=True)
def _fresh() -> None:
    done.clear()


class Desk:
    def __init__(self, **terms: Any) -> None:
        self.ctx, self.ledger, self.now = FixedContext(), MemoryLedger(), 1_800_000_000.0
        self.gate = Gate(
            ToolRegistry([wire, credit]),
            self.ledger,
            desk="acme",
            terms=Terms(**terms),
            now=lambda: self.now,
        )

    async def call(self, name: str, amount: str, **more: Any) -> GateAnswer:
        return await self.gate.call(
            name, {"amount": amount}, allowed=["wire", "credit"], ctx=self.ctx, **more
        )

    def approve(
        self, name: str, amount: str, *, by: str = "ann", signed_by: str | None = None
    ) -> None:
        shown = canonical_hash([name, {"amount": amount}])
        self.ctx.approvals[shown] = Verdict(
            Decision.APPROVE, by, 1, at=self.now, signed_by=signed_by
        )


async def test_an_approval_expires() -> None:
    desk = Desk()
    desk.approve("wire", "9 EUR")
    desk.now += 7 * DAY + 1
    answer = await desk.call("wire", "9 EUR")
    assert (answer.verdict, answer.rule) == ("hold", "approval_expired")
    assert "7.0 days old" in answer.reason
    desk.now -= 2
    assert (await desk.call("wire", "9 EUR")).verdict == "allow"
    assert done == ["9 EUR"]


async def test_an_approval_from_the_future_does_not_count() -> None:
    desk = Desk()
    desk.approve("wire", "9 EUR")
    desk.now -= DAY
    answer = await desk.call("wire", "9 EUR")
    assert (answer.rule, done) == ("approval_expired", [])
    assert "future" in answer.reason


async def test_a_changed_argument_needs_a_new_approval() -> None:
    desk = Desk()
    desk.approve("wire", "9 EUR")
    assert (await desk.call("wire", "90 EUR")).rule == "irreversible_needs_approval"
    assert (await desk.call("wire", "9 USD")).rule == "irreversible_needs_approval"
    assert (await desk.call("wire", "9.00 EUR")).verdict == "allow"


@pytest.mark.parametrize("amount", ["501 EUR", "1 USD"])
async def test_much_money_needs_two_people(amount: str) -> None:
    desk = Desk(four_eyes_over=Money.of("500 EUR"))
    held = await desk.call("wire", amount)
    assert held.review("k")["approvals_needed"] == 2
    desk.approve("wire", amount)
    assert (await desk.call("wire", amount)).rule == "four_eyes"
    desk.approve("wire", amount, by="Ann ", signed_by="ann")
    assert (await desk.call("wire", amount)).rule == "four_eyes"
    desk.approve("wire", amount, by="bob", signed_by="ann")
    answer = await desk.call("wire", amount)
    assert (answer.verdict, answer.approved_by) == ("allow", ("ann", "bob"))


async def test_less_money_needs_one() -> None:
    desk = Desk(four_eyes_over=Money.of("500 EUR"))
    assert "approvals_needed" not in (await desk.call("wire", "500 EUR")).review("k")
    desk.approve("wire", "500 EUR")
    assert (await desk.call("wire", "500 EUR")).verdict == "allow"


async def test_over_a_cap_a_person_is_asked_and_may_let_it_pass() -> None:
    desk = Desk(caps=(Limit("day", "EUR", 100_0000),))
    assert (await desk.call("credit", "80 EUR", index=0)).verdict == "allow"
    held = await desk.call("credit", "21 EUR", index=1)
    assert (held.verdict, held.rule) == ("hold", "over_cap")
    assert "100 EUR a day" in held.reason
    assert (await desk.call("credit", "20 EUR", index=2)).verdict == "allow"
    assert (await desk.call("credit", "1 USD", index=3)).rule == "over_cap"
    desk.approve("credit", "21 EUR")
    assert (await desk.call("credit", "21 EUR", index=1)).verdict == "allow"
    assert done == ["80 EUR", "20 EUR", "21 EUR"]


async def test_an_expired_approval_does_not_lift_a_cap() -> None:
    desk = Desk(caps=(Limit("day", "calls", 0),))
    desk.approve("credit", "1 EUR")
    desk.now += 8 * DAY
    assert (await desk.call("credit", "1 EUR")).rule == "over_cap"


async def test_no_approval_lifts_the_stop() -> None:
    desk = Desk()
    desk.ledger.stop = Stop("eve", "", 0.0)
    desk.approve("credit", "1 EUR")
    answer = await desk.call("credit", "1 EUR")
    assert (answer.verdict, answer.rule, done) == ("hold", "stopped", [])
    desk.ledger.stop = None
    assert (await desk.call("credit", "1 EUR")).verdict == "allow"


async def test_a_rules_limit_is_counted_where_nobody_slips_in_between() -> None:
    from deskhand.config.sections.policy import LimitSpec

    class Blind:
        """Judged on totals that others had already outgrown."""

        def decide(self, facts: CallFacts) -> RuleDecision:
            return RuleDecision("allow", "small ones", limit=LimitSpec(per="day", calls=1))

    desk = Desk(policy=Blind())
    assert (await desk.call("credit", "1 EUR", index=0)).verdict == "allow"
    assert (await desk.call("credit", "1 EUR", index=1)).rule == "over_cap"


async def test_a_policy_that_wants_a_person_at_once_says_so() -> None:
    class Strict:
        def decide(self, facts: CallFacts) -> RuleDecision:
            return RuleDecision(
                "deny",
                "no credit",
                "fraud suspected",
                "This cannot be done.",
                requires_escalation=True,
            )

    answer = await Desk(policy=Strict()).call("credit", "1 EUR")
    assert (answer.verdict, answer.rule, answer.requires_escalation) == ("deny", "no credit", True)
    assert answer.result.for_model() == {"error": "This cannot be done."}
    assert answer.record()["reason"] == "fraud suspected"


async def test_the_totals_before_the_call_are_among_its_facts() -> None:
    desk = Desk(policy=NullPolicy())
    await desk.call("credit", "2 EUR", index=0)
    answer = await desk.call("credit", "3 EUR", index=1)
    assert answer.facts["totals"]["day"]["money"] == {"EUR": "2"}
    assert answer.facts["totals"]["principal"]["tools"]["credit"]["calls"] == 1


async def test_a_recorded_call_is_judged_again_by_the_same_facts() -> None:
    seen: list[CallFacts] = []

    class Watching(NullPolicy):
        def decide(self, facts: CallFacts) -> RuleDecision:
            seen.append(facts)
            return super().decide(facts)

    answer = await Desk(policy=Watching()).call("credit", "3 EUR")
    record = json.loads(json.dumps(answer.record()))
    assert "arguments" not in record["facts"]
    again = facts_of(record)
    assert again is not None
    assert again.named == seen[0].named


def test_every_rule_has_a_name_of_its_own() -> None:
    names = [rule.name for rule in RULES]
    assert len(names) == len(set(names)) >= 15


class OnceADay:
    """Judges by totals, which grow by the very effect that is judged."""

    def decide(self, facts: CallFacts) -> RuleDecision:
        before = facts.totals.get("day", {}).get("calls", 0)
        return RuleDecision("allow", "first") if before == 0 else RuleDecision("deny", "enough")


async def test_what_was_done_before_a_crash_is_told_and_not_judged_again() -> None:
    desk = Desk(policy=OnceADay())
    first = await desk.call("credit", "1 EUR")
    again = await desk.call("credit", "1 EUR")
    assert (again.verdict, again.result) == ("allow", first.result)
    assert done == ["1 EUR"]
    assert (await desk.call("credit", "1 EUR", index=1)).rule == "enough"


async def test_what_a_crash_left_open_is_settled_under_its_key_but_not_while_the_desk_is_stopped() -> (  # noqa: E501
    None
):
    desk = Desk(policy=OnceADay())
    crashpoints.arm("effect.after_intend", lambda: sys.exit("killed"))
    with pytest.raises(SystemExit):
        await desk.call("credit", "1 EUR")
    crashpoints.disarm()
    desk.ledger.stop = Stop("eve", "", 0.0)
    assert ((await desk.call("credit", "1 EUR")).rule, done) == ("stopped", [])
    desk.ledger.stop = None
    assert (await desk.call("credit", "1 EUR")).verdict == "allow"
    assert done == ["1 EUR"]
