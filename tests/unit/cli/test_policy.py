"""`deskhand policy check` and `deskhand policy what-if`."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deskhand.engine.journal import make_row, seed
from deskhand.model.envelope import StageResult
from deskhand.model.message import Address, Message
from deskhand.policy.call_facts import CallFacts
from deskhand.wiring import open_database, open_store
from tests.cli_kit import Cli, write_desk

DESK = """
desk: shop
brain: {scripted: brain.yaml}
flows:
  main:
    stages:
      decide: {task: decide, output: plan, next: act}
      act: {tools: [refund, find_order]}
policy:
  - name: small refunds pass
    when: {tool: refund, amount: {at_most: 50}}
    then: allow
"""
MORE = """
  - name: other refunds ask
    when: {tool: refund}
    then: hold
    why: a colleague looks
"""
SHADOWED = """
  - name: tiny refunds pass
    when: {tool: refund, amount: {below: 10}}
    then: hold
"""
BRAIN = "rules: [{when: {stage: decide}, answer: {steps: []}}]"
TOOLS = '''
from deskhand import tool


@tool(effect="keyed", risk="medium")
async def refund(order: str, amount: int) -> dict:
    """Give money back."""
    return {}


@tool(effect="read")
async def find_order(order: str) -> dict:
    """Find an order."""
    return {}
'''


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_desk(tmp_path / "shop", DESK + MORE, BRAIN, TOOLS)


def test_sound_rules_pass(cli: Cli, shop: Path) -> None:
    said = cli("policy", "check", shop)
    assert said.code == 0
    assert "2 rules" in said.out


def test_a_rule_too_late_is_told_with_an_example(cli: Cli, shop: Path) -> None:
    (shop / "desk.yaml").write_text(DESK + SHADOWED + MORE)
    said = cli("policy", "check", shop, "--json")
    assert said.code == 1
    [finding] = said.json["findings"]
    assert (finding["kind"], finding["rule"]) == ("contradicts", "tiny refunds pass")
    assert finding["example"]["amount"] < 10
    words = cli("policy", "check", shop)
    assert "for example: refund(amount=" in words.out


def test_a_typo_is_told_with_file_and_line(cli: Cli, shop: Path) -> None:
    (shop / "desk.yaml").write_text(DESK.replace("{at_most: 50}", "{at_mots: 50}"))
    said = cli("policy", "check", shop)
    assert said.code == 2
    assert "desk.yaml:11" in said.err
    assert "at_most" in said.err


def test_a_desk_without_rules_has_nothing_to_check(cli: Cli) -> None:
    said = cli("policy", "check", "sample")
    assert (said.code, "no rules of its own" in said.out) == (0, True)


def _record(file: Path, *amounts: int) -> None:
    """A run whose journal holds calls as the gate records them, and one that was recorded
    without facts."""

    async def write() -> None:
        now = datetime.now(UTC)
        message = Message(
            id="m1", conversation="c", sender=Address(address="a@example.com"), received_at=now
        )
        async with open_database(str(file)) as database:
            store = open_store(database, "shop")
            run = (await store.accept(message, flow="main")).run_id
            claimed = await store.claim(run, {"main": "1"})
            assert claimed is not None
            head = seed(run, claimed.message_digest)
            calls: list[dict[str, Any]] = [{"tool": "find_order", "arguments": {}}]
            for amount in amounts:
                facts = CallFacts(
                    "refund", "keyed", "medium", now, {"order": "1", "amount": amount}
                )
                calls.append({"tool": "refund", "arguments": {}, "facts": facts.record()})
            for seq, call in enumerate(calls):
                row = make_row(
                    run, seq, "act", StageResult(call=call), attempt=1, flow_version="1",
                    started_at=now.timestamp(), latency_ms=1, previous=head,
                )  # fmt: skip
                head = row.chain
                await store.append(row)

    asyncio.run(write())


def test_what_if_lists_each_changed_verdict(cli: Cli, shop: Path, tmp_path: Path) -> None:
    _record(tmp_path / "deskhand.db", 10, 45, 80)
    (tmp_path / "new.yaml").write_text(DESK[DESK.index("policy:") :].replace("50", "40") + MORE)
    said = cli("policy", "what-if", shop, tmp_path / "new.yaml", "--json")
    assert said.code == 1
    assert (said.json["judged"], said.json["unknown"]) == (3, 1)
    [change] = said.json["changes"]
    assert (change["arguments"]["amount"], change["seq"]) == (45, 2)
    assert change["old"] == {"verdict": "allow", "rule": "small refunds pass"}
    assert (change["new"]["verdict"], change["new"]["rule"]) == ("hold", "other refunds ask")
    told = cli("policy", "what-if", shop, tmp_path / "new.yaml")
    assert "allow (small refunds pass) → hold (other refunds ask)" in told.out


def test_what_if_nothing_changes(cli: Cli, shop: Path, tmp_path: Path) -> None:
    _record(tmp_path / "deskhand.db", 10, 45, 80)
    (tmp_path / "new.yaml").write_text(DESK[DESK.index("policy:") :] + MORE)
    assert cli("policy", "what-if", shop, tmp_path / "new.yaml").code == 0
    later = cli("policy", "what-if", shop, tmp_path / "new.yaml", "--since", "2999-01-01", "--json")
    assert (later.code, later.json["judged"]) == (0, 0)


def test_a_mistake_in_the_new_rules_is_told_with_their_line(
    cli: Cli, shop: Path, tmp_path: Path
) -> None:
    (tmp_path / "new.yaml").write_text("policy:\n  - {name: a, when: {tool: refnud}, then: deny}\n")
    said = cli("policy", "what-if", shop, tmp_path / "new.yaml")
    assert said.code == 2
    assert "new.yaml:2" in said.err
    assert "did you mean `refund`" in said.err
    assert cli("policy", "what-if", shop, tmp_path / "new.yaml", "--since", "once").code == 2
