"""intents.yaml beside its examples: what it becomes, and what is said about mistakes in it."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from deskhand.config.desk import DeskSpec, load_desk
from deskhand.errors import ConfigError, ConfigErrors
from deskhand.language.intent_examples import load_intents
from tests.unit.config.conftest import Desk

DESK = """\
desk: shop
languages: [en, cs]
models: {fast: p/m}
flows:
  main:
    stages:
      classify: {task: classify, categories: [status, refund, other]}
slots:
  order: {type: order_number, prefix: [O]}
  amount: {type: money}
  reason: {type: text}
"""
INTENTS = """\
tiers: [free, pro, enterprise]
clarify_at_most: 2
intents:
  status:
    - Where is my parcel?
  refund:
    description: Money back
    examples: [I want my money back]
    slots:
      required:
        order:
          ask: {en: Which order is it?, cs: Která objednávka?}
          expects: {en: A number as O-12345.}
        reason: {ask: What was wrong with it?}
      optional: [amount]
    pre: One moment, please.
    steps:
      - tool: refund
        parameters: {order: "{slots.order}", amount: "{slots.amount?}"}
    post: You get {results.refund.amount} back.
    channels: [chat]
    rollout: 50
    tier: pro
    redact: [reason]
    model: fast
labels: {order: {en: order, cs: objednávka}, amount: sum}
out_of_scope: [What is the capital of France?]
"""


def load(desk: Desk, intents: str, more: str = "") -> DeskSpec:
    folder = desk(DESK + dedent(more), {"intents.yaml": dedent(intents)})
    return load_desk(folder, tools={"refund"}, services=set())


def refused(desk: Desk, intents: str, more: str = "") -> list[ConfigError]:
    with pytest.raises(ConfigErrors) as caught:
        load(desk, intents, more)
    for problem in caught.value.problems:
        assert problem.file, str(problem)
        assert problem.fix, str(problem)
    return caught.value.problems


def test_an_intent_says_what_it_needs_and_what_is_done(desk: Desk) -> None:
    spec = load(desk, INTENTS)
    intent = spec.intents["refund"]
    assert (intent.channels, intent.rollout, intent.tier) == (("chat",), 50, "pro")
    assert intent.redact == {"reason"}
    assert (intent.model, intent.clarify_at_most) == ("fast", 2)
    plan = spec.plans["refund"]
    assert plan.needs == ("order", "reason")
    assert plan.wants == ("amount",)
    assert plan.ask["order"]["cs"] == "Která objednávka?"
    assert plan.expects["order"] == {"en": "A number as O-12345."}
    assert plan.clarify_at_most == 2
    assert plan.labels["order"] == {"en": "order", "cs": "objednávka"}
    assert spec.tiers == ("free", "pro", "enterprise")


def test_files_with_examples_alone_stay_valid(desk: Desk) -> None:
    spec = load(desk, "intents:\n  status: [Where is it?]\n  refund: {description: Money back}\n")
    assert spec.plans == {}
    assert spec.intents["status"].rollout == 100


def test_the_examples_are_learned_as_before(desk: Desk, tmp_path: Path) -> None:
    load(desk, INTENTS)
    learned = load_intents(tmp_path)
    assert learned.labels == ["refund", "status"]
    assert learned.out_of_scope == ["What is the capital of France?"]


@pytest.mark.parametrize(
    ("written", "instead", "problem", "fix"),
    [
        ("rollout: 50", "rollout: 120", "`rollout` cannot be `120`", "100"),
        ("tier: pro", "tier: por", "there is no tier `por`", "free, pro"),
        ("tiers: [free, pro, enterprise]", "tiers: [free, free, pro]", "one twice", "once"),
        ("[reason]", "[resaon]", "`redact` names `resaon`", "`reason`"),
        ("model: fast", "model: good", "there is no model role `good`", "`models`"),
        ("channels: [chat]", "channels: [chatt]", "no channel `chatt`", "`chat`"),
        ("tool: refund", "tool: refnd", "there is no tool `refnd`", "`refund`"),
        ("optional: [amount]", "optional: [amuont]", "no slot `amuont`", "`amount`"),
        ("optional: [amount]", "optional: [amount, order]", "is required and optional", "one"),
        ("{ask: What was wrong with it?}", "{}", "nothing says how to ask", "`reason:"),
        ("{slots.order}", "{slots.ordr}", "does not need", "`order`"),
        ("results.refund.amount", "results.refnd.amount", "does not make", "`refund`"),
        ("labels: {order", "labels: {ordr", "there is no slot `ordr`", "`order`"),
        ("clarify_at_most: 2", "clarify_at_most: 0", "cannot be `0`", "1"),
        ("    rollout: 50", "    roll_out: 50", "unknown key `roll_out`", "`rollout`"),
        ("post: You get", "post: {text: no} #", "no reply text `no`", "create"),
    ],
)
def test_what_is_wrong_is_said_with_file_line_and_fix(
    desk: Desk, written: str, instead: str, problem: str, fix: str
) -> None:
    assert written in INTENTS
    intents = INTENTS.replace(written, instead, 1)
    line = intents.partition(instead)[0].count("\n") + 1
    problems = refused(desk, intents)
    [told] = [one for one in problems if problem in one.problem]
    assert fix in (told.fix or "")
    assert (Path(str(told.file)).name, told.line) == ("intents.yaml", line)


def test_an_intent_is_not_also_a_plan(desk: Desk) -> None:
    problems = refused(desk, INTENTS, "plans:\n  refund: {reply: Yes.}\n")
    assert [one.line for one in problems] == [6]
    assert "`plans` in desk.yaml does too" in problems[0].problem


def test_an_intent_in_two_files_is_described_in_one(desk: Desk) -> None:
    folder = desk(DESK, {"intents.yaml": INTENTS, "intents/more.yaml": INTENTS})
    with pytest.raises(ConfigErrors) as caught:
        load_desk(folder, tools={"refund"}, services=set())
    told = {one.problem for one in caught.value.problems}
    assert "intent `refund` is described here and in intents.yaml" in told
    assert "`tiers` stand here and in intents.yaml" in told


def test_more_examples_of_an_intent_may_stand_in_another_file(desk: Desk) -> None:
    more = "intents:\n  refund: [Geld zurück]\n"
    folder = desk(DESK, {"intents.yaml": INTENTS, "intents/more.yaml": more})
    spec = load_desk(folder, tools={"refund"}, services=set())
    assert spec.intents["refund"].tier == "pro"


def test_a_plan_of_desk_yaml_may_speak_and_want_as_well(desk: Desk) -> None:
    plan: dict[str, Any] = {}
    written = (
        "plans:\n  status:\n    wants: [order]\n    pre: One moment.\n"
        '    steps: [{tool: refund, parameters: {order: "{slots.order?}"}}]\n'
    )
    plan = load(desk, "intents: {status: [a]}", written).plans["status"].model_dump()
    assert plan["wants"] == ("order",)
    assert plan["pre"] == {"": "One moment."}
