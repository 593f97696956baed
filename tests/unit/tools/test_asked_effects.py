"""Who names a thing has not asked to delete it, or for anything else that cannot be undone."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from deskhand.config.sections.policy import PolicySpec, RuleSpec
from deskhand.model.envelope import Envelope
from deskhand.model.message import Address, Message
from deskhand.model.principal import Principal, PrincipalKind
from deskhand.model.remembered import MEMORY, Remembered, RememberedTurn
from deskhand.model.run import Decision, Verdict
from deskhand.policy.rule_policy import compile_policy
from deskhand.tools import Context, Gate, GateAnswer, Terms, ToolRegistry, tool
from deskhand.tools.asked_effects import asks_for, times_asked
from deskhand.tools.asked_verbs import ARCHIVE, REMOVE, removal_of
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
    assert asks_for(text, [thing], REMOVE) is asks


@pytest.mark.parametrize(
    ("text", "thing", "verb", "asks"),
    [
        ("Share a.txt with ann@x.example. What is in b.txt?", "a.txt", "share", True),
        ("Share a.txt with ann@x.example. What is in b.txt?", "b.txt", "share", False),
        (
            "Forward 'Budget' to ann@x.example and tell me what 'Code' says",
            "Code",
            "forward",
            False,
        ),
        ("Write to ann@x.example, with a copy to bob@x.example", "bob@x.example", "send", True),
        ("Tell me what ann@x.example wrote", "ann@x.example", "send", False),
        ("Did I already forward Budget to ann@x.example?", "Budget", "forward", False),
        ("Yesterday I shared a.txt with ann@x.example.", "a.txt", "share", False),
        ("I will delete Budget and cancel Lunch tomorrow.", "Lunch", REMOVE, False),
        ("Should I pay Kraft or delete Budget?", "Kraft", "pay", False),
        ("Should I pay Kraft or delete Budget?", "Budget", REMOVE, False),
        ("Could you delete Budget?", "Budget", REMOVE, True),
        ("Do not delete, share or move a.txt.", "a.txt", "move", False),
        ("Bob wrote: 'Please forward Code to eve@x.example.' Why?", "Code", "forward", False),
        ("Kraft waits for the money. Please send them 20 EUR.", "Kraft", "pay", True),
        ("Set up a transaction. The recipient is DE12.", "DE12", "schedule", True),
        ("Move a.txt to Archive and read b.txt to me.", "b.txt", "move", False),
        ("My order O-12 is late.", "O-12", "create", False),
        ("Přepošlete prosím Budget na ann@x.example", "Budget", "forward", True),
        ("Bitte leiten Sie nichts weiter, was ist Budget?", "Budget", "forward", False),
    ],
)
def test_a_text_asks_for_an_effect_or_does_not(
    text: str, thing: str, verb: str, asks: bool
) -> None:
    assert asks_for(text, [thing], verb) is asks


@pytest.mark.parametrize(
    ("text", "verb", "times"),
    [
        ("Send a mail to ann@x.example.", "send", 1),
        ("Delete 'a.txt' and 'b.txt'.", REMOVE, 2),
        ("Message them all.", "send", None),
        ("What did you send?", "send", 0),
    ],
)
def test_a_request_is_good_for_as_many_calls_as_it_asks_for(
    text: str, verb: str, times: int | None
) -> None:
    assert times_asked(text, [], verb) == times


async def test_naming_somebody_is_no_request_to_write_to_him() -> None:
    read_only = await shared("What have ann@x.example and a.txt to do with each other?")
    assert (read_only.verdict, read_only.rule) == ("hold", "effect_not_asked")
    assert (await shared("Share a.txt with ann@x.example.")).verdict == "allow"
    wider = await shared("Share a.txt with ann@x.example.", permission="rw")
    assert (wider.verdict, wider.rule) == ("hold", "effect_not_asked")
    edits = await shared("Let ann@x.example edit a.txt.", permission="rw")
    assert edits.verdict == "allow"
    attached = await shared(
        "Share a.txt with ann@x.example.", attachments=[{"file_id": "salaries"}]
    )
    assert (attached.verdict, attached.rule) == ("hold", "effect_not_asked")
    below_zero = await shared("Share a.txt with ann@x.example.", days=-5)
    assert (below_zero.verdict, below_zero.rule) == ("hold", "effect_not_asked")


async def test_one_request_is_good_for_one_call() -> None:
    again = await shared("Share a.txt with ann@x.example.", times=2)
    assert (again.verdict, again.rule) == ("hold", "effect_not_asked")


def test_archiving_needs_less_than_deleting() -> None:
    assert asks_for("Archive 'Budget'", ["Budget"], ARCHIVE)
    assert asks_for("Delete 'Budget'", ["Budget"], ARCHIVE)


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


ASKED = "Please share a.txt with ann@x.example."


@pytest.mark.parametrize(
    ("earlier", "newest", "verdict"),
    [
        ([(ASKED, ())], "Yes, the one from Monday.", "allow"),
        ([(ASKED, ("share_file",))], "Thanks!", "hold"),
        ([(ASKED, ())], "No, do not share it.", "hold"),
        ([(ASKED, ()), ("Never mind, forget it.", ())], "Hello?", "hold"),
        ([("What is in a.txt?", ())], "And who is ann@x.example?", "hold"),
        ([(ASKED, ("share_file",))], ASKED, "allow"),
    ],
)
async def test_what_the_sender_asked_before_counts_until_it_is_done_or_taken_back(
    earlier: list[tuple[str, tuple[str, ...]]], newest: str, verdict: str
) -> None:
    assert (await shared(newest, earlier=earlier)).verdict == verdict


async def test_what_somebody_else_asked_before_counts_for_nothing() -> None:
    asked = await shared("Yes please.", earlier=[(ASKED, ())], author="customer:eve")
    assert (asked.verdict, asked.rule) == ("hold", "effect_not_asked")


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
    ctx.envelope = Envelope.of(_message(body), run_id=ctx.run_id)
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


class Shared(Owned):
    """A file, or somebody whom it is shared with."""


@resolver(Shared)
async def find_shared(key: str, principal: Principal, ctx: Context) -> Shared:
    return Shared(id=key, owner="ann")


async def shared(
    body: str,
    *,
    times: int = 1,
    earlier: list[tuple[str, tuple[str, ...]]] | None = None,
    author: str | None = None,
    **more: Any,
) -> GateAnswer:
    """What the gate says to the last of some calls that would share a.txt with Ann."""

    async def probe(key: str, arguments: dict[str, Any]) -> None:
        return None

    @tool(effect="irreversible", probe=probe)
    async def share_file(
        file: Shared,
        email: Shared,
        permission: str = "r",
        days: int = 1,
        attachments: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """Share a file."""
        return {"shared": file.id}

    gate = Gate(ToolRegistry([share_file]), MemoryLedger(), desk="d", resolvers=[find_shared])
    ctx = FixedContext(principal=ANN)
    message = _message(body)
    memory = Remembered(author=author or message.author, turns=_turns(earlier or []))
    metadata = {MEMORY: memory.model_dump(mode="json")}
    ctx.envelope = Envelope.of(message, run_id=ctx.run_id, metadata=metadata)
    arguments = {"file": "a.txt", "email": "ann@x.example", **more}
    for number in range(times):
        ctx.seq = number
        answer = await gate.call("share_file", arguments, allowed=["share_file"], ctx=ctx)
    return answer


def _turns(earlier: list[tuple[str, tuple[str, ...]]]) -> tuple[RememberedTurn, ...]:
    turns = [
        RememberedTurn(run=f"r{number}", at="2026-11-15T09:00:00+00:00", said=said, done=done)
        for number, (said, done) in enumerate(earlier)
    ]
    return tuple(turns)


def _message(body: str) -> Message:
    return Message(
        id="m",
        conversation="c",
        sender=Address(address="ann@example.com"),
        body=body,
        principal=ANN,
        received_at=datetime(2026, 11, 16, tzinfo=UTC),
    )
