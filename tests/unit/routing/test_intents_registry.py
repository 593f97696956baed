"""Which intents count for a customer, and why others do not."""

from itertools import pairwise

from deskhand.config.sections.intents import IntentSpec
from deskhand.routing.intents_registry import IntentContext, IntentsRegistry, is_in_rollout

CUSTOMERS = [f"customer:{number}" for number in range(2_000)]


def reached(rollout: float) -> set[str]:
    intent = IntentSpec(name="refund", rollout=rollout)
    return {customer for customer in CUSTOMERS if is_in_rollout(intent, customer)}


def test_a_larger_rollout_adds_customers_and_drops_none() -> None:
    shares = (0, 0.5, 10, 50, 90, 100)
    groups = [reached(share) for share in shares]
    for smaller, larger in pairwise(groups):
        assert smaller < larger
    assert len(groups[0]) == 0
    assert 900 < len(groups[3]) < 1100
    assert len(groups[-1]) == len(CUSTOMERS)


def test_two_intents_do_not_reach_the_same_half() -> None:
    other = IntentSpec(name="status", rollout=50)
    both = {customer for customer in reached(50) if is_in_rollout(other, customer)}
    assert 400 < len(both) < 600


def registry() -> IntentsRegistry:
    intents = {
        "refund": IntentSpec(name="refund", tier="pro", channels=("chat",)),
        "status": IntentSpec(name="status"),
    }
    return IntentsRegistry(intents, ("free", "pro", "enterprise"), ["other"])


def test_a_tier_is_reached_by_itself_and_by_higher_ones() -> None:
    chat = IntentContext("chat", "c")
    eligible = {
        tier: "refund" in registry().eligible(chat._replace(tier=tier))
        for tier in ("free", "pro", "enterprise", "gold", None)
    }
    assert eligible == {"free": False, "pro": True, "enterprise": True, "gold": False, None: False}


def test_it_says_why_an_intent_does_not_count() -> None:
    judged = {one.intent: one for one in registry().judge(IntentContext("mail", "c", "pro"))}
    assert not judged["refund"].is_eligible
    assert judged["refund"].reason == "it counts on chat, and this is mail"
    assert judged["status"].reason == "it counts for everybody"
    assert judged["other"].is_eligible
