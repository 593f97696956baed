"""A reply four times as long takes about four times as long to check, whatever it is made of, with
every check that the product makes before it leaves."""

import json
import time
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from deskhand.config.sections.outgoing import ClauseSpec, OutgoingSpec
from deskhand.model.authorship import WRITTEN, Written
from deskhand.model.envelope import Envelope
from deskhand.model.knowledge import CitedText
from deskhand.model.message import Address, Message
from deskhand.model.principal import Principal
from deskhand.scheduling.limited_calendars import read_packed
from deskhand.tools import Context, Gate, Terms, ToolRegistry
from deskhand.tools.authority import OwnedOrder, resolver
from deskhand.tools.delivery import delivery_tool
from deskhand.tools.message_facts import message_fact
from tests.kit import lines_run
from tests.memory_ledger import ANN, FixedContext
from tests.security.hijack.company import Company

ARTICLE = "Parcels arrive within three days. You may return everything within 30 days. " * 20
SHORT, LONG = 10_000, 40_000
TRIES = 5
MOST = 10
"""Times as much computing for four times the text; what grows with the square takes 16 times."""
PIECES = {
    "words": "We will refund 20 EUR to you within three days. ",
    "sentences": "Yes. No! Why? ",
    "hosts": "ab.cz, c.example and d.co.uk ",
    "addresses": "a@b.cz ",
    "links": "http://a.cz/ ",
    "entities": "&lt;é",
    "accounts": "4111 1111 DE89 37 04 ",
    "orders": "P-1002, P-2003 and O-10001 ",
    "phones": "+420 601 123 456 or (0)20 7946 0958 ",
    "dates": "on 12.11.2026 or next Monday at 10:30 ",
    "promises": "We promise that you get 5 EUR by Friday. ",
    "quotes": "Parcels arrive within three days. ",
    "one word": "x",
    "digits": "1",
    "spaces": " \t\n",
    "marks": ".-(",
    "letters of other alphabets": "ｅｖｉｌ．ｃｏｍ а ",
}


@resolver(OwnedOrder)
async def order_of(key: str, principal: Principal, ctx: Context) -> OwnedOrder | None:
    return OwnedOrder(id=key, owner="bob@example.com") if key.endswith("3") else None


@message_fact("speaks_of_doses", in_replies=True)
def speaks_of_doses(message: Message, text: str) -> bool:
    return "dose" in text


def gate() -> Gate:
    async def cited(run_id: str) -> list[CitedText]:
        return [CitedText("returns", "Returns", ARTICLE)]

    terms = Terms(
        outgoing=OutgoingSpec(hosts=("us.example",), canaries=("zebra-lantern-42",)),
        own_texts=(ARTICLE, "Yours, the shop"),
        clauses=(ClauseSpec(name="goodwill", actions=("credit",), up_to="10 EUR"),),  # type: ignore[arg-type]
        message_facts=(speaks_of_doses,),
        trusted_outputs={"act": "act"},
    )
    tools = ToolRegistry([delivery_tool(Company())])
    return Gate(tools, terms=terms, resolvers=[order_of], cited=cited, now=lambda: 1_795_000_000.0)


def written_by_a_model(text: str) -> FixedContext:
    """A run whose tools answered and whose model wrote this reply, with quotes."""
    message = Message(
        id="m1",
        conversation="c",
        sender=Address(address="ann@example.com", name="Ann Lee"),
        body="Where is P-1002? " * 100,
        received_at=datetime(2026, 11, 18, tzinfo=UTC),
    )
    written = Written("gemini", (("returns", "Parcels arrive within three days."),) * 20)
    found = {"arguments": {"order": "P-1002"}, "data": {"at": "Leeds"}}
    results = [{"tool": "find", "status": "success", **found}] * 20
    ctx = FixedContext(principal=ANN)
    ctx.envelope = Envelope(
        run_id="run_1",
        message=message,
        outputs={"act": {"results": results}},
        metadata={WRITTEN: written.as_metadata(text)},
    )
    return ctx


async def computing(piece: str, length: int) -> float:
    """Seconds of computing of the whole check of one reply."""
    text = (piece * (length // len(piece) + 1))[:length]
    reply: dict[str, Any] = {"to": "ann@example.com", "subject": "Re: P", "text": text}
    ctx: Any = written_by_a_model(text)
    checking = gate()
    begun = time.process_time()
    await checking.look_through(reply, ctx)
    return time.process_time() - begun


@pytest.mark.slow
@pytest.mark.parametrize("piece", PIECES.values(), ids=PIECES.keys())
async def test_the_whole_check_of_a_long_reply_grows_with_its_length(piece: str) -> None:
    await computing(piece, 500)  # what is built once
    short, long = await computing(piece, SHORT), await computing(piece, LONG)
    for _ in range(TRIES):  # a host that is busy itself makes computing look longer
        if long < max(MOST * short, 0.5):
            break
        long = min(long, await computing(piece, LONG))
    assert long < max(MOST * short, 0.5)
    assert await computing(piece, 1_400) < 3, "as long as a sentence that is compared may be"


async def test_a_reply_that_is_too_long_to_compare_waits_for_a_person() -> None:
    text = "Parcels arrive within three days. " * 81
    ctx: Any = written_by_a_model(text)
    reply = {"to": "ann@example.com", "subject": "Re: P", "text": text}
    found = await gate().look_through(reply, ctx)
    assert [finding["rule"] for finding in found] == ["unbacked_claim"]
    assert "too long" in found[0]["reason"]


def test_a_duration_beyond_all_time_costs_nothing() -> None:
    """Read as a limited process reads it; its work is counted in lines, not by a clock."""
    event = (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:1\r\n"
        "DTSTAMP:20261116T100000Z\r\nDTSTART:20261201T100000Z\r\n{}"
        "ORGANIZER:mailto:ann@example.com\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    asked = [event.format(f"DURATION:P{days}D\r\n") for days in ("1", "999999999999")]
    questions = [json.dumps([[text], "Europe/Prague"]).encode() for text in asked]
    assert len(json.loads(read_packed(questions[0]))) == 1
    ordinary, hostile = (lines_run(partial(read_packed, question)) for question in questions)
    assert hostile < 2 * ordinary
