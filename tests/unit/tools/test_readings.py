"""How an argument was read decides whether an effect runs on it."""

import time
from typing import Any

import pytest

from deskhand.model.run import Decision, Verdict, canonical_hash
from deskhand.tools import Gate, GateAnswer, Terms, ToolRegistry, tool
from tests.memory_ledger import FixedContext, MemoryLedger

done: list[tuple[str, int]] = []


@tool(effect="reversible")
async def put_aside(medicine: str, packs: int = 1) -> dict[str, Any]:
    """Put medicine aside."""
    done.append((medicine, packs))
    return {"medicine": medicine}


@tool(effect="read")
async def look_up(medicine: str) -> dict[str, Any]:
    """Look a medicine up."""
    return {"medicine": medicine}


@tool(effect="reversible")
async def send_reply(body: str) -> dict[str, Any]:
    """Hand a reply in."""
    return {"body": body}


class Counter:
    """A gate in a run whose earlier stages left these outputs."""

    def __init__(self, outputs: dict[str, Any], **terms: Any) -> None:
        done.clear()
        self.context = FixedContext()
        self.context.envelope = self.context.envelope.changed(outputs=outputs)
        registry = ToolRegistry([put_aside, look_up, send_reply])
        self.gate = Gate(registry, MemoryLedger(), desk="acme", terms=Terms(**terms))

    async def call(self, tool_name: str, **arguments: Any) -> GateAnswer:
        allowed = ("put_aside", "look_up", "send_reply")
        return await self.gate.call(tool_name, arguments, allowed=allowed, ctx=self.context)


def request(reading: str, medicine: str = "Concor") -> dict[str, Any]:
    return {"request": {"name": medicine, "read": {"name": reading}}}


@pytest.mark.parametrize("reading", ["exact", "confirmed"])
async def test_an_effect_runs_on_what_was_read_exactly_or_confirmed(reading: str) -> None:
    answer = await Counter(request(reading)).call("put_aside", medicine="Concor")
    assert (answer.verdict, done) == ("allow", [("Concor", 1)])
    assert answer.record()["read"] == {"medicine": reading, "packs": "default"}


@pytest.mark.parametrize("reading", ["corrected", "guessed", "default"])
async def test_an_effect_on_anything_else_waits(reading: str) -> None:
    answer = await Counter(request(reading)).call("put_aside", medicine="Concor")
    assert (answer.verdict, answer.rule, done) == ("hold", "unsure_reading", [])
    assert f"medicine ({reading}: 'Concor')" in answer.reason
    assert answer.review("key")["read"]["medicine"] == reading


async def test_a_corrected_value_inside_a_longer_text_waits_as_well() -> None:
    answer = await Counter(request("corrected")).call("put_aside", medicine="Concor 5 mg")
    assert answer.rule == "unsure_reading"


async def test_reading_is_allowed_with_a_corrected_value() -> None:
    answer = await Counter(request("corrected")).call("look_up", medicine="Concor")
    assert answer.verdict == "allow"


async def test_a_persons_approval_confirms_it() -> None:
    counter = Counter(request("corrected"))
    approved = canonical_hash(["put_aside", {"medicine": "Concor", "packs": 1}])
    counter.context.approvals[approved] = Verdict(Decision.APPROVE, "ann", 1, at=time.time())
    answer = await counter.call("put_aside", medicine="Concor")
    assert (answer.verdict, done) == ("allow", [("Concor", 1)])


async def test_what_the_sender_left_open_is_the_tools_default_or_waits() -> None:
    outputs = {"request": {"packs": 1, "read": {"packs": "default"}}}
    assert (await Counter(outputs).call("put_aside", medicine="A", packs=1)).verdict == "allow"
    outputs = {"request": {"packs": 3, "read": {"packs": "default"}}}
    answer = await Counter(outputs).call("put_aside", medicine="A", packs=3)
    assert answer.rule == "unsure_reading"


async def test_a_model_cannot_declare_its_own_guess_exact() -> None:
    outputs = request("corrected") | {"plan": {"slots": {"m": "Concor"}, "read": {"m": "exact"}}}
    answer = await Counter(outputs, model_outputs=frozenset(("plan",))).call(
        "put_aside", medicine="Concor"
    )
    assert answer.rule == "unsure_reading"


async def test_what_a_plan_read_into_its_slots_is_found() -> None:
    outputs = {"plan": {"slots": {"medicine": "Concor"}, "read": {"medicine": "corrected"}}}
    answer = await Counter(outputs).call("put_aside", medicine="Concor")
    assert answer.rule == "unsure_reading"


async def test_a_reply_may_say_what_was_understood() -> None:
    answer = await Counter(request("corrected")).call("send_reply", body="Do you mean Concor?")
    assert answer.verdict == "allow"
