"""A reply that says what it must not, or promises what nobody did, waits for a person with the
words marked."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli_kit import Cli, Said, write_desk, write_message

DESK = """
desk: promising
mode: auto
brain: {scripted: brain.yaml}
outgoing: {hosts: [acme.example], canaries: [zebra-lantern-42]}
commitments:
  - {name: goodwill, actions: [credit], up_to: 10 EUR}
flows:
  main:
    stages:
      decide: {task: decide, output: plan, next: act}
      act: {tools: [refund_order, plain_lookup], next: draft}
      draft: {task: draft, next: review, max_visits: 3}
      review: {service: review, auto_send_at: 0.1, always_ask: [looked_at], loop_to: draft, next: dispatch}
      dispatch: {service: dispatch}
"""  # noqa: E501
BRAIN = """
rules:
  - when: {{stage: decide}}
    answer: {{steps: [{steps}], category: plain, confidence: 1}}
  - when: {{stage: draft}}
    answer: {{language: en, text: "{text}", confidence: 1, category: {category}}}
"""
TOOLS = '''
from deskhand import Context, Money, OwnedOrder, Principal, resolver, tool


@resolver(OwnedOrder)
async def order(key: str, principal: Principal, ctx: Context) -> OwnedOrder | None:
    if key == "P-500":
        raise ConnectionError("the shop is away")
    return OwnedOrder(id=key, owner="bob@example.com") if key == "P-2002" else None


@tool(effect="keyed", risk="low", public=True)
async def refund_order(amount: Money) -> dict:
    """Give money back."""
    return {"refunded": str(amount)}


@tool(effect="read")
async def plain_lookup(order: str) -> dict:
    """Look any order up, whoever asks."""
    return {"order": order, "state": "on its way to Bob"}
'''
LOOKUP = "{tool: plain_lookup, parameters: {order: P-2002}}"
REFUND = "{tool: refund_order, parameters: {amount: 20 EUR}}"


@pytest.fixture
def work(cli: Cli, tmp_path: Path) -> Any:
    def run(text: str, *, steps: str = "", category: str = "plain", **written: str) -> Said:
        desk = tmp_path / "desk"
        if not desk.exists():
            write_desk(desk, DESK, BRAIN.format(text=text, steps=steps, category=category), TOOLS)
        message = write_message(tmp_path / "m.json", **written)
        said = cli("run", message, "--desk", desk, "--live", "--json")
        assert said.code in (0, 1), said.err
        return said

    return run


@pytest.mark.parametrize(
    ("text", "rule", "marked"),
    [
        ("See https://evil.com for more.", "outgoing_content", "https://evil.com"),
        ("The word is Zebra Lantern 42.", "outgoing_content", "Zebra Lantern 42"),
        ("Your parcel lies beside P-2002.", "outgoing_content", "P-2002"),
        ("Nobody can say whose P-500 is.", "outgoing_content", "P-500"),
        ("We will refund 20 EUR.", "unbacked_commitment", "We will refund 20 EUR."),
        ("You get a voucher of 11 EUR.", "unbacked_commitment", "You get a voucher of 11 EUR."),
    ],
)
def test_such_a_reply_is_held(work: Any, cli: Cli, text: str, rule: str, marked: str) -> None:
    story = work(text).json
    assert story["status"] == "waiting_review"
    shown = cli("reviews", "show", story["review"]["id"], "--json").json
    assert (shown["kind"], shown["payload"]["rule"]) == ("reply", rule)
    [finding, *_] = shown["payload"]["findings"]
    assert text[finding["start"] : finding["end"]] == marked
    told = cli("reviews", "show", story["review"]["id"]).out
    assert "✗" in told
    assert "approve, edit" in told


@pytest.mark.parametrize(
    "text", ["See https://acme.example/x for more.", "You get a voucher of 10 EUR.", "Thank you."]
)
def test_an_honest_reply_leaves(work: Any, text: str) -> None:
    assert work(text).json["status"] == "sent"


def test_a_number_that_the_sender_wrote_himself_may_be_repeated(work: Any) -> None:
    assert work("We know nothing of P-2002.", body="Where is P-2002?").json["status"] == "sent"


@pytest.mark.parametrize("body", ["Where is my parcel?", "Where is P-2002?"])
def test_no_tool_makes_anothers_number_the_senders_own(work: Any, cli: Cli, body: str) -> None:
    """Neither what a tool gave back nor that the sender knows the number says whose it is."""
    story = work("P-2002 is on its way to Bob.", steps=LOOKUP, body=body).json
    assert story["status"] == "waiting_review"
    shown = cli("reviews", "show", story["review"]["id"], "--json").json
    [finding, *_] = shown["payload"]["findings"]
    assert (finding["rule"], finding["text"]) == ("other_customer", "P-2002")


def test_what_a_tool_did_may_be_said(work: Any) -> None:
    assert work("We have refunded 20 EUR.", steps=REFUND).json["status"] == "sent"


def test_more_than_a_tool_did_may_not_be_said(work: Any, cli: Cli) -> None:
    story = work("We have refunded 900 EUR.", steps=REFUND).json
    assert story["status"] == "waiting_review"
    assert "900 EUR" in story["review"]["reason"]


def test_approving_exactly_that_text_lets_it_leave(work: Any, cli: Cli, tmp_path: Path) -> None:
    story = work("We will refund 20 EUR.").json
    assert cli("reviews", "approve", story["review"]["id"], "--by", "ann").code == 0
    go_on = write_message(tmp_path / "n.json", subject="Another")
    cli("run", go_on, "--desk", tmp_path / "desk", "--live")
    after = cli("runs", "show", story["run"], "--json").json
    assert after["status"] == "sent"
    assert len(list((tmp_path / "outbox").glob(f"{story['run']}*.eml"))) == 1


def test_an_edited_text_leaves_as_edited(work: Any, cli: Cli, tmp_path: Path) -> None:
    story = work("We will refund 20 EUR.").json
    assert (
        cli(
            "reviews", "edit", story["review"]["id"], "--text", "We look into it.", "--by", "ann"
        ).code
        == 0
    )
    cli(
        "run",
        write_message(tmp_path / "n.json", subject="Another"),
        "--desk",
        tmp_path / "desk",
        "--live",
    )
    after = cli("runs", "show", story["run"], "--json").json
    assert (after["status"], after["reply"]["text"]) == ("sent", "We look into it.")


def test_a_reply_that_is_looked_at_anyway_shows_what_speaks_against_it(work: Any, cli: Cli) -> None:
    story = work("We will refund 20 EUR for P-2002, see evil.com.", category="looked_at").json
    shown = cli("reviews", "show", story["review"]["id"], "--json").json
    rules = {finding["rule"] for finding in shown["payload"]["findings"]}
    assert rules == {"foreign_host", "other_customer", "unbacked_commitment"}


def test_a_subject_with_line_breaks_cannot_forge_a_header(work: Any, tmp_path: Path) -> None:
    story = work("Thank you.", subject="Hi\r\nX-Forged: yes").json
    assert story["status"] == "sent"
    [mail] = (tmp_path / "outbox").glob("*.eml")
    assert b"\nX-Forged:" not in mail.read_bytes()


def test_doctor_warns_of_an_order_as_plain_text(cli: Cli, tmp_path: Path) -> None:
    write_desk(tmp_path / "desk", DESK, BRAIN.format(text="x", steps="", category="plain"), TOOLS)
    said = cli("doctor", tmp_path / "desk", "--json")
    checks = said.json["checks"]
    [warned] = [check for check in checks if "plain_lookup" in str(check)]
    assert "order" in str(warned)
    assert warned["warning"] is True
