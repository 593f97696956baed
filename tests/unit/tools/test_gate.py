import asyncio
import datetime as dt
import logging
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from deskhand import crashpoints
from deskhand.adapters.stores.own_tables import OwnDatabase, SqliteOwnTables
from deskhand.errors import Fenced, StoreUnavailable, ToolError
from deskhand.model.codes import ErrorCode
from deskhand.model.plan import DoneCall
from deskhand.model.principal import asserted
from deskhand.model.run import Decision, EffectKey, EffectState, Verdict, canonical_hash
from deskhand.own_tables import OwnTables
from deskhand.policy.call_facts import CallFacts
from deskhand.policy.rule_policy import RuleDecision
from deskhand.ports import ToolGate
from deskhand.tools import (
    Context,
    Gate,
    GateAnswer,
    Terms,
    Tool,
    ToolRegistry,
    parse_arguments,
    tool,
)
from deskhand.tools.effects import outcome_unknown
from tests.memory_ledger import FixedContext, MemoryLedger

done: list[Any] = []
found: dict[str, dict[str, Any]] = {}
contexts: list[Context] = []
behaviour: dict[str, Any] = {}


@tool(effect="read")
async def look(query: str = "all", day: dt.date | None = None) -> Any:
    """Look something up."""
    act = behaviour.get("act", lambda: {"query": query, "day": day})
    result = act()
    return await result if asyncio.iscoroutine(result) else result


@tool(effect="read", timeout=0.2)
async def look_hastily() -> Any:
    """Look something up, with little time for it."""
    return await behaviour["act"]()


@tool(effect="read")
def look_in_thread(ctx: Context) -> dict[str, Any]:
    """Look something up, blocking."""
    contexts.append(ctx)
    return {"thread": threading.current_thread() is threading.main_thread()}


@tool(effect="read", timeout=0.2)
def hang_in_thread() -> None:
    """Wait until the test is over."""
    behaviour["over"].wait()


@tool(effect="keyed", timeout=1)
async def refund(order: str, ctx: Context, amount: int = 5) -> dict[str, Any]:
    """Refund an order."""
    if act := behaviour.get("act"):
        await act()
    done.append((ctx.effect_key, order, amount))
    return {"refunded": amount}


@tool(effect="irreversible")
async def send_letter(text: str) -> dict[str, Any]:
    """Send a letter."""
    done.append(text)
    return {"sent": True}


async def find_letter(key: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    return found.get(key)


@tool(effect="irreversible", probe=find_letter)
async def send_mail(text: str) -> dict[str, Any]:
    """Send a mail."""
    done.append(text)
    return {"sent": True}


@tool(effect="reversible")
async def tag(name: str = "new") -> None:
    """Tag the conversation."""
    done.append(name)


@tool(effect="keyed")
async def unlock(pin: SecretStr) -> None:
    """Unlock."""
    done.append(pin)


EVERY: list[Tool] = [
    hang_in_thread,
    look,
    look_hastily,
    look_in_thread,
    refund,
    send_letter,
    send_mail,
    tag,
    unlock,
]
EVERY_NAME = [tool.name for tool in EVERY]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    for memory in (done, contexts):
        memory.clear()
    found.clear()
    behaviour.clear()
    yield
    crashpoints.disarm()


class Desk:
    def __init__(self, **settings: Any) -> None:
        self.ledger, self.ctx = MemoryLedger(), FixedContext()
        self.gate = Gate(ToolRegistry(EVERY), self.ledger, desk="acme", **settings)

    async def call(
        self, called: str, parameters: Any = None, *, allowed: Any = None, index: int = 0
    ) -> GateAnswer:
        names = EVERY_NAME if allowed is None else allowed
        given = {} if parameters is None else parameters
        return await self.gate.call(called, given, allowed=names, ctx=self.ctx, index=index)

    def decide(
        self, decision: Decision, called: str, arguments: dict[str, Any], note: str | None = None
    ) -> None:
        self.ctx.approvals[canonical_hash([called, arguments])] = Verdict(
            decision, "ann", 1, note=note, at=time.time()
        )


def verdict(answer: GateAnswer) -> tuple[str, str, str | None]:
    return (
        answer.verdict,
        answer.rule,
        answer.result.error.error_type if answer.result.error else None,
    )


def test_the_gate_fits_its_port() -> None:
    port: ToolGate = Desk().gate
    assert port is not None


async def test_an_allowed_read_runs_without_the_ledger() -> None:
    desk = Desk()
    answer = await desk.call("look", {"day": "2026-01-02"})
    assert verdict(answer) == ("allow", "allowed", None)
    assert answer.result.data == {"query": "all", "day": "2026-01-02"}
    assert answer.arguments == {"query": "all", "day": "2026-01-02"}
    assert answer.call_hash == canonical_hash(["look", answer.arguments])
    assert answer.latency_ms > 0
    assert desk.ledger.rows == {}


@pytest.mark.parametrize("allowed", [[], ["look_in_thread"], ["loo"], "look", ["LOOK"], ["look "]])
async def test_a_tool_runs_only_when_its_exact_name_is_listed(allowed: Any) -> None:
    answer = await Desk().call("look", allowed=allowed)
    assert verdict(answer) == ("deny", "not_listed", ErrorCode.TOOL_DENIED)


async def test_a_denied_name_gets_a_hint_from_what_is_listed_only() -> None:
    answer = await Desk().call("refnd", allowed=["refund"])
    assert "did you mean refund?" in answer.reason
    answer = await Desk().call("refund", {"order": "O-1"}, allowed=["look"])
    assert answer.result.for_model() == {
        "error": "the tool refund is not available here; available: look"
    }
    assert done == []


async def test_a_listed_tool_that_does_not_exist_is_denied() -> None:
    answer = await Desk().call("fly", allowed=["fly"])
    assert verdict(answer) == ("deny", "unknown_tool", ErrorCode.TOOL_UNKNOWN)


@pytest.mark.parametrize(
    "parameters",
    [{"order": 5}, {}, {"order": "O-1", "to": "me"}, '{"amount": 3}', {"order": "O-1", "ctx": {}}],
)
async def test_invalid_arguments_are_denied(parameters: Any) -> None:
    answer = await Desk().call("refund", parameters)
    assert verdict(answer) == ("deny", "invalid_arguments", ErrorCode.TOOL_ARGUMENTS_INVALID)
    assert answer.result.error
    assert answer.result.error.details["problems"]
    assert done == []


UNREADABLE = [
    "{",
    "[1]",
    "null",
    '"text"',
    "{'a': 1}",
    '{"a": NaN}',
    "[" * 100_000,
    "1" * 10_000,
    [1],
    None.__class__,
]


@pytest.mark.parametrize("parameters", UNREADABLE, ids=lambda value: str(value)[:10])
async def test_unreadable_arguments_never_run_an_effect_but_may_run_a_read(parameters: Any) -> None:
    desk = Desk()
    answer = await desk.call("tag", parameters)
    assert verdict(answer) == ("deny", "unreadable_arguments", ErrorCode.TOOL_ARGUMENTS_INVALID)
    assert (await desk.call("look", parameters)).result.data == {"query": "all", "day": None}
    assert done == []


def test_arguments_are_parsed_with_a_note_when_they_cannot_be() -> None:
    assert parse_arguments('{"a": 1}') == ({"a": 1}, None)
    assert parse_arguments("") == parse_arguments(" \n") == ({}, None)
    assert parse_arguments("{")[0] == {}
    assert "not JSON" in (parse_arguments("{")[1] or "")
    assert "not an object but list" in (parse_arguments("[]")[1] or "")


async def test_an_effect_is_carried_out_once_under_its_key() -> None:
    desk = Desk()
    first = await desk.call("refund", '{"order": "O-1"}', index=2)
    again = await desk.call("refund", {"order": "O-1", "amount": 5.0}, index=2)
    assert done == [("run_1.1.2", "O-1", 5)]
    assert first.result == again.result
    assert first.call_hash == again.call_hash
    assert desk.ledger.states == [EffectState.DONE]


async def test_other_words_after_a_crash_cannot_act_again() -> None:
    desk = Desk()
    await desk.call("refund", {"order": "O-1", "amount": 5})
    answer = await desk.call("refund", {"order": "O-1", "amount": 500})
    assert answer.result.data == {"refunded": 5}
    assert len(done) == 1


async def test_what_cannot_be_taken_back_is_held_until_approved() -> None:
    desk = Desk()
    answer = await desk.call("send_letter", {"text": "hi"})
    assert verdict(answer) == ("hold", "irreversible_needs_approval", ErrorCode.TOOL_HELD)
    assert (done, desk.ledger.rows) == ([], {})
    desk.decide(Decision.APPROVE, "send_letter", answer.arguments)
    assert (await desk.call("send_letter", {"text": "hi, and a thousand euros"})).verdict == "hold"
    assert verdict(await desk.call("send_letter", {"text": "hi"})) == ("allow", "allowed", None)
    assert done == ["hi"]


@pytest.mark.parametrize("decision", [each for each in Decision if each is not Decision.APPROVE])
async def test_no_other_decision_is_an_approval(decision: Decision) -> None:
    desk = Desk()
    desk.decide(decision, "send_letter", {"text": "hi"})
    assert (await desk.call("send_letter", {"text": "hi"})).verdict != "allow"
    assert done == []


async def test_a_rejected_call_is_denied_with_the_reviewers_words() -> None:
    desk = Desk()
    desk.decide(Decision.REJECT, "refund", {"order": "O-1", "amount": 5}, note="already refunded")
    answer = await desk.call("refund", {"order": "O-1"})
    assert verdict(answer) == ("deny", "rejected_by_reviewer", ErrorCode.TOOL_REJECTED)
    assert "already refunded" in answer.reason
    assert answer.result.error
    assert not answer.result.error.recoverable


async def test_a_probe_makes_an_approval_needless_and_a_restart_safe() -> None:
    desk = Desk()
    crashpoints.arm("effect.after_perform", lambda: sys.exit("killed"))
    with pytest.raises(SystemExit):
        await desk.call("send_mail", {"text": "hi"})
    found["run_1.1.0"] = {"sent": "earlier"}
    assert (await desk.call("send_mail", {"text": "hi"})).result.data == {"sent": "earlier"}
    assert done == ["hi"]


async def test_in_capture_mode_only_reads_run_and_verdicts_stay() -> None:
    desk = Desk(mode="capture")
    answer = await desk.call("refund", {"order": "O-1"})
    assert (answer.verdict, answer.result.data) == ("allow", {"captured": True})
    assert (await desk.call("send_letter", {"text": "hi"})).verdict == "hold"
    assert (await desk.call("look")).result.data == {"query": "all", "day": None}
    assert (done, desk.ledger.rows) == ([], {})


async def test_a_policy_can_only_make_it_stricter() -> None:
    class OwnRules:
        def decide(self, facts: CallFacts) -> RuleDecision:
            if facts.arguments.get("amount", 0) > 1000:
                return RuleDecision("deny", "too much", "No.")
            return (
                RuleDecision("hold", "refunds ask", "Ask.")
                if facts.arguments.get("amount", 0) > 50
                else RuleDecision("allow", "")
            )

    desk = Desk(terms=Terms(policy=OwnRules()))
    assert (await desk.call("refund", {"order": "O-1", "amount": 50})).verdict == "allow"
    desk.ctx.seq += 1
    assert (await desk.call("refund", {"order": "O-1", "amount": 51})).rule == "refunds ask"
    desk.decide(Decision.APPROVE, "refund", {"order": "O-1", "amount": 51})
    assert (await desk.call("refund", {"order": "O-1", "amount": 51})).verdict == "allow"
    desk.decide(Decision.APPROVE, "refund", {"order": "O-1", "amount": 1001})
    assert verdict(await desk.call("refund", {"order": "O-1", "amount": 1001})) == (
        "deny",
        "too much",
        "tool_denied",
    )
    assert (await desk.call("send_letter", {"text": "a"})).verdict == "hold"


async def test_what_changes_only_the_desks_own_tables_is_rehearsed_in_capture_mode(
    tmp_path: Path,
) -> None:
    def create(db: sa.Connection) -> None:
        db.execute(sa.text("CREATE TABLE notes (text TEXT)"))

    tables = OwnTables("notes", create)

    def keep(db: sa.Connection) -> dict[str, Any]:
        db.execute(sa.text("INSERT INTO notes VALUES ('hello')"))
        return {"notes": db.execute(sa.text("SELECT count(*) FROM notes")).scalar()}

    @tool(effect="keyed", rehearsable=True)
    async def note(ctx: Context) -> dict[str, Any]:
        """Write a note."""
        return await ctx.database.once(tables, ctx.effect_key, keep)

    own = OwnDatabase(SqliteOwnTables(tmp_path / "own.db"))
    modes: list[Literal["capture", "live"]] = ["capture", "capture", "live"]
    for mode in modes:
        gate = Gate(ToolRegistry([note]), MemoryLedger(), desk="acme", mode=mode, database=own)
        answer = await gate.call(
            "note", {}, allowed=["note"], ctx=FixedContext(principal=asserted("c", by="a test"))
        )
        assert answer.result.data == {"notes": 1} | (
            {"captured": True} if mode == "capture" else {}
        )


async def test_an_error_of_the_gate_holds_the_call(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def decide(self, facts: CallFacts) -> RuleDecision:
            raise RuntimeError("secret detail")

    answer = await Desk(terms=Terms(policy=Broken())).call("refund", {"order": "O-1"})
    assert verdict(answer) == ("hold", "gate_error", ErrorCode.TOOL_HELD)
    assert "secret detail" not in answer.reason
    assert "secret detail" in caplog.text
    assert done == []


async def test_arguments_nobody_could_approve_are_held() -> None:
    answer = await Desk().call("unlock", {"pin": "1234"})
    assert verdict(answer) == ("hold", "gate_error", ErrorCode.TOOL_HELD)
    assert done == []


@pytest.mark.parametrize("error", [Fenced("another owner"), StoreUnavailable("disk full")])
async def test_a_fence_or_a_lost_store_stops_the_step_instead(error: Exception) -> None:
    desk = Desk()

    async def fail(*_: Any) -> Any:
        raise error

    desk.ledger.intend = fail  # type: ignore[method-assign,assignment]
    with pytest.raises(type(error)):
        await desk.call("refund", {"order": "O-1"})
    assert done == []


async def test_a_second_effect_waits_for_a_person_while_the_first_is_in_doubt() -> None:
    desk = Desk()

    async def lose_the_connection() -> None:
        raise ConnectionResetError("gone")

    behaviour["act"] = lose_the_connection
    answer = await desk.call("refund", {"order": "O-1"})
    assert outcome_unknown(answer.result)
    behaviour.clear()
    answer = await desk.call("refund", {"order": "O-1", "amount": 4}, index=1)
    assert verdict(answer) == ("hold", "earlier_outcome_unknown", ErrorCode.TOOL_HELD)
    desk.ctx.seq += 1
    answer = await desk.call("refund", {"order": "O-1", "amount": 4})
    assert verdict(answer) == ("hold", "earlier_outcome_unknown", ErrorCode.TOOL_HELD)
    assert (await desk.call("tag")).verdict == "allow"
    desk.ctx.seq -= 1
    assert (await desk.call("refund", {"order": "O-1"})).result.ok
    desk.ctx.seq += 2
    assert (await desk.call("refund", {"order": "O-1", "amount": 4})).result.ok


async def test_what_a_plan_did_before_its_question_is_not_done_in_other_words() -> None:
    desk = Desk()
    first = await desk.call("refund", {"order": "O-1", "amount": 4})
    before = [DoneCall("refund", first.call_hash, first.result)]

    async def again(**arguments: Any) -> GateAnswer:
        return await desk.gate.call(
            "refund", arguments, allowed=EVERY_NAME, ctx=desk.ctx, index=1, done=before
        )

    assert (await again(order="O-1", amount=4)).rule == "done_before"
    answer = await again(order="O-1", amount=5)
    assert verdict(answer) == ("hold", "done_with_other_arguments", ErrorCode.TOOL_HELD)
    assert len(done) == 1
    desk.decide(Decision.APPROVE, "refund", {"order": "O-1", "amount": 5})
    assert (await again(order="O-1", amount=5)).verdict == "allow"
    assert len(done) == 2, "a person may say that it is another one"


class Rude:
    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__


def raising(error: BaseException) -> Any:
    def act() -> None:
        raise error

    return act


async def hang() -> None:
    await asyncio.sleep(60)


async def hang_stubbornly() -> None:
    for _ in range(3):
        try:
            await asyncio.sleep(0.5)
        except asyncio.CancelledError:
            continue


TRACEBACK = "Traceback (most recent call last):\n  File 'x.py', line 1\nValueError: bad"


@pytest.mark.parametrize(
    ("act", "error_type", "words"),
    [
        (raising(ValueError("bad value")), "tool_failed", "bad value"),
        (raising(ToolError("no_such_drug", "No such drug.")), "no_such_drug", "No such drug."),
        (raising(KeyError("id")), "tool_failed", "KeyError: 'id'"),
        (raising(ValueError()), "tool_failed", "ValueError"),
        (raising(ValueError("\ud800")), "tool_failed", "?"),
        (raising(RuntimeError("far away:\n" + TRACEBACK)), "tool_failed", "far away:"),
        (raising(RuntimeError(TRACEBACK)), "tool_failed", "ValueError: bad"),
        (raising(SystemExit(3)), "tool_failed", "the tool called for an exit (3)"),
        (raising(asyncio.CancelledError()), "tool_failed", "the tool cancelled itself"),
        (raising(TimeoutError("upstream")), "tool_timeout", "upstream"),
        (raising(StopIteration()), "tool_failed", "coroutine raised StopIteration"),
        (lambda: {"error": "not found", "trace": TRACEBACK}, "tool_failed", "not found"),
        (lambda: {"error": TRACEBACK}, "tool_failed", "ValueError: bad"),
        (object, "tool_result_invalid", "the tool returned a object that is not a readable result"),
        (Rude, "tool_result_invalid", "the tool returned a Rude that is not a readable result"),
        (
            lambda: iter([1]),
            "tool_result_invalid",
            "the tool returned a list_iterator that is not a readable result",
        ),
    ],
)
async def test_whatever_a_tool_does_becomes_a_failure_in_words(
    act: Any, error_type: str, words: str
) -> None:
    behaviour["act"] = act
    answer = await Desk().call("look")
    assert verdict(answer) == ("allow", "allowed", error_type)
    assert answer.result.for_model() == {"error": words}


@pytest.mark.parametrize("act", [hang, hang_stubbornly])
async def test_a_tool_that_hangs_is_left_behind(act: Any) -> None:
    behaviour["act"] = act
    answer = await Desk().call("look_hastily")
    assert verdict(answer) == ("allow", "allowed", "tool_timeout")
    assert answer.result.for_model() == {"error": "look_hastily did not answer within 0.2 s"}


async def test_a_result_that_is_too_large_is_refused() -> None:
    behaviour["act"] = lambda: {"text": "x" * 300_000}
    answer = await Desk().call("look")
    assert verdict(answer)[2] == ErrorCode.TOOL_RESULT_INVALID
    assert "too large" in answer.result.for_model()["error"]


async def test_hung_threads_block_nothing() -> None:
    desk = Desk()
    behaviour["over"] = over = threading.Event()
    try:
        answers = await asyncio.gather(*(desk.call("hang_in_thread") for _ in range(40)))
        assert {verdict(answer)[2] for answer in answers} == {ErrorCode.TOOL_TIMEOUT}
        assert (await desk.call("look_in_thread")).result.data == {"thread": False}
    finally:
        over.set()


async def test_the_context_says_who_calls(caplog: pytest.LogCaptureFixture) -> None:
    await Desk().call("look_in_thread", index=1)
    (context,) = contexts
    assert (context.run_id, context.effect_key, context.desk) == ("run_1", "run_1.1.1", "acme")
    with caplog.at_level(logging.INFO):
        context.log.info("found %s", 3)
    (record,) = [
        record for record in caplog.records if record.name == "deskhand.tool.look_in_thread"
    ]
    assert (record.getMessage(), record.__dict__["run_id"]) == ("found 3", "run_1")


async def test_a_hung_effect_is_repeated_under_its_key() -> None:
    desk = Desk()
    behaviour["act"] = hang
    answer = await desk.call("refund", {"order": "O-1"})
    assert verdict(answer) == ("allow", "allowed", ErrorCode.TOOL_TIMEOUT)
    assert outcome_unknown(answer.result)
    behaviour.clear()
    assert (await desk.call("refund", {"order": "O-1"})).result.ok
    assert [entry[0] for entry in done] == ["run_1.1.0"]


async def test_stopping_in_the_middle_of_an_effect_leaves_its_intention() -> None:
    desk, begun = Desk(), asyncio.Event()

    async def begin_and_hang() -> None:
        begun.set()
        await hang()

    behaviour["act"] = begin_and_hang
    call = asyncio.create_task(desk.call("refund", {"order": "O-1"}))
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert desk.ledger.effect(EffectKey("run_1", 1, 0)).state is EffectState.INTENDED
    assert done == []
