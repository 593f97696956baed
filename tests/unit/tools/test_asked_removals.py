"""Who names a thing has not asked to delete it."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from deskhand.config.sections.policy import PolicySpec, RuleSpec
from deskhand.model.envelope import Envelope
from deskhand.model.message import Address, Message
from deskhand.model.principal import Principal, PrincipalKind
from deskhand.model.run import Decision, Verdict
from deskhand.policy.rule_policy import compile_policy
from deskhand.tools import Context, Gate, GateAnswer, Terms, ToolRegistry, tool
from deskhand.tools.asked_removals import ARCHIVE, REMOVE, asks_to_remove, removal_of
from deskhand.tools.authority import Owned, resolver
from tests.memory_ledger import FixedContext, MemoryLedger

ANN = Principal(kind=PrincipalKind.SENDER, address="ann@example.com", customer_id="ann", how="DKIM")
ALLOW = compile_policy(
    PolicySpec(rules=(RuleSpec(name="all", when={"tool": "delete_document"}, then="allow"),))
)


@pytest.mark.parametrize(
    ("text", "thing", "asks"),
    [
        ("Delete the file 'old.txt'", "old.txt", True),
        ("Read the mail 'Budget' and delete the file 'old.txt'", "Budget", False),
        ("Read the mail 'Budget' and delete the file 'old.txt'", "old.txt", True),
        ("Summarise Budget for me", "Budget", False),
        ("My order is O-12. Please cancel it.", "O-12", True),
        ("Delete 'a.txt' and 'b.txt'.", "b.txt", True),
        ("Delete 'a.txt' and read 'b.txt'.", "b.txt", False),
        ("Do not delete 'a.txt'", "a.txt", False),
        ("Delete 'old.txt' after reading 'Budget'", "Budget", False),
        ("Delete the file mentioned in the mail 'Budget'", "Budget", False),
        ("Read a.txt, then delete it", "a.txt", True),
        ("Delete 'x.txt'. Then read 'a.txt' and tell me what it says.", "a.txt", False),
        ("Was a.txt deleted?", "a.txt", False),
        ("Delete a.txt.bak", "a.txt", False),
        ("Zrušte prosím objednávku O-12", "O-12", True),
        ("Nerušte objednávku O-12", "O-12", False),
        ("Bitte stornieren Sie O-12", "O-12", True),
        ("Por favor, cancele el pedido O-12", "O-12", True),
        ("Veuillez annuler O-12", "O-12", True),
        ("Archive 'Budget'", "Budget", False),
    ],
)
def test_a_text_asks_to_remove_a_thing_or_does_not(text: str, thing: str, asks: bool) -> None:
    assert asks_to_remove(text, [thing], REMOVE) is asks


def test_archiving_needs_less_than_deleting() -> None:
    assert asks_to_remove("Archive 'Budget'", ["Budget"], ARCHIVE)
    assert asks_to_remove("Delete 'Budget'", ["Budget"], ARCHIVE)


@pytest.mark.parametrize(
    ("name", "arguments", "removal"),
    [
        ("delete_mail", {}, REMOVE),
        ("files__removeFile", {}, REMOVE),
        ("manage_reservation", {"action": "cancel"}, REMOVE),
        ("archive_mail", {}, ARCHIVE),
        ("read_cancellation_terms", {}, None),
        ("send_mail", {"body": "delete"}, None),
    ],
)
def test_a_call_says_by_its_name_or_action_that_it_removes(
    name: str, arguments: dict[str, Any], removal: str | None
) -> None:
    assert removal_of(name, arguments) == removal


class Document(Owned):
    title: str


@resolver(Document)
async def find(key: str, principal: Principal, ctx: Context) -> Document:
    return Document(id=key, owner="ann", title="Budget")


async def called(
    body: str, effect: Any, terms: Terms | None = None, *, approved: bool = False
) -> GateAnswer:
    """What the gate says to a call that would delete the document 7, called Budget."""

    async def probe(key: str, arguments: dict[str, Any]) -> None:
        return None

    @tool(effect=effect, name="delete_document", probe=probe)
    async def delete(document: Document) -> dict[str, Any]:
        """Delete a document."""
        return {"deleted": document.id}

    registry = ToolRegistry([delete])
    gate = Gate(registry, MemoryLedger(), desk="d", terms=terms, resolvers=[find])
    ctx = FixedContext(principal=ANN)
    message = Message(
        id="m",
        conversation="c",
        sender=Address(address="ann@example.com"),
        body=body,
        principal=ANN,
        received_at=datetime(2026, 11, 16, tzinfo=UTC),
    )
    ctx.envelope = Envelope.of(message, run_id=ctx.run_id)
    held = await gate.call(
        "delete_document", {"document": "7"}, allowed=["delete_document"], ctx=ctx
    )
    if not approved:
        return held
    ctx.approvals[held.call_hash] = Verdict(Decision.APPROVE, "eve", 1, "", at=time.time())
    return await gate.call(
        "delete_document", {"document": "7"}, allowed=["delete_document"], ctx=ctx
    )


@pytest.mark.parametrize("effect", ["irreversible", "keyed"])
async def test_a_thing_that_was_only_named_is_not_deleted(effect: str) -> None:
    answer = await called("Please read the document Budget to me.", effect)
    assert (answer.verdict, answer.rule) == ("hold", "removal_not_asked")
    asked = await called("Please delete the document Budget.", effect)
    assert asked.verdict == "allow"
    by_number = await called("Please delete 7.", effect)
    assert by_number.verdict == "allow"


async def test_a_person_may_approve_it() -> None:
    answer = await called("Read Budget.", "irreversible", approved=True)
    assert answer.verdict == "allow"


async def test_words_that_are_quoted_or_passed_on_ask_for_nothing() -> None:
    passed_on = "See below.\n\n> Please delete the document Budget.\n"
    assert (await called(passed_on, "irreversible")).rule == "removal_not_asked"


async def test_a_policy_decides_about_a_keyed_removal_only() -> None:
    terms = Terms(policy=ALLOW)
    assert (await called("Read Budget.", "keyed", terms)).verdict == "allow"
    assert (await called("Read Budget.", "irreversible", terms)).rule == "removal_not_asked"


async def test_what_has_a_bin_may_go_there() -> None:
    assert (await called("Read Budget.", "reversible")).verdict == "allow"
