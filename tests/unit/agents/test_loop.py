"""The tool loop in a run: what it asks, what it is told, how it ends, and what a person decides
in between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from deskhand.agents.replying.sending import Sending
from deskhand.errors import ModelRefused, ModelUnavailable
from deskhand.model.chat import ChatRequest, Completion, Usage
from deskhand.model.profile import Budget
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, ReviewKind, ReviewState, RunStatus, Verdict
from deskhand.tools.closing import closing_tools
from deskhand.tools.context import Context
from deskhand.tools.registry import Tool, tool
from tests.kit import Engine, a_message, engine
from tests.loop_kit import a_profile, agent_flow, asks, by_turn, says, told
from tests.waiting import PATIENCE

SHOP: list[str] = []


@tool(effect="read")
async def find_parcel(number: str) -> dict[str, Any]:
    """Find a parcel."""
    if number == "P-0":
        raise ValueError("the database is on fire")
    return {"number": number, "status": "on its way"}


@tool(effect="keyed")
async def open_return(number: str, ctx: Context) -> dict[str, Any]:
    """Open a return."""
    SHOP.append(f"{ctx.effect_key} {number}")
    return {"return": f"R-{number}"}


@tool(effect="irreversible")
async def burn(number: str, ctx: Context) -> dict[str, Any]:
    """Burn a parcel."""
    SHOP.append(f"burnt {number}")
    return {"burnt": number}


TOOLS: tuple[Tool, ...] = (find_parcel, open_return, burn)


@pytest.fixture(autouse=True)
def _empty_shop() -> None:
    SHOP.clear()


@asynccontextmanager
async def at_work(path: Path, chat: Any, **fields: Any) -> AsyncIterator[Engine]:
    profile = a_profile(TOOLS, **fields)
    async with engine(path / "loop.db", agent_flow(chat, TOOLS, profile), tools=TOOLS) as running:
        yield running


async def output_of(running: Engine, run_id: str) -> dict[str, Any]:
    from deskhand.engine.story import read_records

    records = await read_records(running.store, run_id)
    output: dict[str, Any] = records.states[-1].after.outputs["agent"]
    return output


async def decide(running: Engine, run_id: str, decision: Decision, note: str | None = None) -> None:
    (review,) = await running.store.find_reviews(
        ReviewFilter(run_id=run_id, state=ReviewState.OPEN)
    )
    await running.store.decide(
        review.id, Verdict(decision, "eve", review.version, review.payload_hash, note=note)
    )
    running.dispatcher.wake()
    for _ in range(6000):
        run = await running.store.run(run_id)
        if not run.status.is_active:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"the run never came to rest: {run}")


async def test_the_last_words_become_the_reply_and_every_call_is_kept_with_its_turn(
    tmp_path: Path,
) -> None:
    chat = by_turn(
        asks(("find_parcel", {"number": "P-1"})),
        asks(("open_return", {"number": "P-1"})),
        says("Thank you for your message."),
    )
    async with at_work(tmp_path, chat) as running:
        run_id = await running.work(a_message(1))
        run, output = await running.store.run(run_id), await output_of(running, run_id)
        names = [row.name for row in await running.store.rows(run_id)]
    assert run.status is RunStatus.SENT
    assert [reply.text for _, reply in running.outbox.sent] == ["Thank you for your message."]
    assert (output["status"], output["iterations"], output["final_message"]) == (
        "completed",
        3,
        "Thank you for your message.",
    )
    assert [(one["tool"], one["iteration"], one["data"]) for one in output["results"]] == [
        ("find_parcel", 1, {"number": "P-1", "status": "on its way"}),
        ("open_return", 2, {"return": "R-P-1"}),
    ]
    assert names[:6] == [
        "agent/turn 1",
        "agent/1.1 find_parcel",
        "agent/turn 2",
        "agent/2.1 open_return",
        "agent/turn 3",
        "agent",
    ]
    request = chat.requests[-1]
    assert (request.temperature, request.max_tokens, request.origin.call_type) == (
        None,
        8192,
        "agent",
    )
    assert [spec["function"]["name"] for spec in request.tools] == [
        "find_parcel",
        "open_return",
        "burn",
    ]
    assert "From: Ann <ann@example.com>\nSubject: My parcel" in str(request.messages[1]["content"])
    assert str(request.messages[0]["content"]).startswith("You help customers.")


async def test_failures_are_told_to_the_model_and_the_loop_goes_on(tmp_path: Path) -> None:
    chat = by_turn(
        asks(
            ("find_parcel", {"number": "P-0"}),
            ("find_parcel", "{not json"),
            ("open_return", "{not json"),
            ("find_parcels", {"number": "P-1"}),
            ("deliver_reply", {"to": "eve@example.com", "subject": "x", "text": "x"}),
        ),
        says("Sorry."),
    )
    async with at_work(tmp_path, chat) as running:
        run_id = await running.work(a_message(1))
        output = await output_of(running, run_id)
    errors = [one["error"] for one in told(chat.requests[-1])]
    assert errors[0] == "the database is on fire"
    assert "number is required" in errors[1]
    assert "not JSON" in errors[2]
    assert "did you mean find_parcel" in errors[3]
    assert "not available here" in errors[4]
    assert SHOP == [], "arguments that cannot be read never run an effect"
    assert [one["arguments"] for one in output["results"][1:3]] == [{}, {}]
    assert all("not JSON" in one["note"] for one in output["results"][1:3])


async def test_reads_of_one_turn_run_side_by_side_and_effects_one_after_the_other(
    tmp_path: Path,
) -> None:
    going: set[str] = set()
    together: list[set[str]] = []
    all_here = asyncio.Event()

    @tool(effect="read")
    async def look(name: str) -> dict[str, Any]:
        """Look."""
        going.add(name)
        if len(going) == 3:
            all_here.set()
        await asyncio.wait_for(all_here.wait(), PATIENCE)
        return {"seen": name}

    @tool(effect="keyed")
    async def act(name: str, ctx: Context) -> dict[str, Any]:
        """Act."""
        going.add(name)
        together.append(set(going))
        await asyncio.sleep(0)
        going.discard(name)
        return {"acted": name}

    calls = [("look", {"name": "a"}), ("look", {"name": "b"}), ("look", {"name": "c"})]
    effects = [("act", {"name": "x"}), ("act", {"name": "y"})]
    chat = by_turn(asks(*calls, *effects), says("Done."))
    tools = (look, act)
    async with engine(tmp_path / "x.db", agent_flow(chat, tools), tools=tools) as running:
        run_id = await running.work(a_message(1))
        rows = [row.name for row in await running.store.rows(run_id)]
    assert together == [{"a", "b", "c", "x"}, {"a", "b", "c", "y"}]
    assert rows[1:6] == [
        "agent/1.1 look",
        "agent/1.2 look",
        "agent/1.3 look",
        "agent/1.4 act",
        "agent/1.5 act",
    ]


@pytest.mark.parametrize(
    ("decision", "burnt"), [(Decision.APPROVE, ["burnt P-1"]), (Decision.REJECT, [])]
)
async def test_a_held_call_waits_for_a_person_and_the_loop_goes_on_with_the_decision(
    tmp_path: Path, decision: Decision, burnt: list[str]
) -> None:
    chat = by_turn(
        asks(("find_parcel", {"number": "P-1"}), ("burn", {"number": "P-1"})), says("So be it.")
    )
    async with at_work(tmp_path, chat) as running:
        run_id = await running.work(a_message(1))
        assert (await running.store.run(run_id)).status is RunStatus.WAITING_REVIEW
        (review,) = await running.store.find_reviews(ReviewFilter(run_id=run_id))
        assert (review.kind, review.payload["tool"]) == (ReviewKind.TOOL_CALL, "burn")
        assert SHOP == []
        await decide(running, run_id, decision, "too hot")
        run, output = await running.store.run(run_id), await output_of(running, run_id)
    assert run.status is RunStatus.SENT
    assert burnt == SHOP
    assert chat.calls == 2, "the model is not asked again for what it said"
    answer = told(chat.requests[-1])[-1]
    assert (
        answer == {"burnt": "P-1"} if burnt else "a reviewer rejected this call" in answer["error"]
    )
    assert [one["tool"] for one in output["results"]] == ["find_parcel", "burn"]


async def test_the_turn_limit_hands_over_and_a_retry_gives_as_many_turns_again(
    tmp_path: Path,
) -> None:
    turns = [asks(("find_parcel", {"number": f"P-{number}"})) for number in range(1, 5)]
    chat = by_turn(*turns, says("Thank you for your patience."))
    async with at_work(tmp_path, chat, max_iterations=3) as running:
        run_id = await running.work(a_message(1))
        run, output = await running.store.run(run_id), await output_of(running, run_id)
        assert (run.status, output["status"], output["iterations"]) == (
            RunStatus.NEEDS_REVIEW,
            "max_iterations",
            3,
        )
        assert "3 turns" in (run.reason or "")
        await decide(running, run_id, Decision.RETRY)
        run, output = await running.store.run(run_id), await output_of(running, run_id)
    assert (run.status, output["status"], output["iterations"]) == (RunStatus.SENT, "completed", 5)
    assert chat.calls == 5


@pytest.mark.parametrize("budget", [Budget(tokens=200), Budget(money=0.02)])
async def test_a_used_up_budget_stops_the_run_for_a_person(tmp_path: Path, budget: Budget) -> None:
    chat = by_turn(*[asks(("find_parcel", {"number": "P-1"}))] * 9)
    async with at_work(tmp_path, chat, budget=budget) as running:
        run_id = await running.work(a_message(1))
        run, output = await running.store.run(run_id), await output_of(running, run_id)
    assert (run.status, output["status"], chat.calls) == (RunStatus.NEEDS_REVIEW, "error", 2)
    assert "budget" in (run.reason or "")


async def test_a_model_that_is_away_is_asked_again_and_then_a_person_is(tmp_path: Path) -> None:
    chat = by_turn(asks(("open_return", {"number": "P-1"})), ModelUnavailable("the model is away"))
    async with at_work(tmp_path, chat) as running:
        run_id = await running.work(a_message(1))
        run = await running.store.run(run_id)
    assert (run.status, run.error_code) == (RunStatus.NEEDS_REVIEW, "model_unavailable")
    assert chat.calls == 1 + 3, "the first turn is kept; the second is tried three times"
    assert len(SHOP) == 1


async def test_a_model_that_refuses_is_not_asked_again(tmp_path: Path) -> None:
    chat = by_turn(ModelRefused("wrong key"))
    async with at_work(tmp_path, chat) as running:
        run = await running.store.run(await running.work(a_message(1)))
    assert (run.status, run.error_code, chat.calls) == (RunStatus.NEEDS_REVIEW, "model_refused", 1)


@pytest.mark.parametrize(
    ("turn", "reason"), [(says(""), "without a word"), (says("Dear An", "length"), "cut off")]
)
async def test_an_answer_that_is_none_goes_to_a_person(
    tmp_path: Path, turn: Completion, reason: str
) -> None:
    async with at_work(tmp_path, by_turn(turn)) as running:
        run = await running.store.run(await running.work(a_message(1)))
    assert run.status is RunStatus.NEEDS_REVIEW
    assert reason in (run.reason or "")
    assert running.outbox.sent == []


async def test_old_results_are_shortened_before_the_window_is_full_and_the_row_says_so(
    tmp_path: Path,
) -> None:
    @tool(effect="read")
    async def read_page(number: int) -> dict[str, Any]:
        """Read a page."""
        return {"page": f"{number} " + "word " * 1000}

    turns = [asks(("read_page", {"number": number})) for number in range(1, 6)]
    chat = by_turn(*turns, says("Read."))
    profile = a_profile([read_page], context_tokens=6500, max_tokens=500)
    flow = agent_flow(chat, (read_page,), profile)
    async with engine(tmp_path / "x.db", flow, tools=(read_page,)) as running:
        run_id = await running.work(a_message(1))
        output = await output_of(running, run_id)
    pages = told(chat.requests[-1])
    assert "_shortened" in pages[0]
    assert all("page" in page for page in pages[-2:])
    assert output["turns"][0].get("trimmed") is None
    assert output["turns"][-1]["trimmed"][0]["result"] == 1
    assert all(len(one["data"]["page"]) > 4000 for one in output["results"]), (
        "the run keeps all of it"
    )
    assert all(_size(request) < (6500 - 500) * 3 for request in chat.requests)


def _size(request: ChatRequest) -> int:
    return sum(len(str(message["content"] or "")) for message in request.messages)


async def test_a_message_that_no_window_holds_goes_to_a_person(tmp_path: Path) -> None:
    async with at_work(tmp_path, by_turn(), context_tokens=1000, max_tokens=500) as running:
        run = await running.store.run(await running.work(a_message(1, body="long " * 2000)))
    assert (run.status, run.error_code) == (RunStatus.NEEDS_REVIEW, "model_refused")
    assert "context_tokens" in (run.reason or "")


async def test_tokens_and_money_of_each_turn_stand_in_its_row(tmp_path: Path) -> None:
    chat = by_turn(
        asks(("find_parcel", {"number": "P-1"}), usage=Usage(120, 7, 0.5)), says("Here.")
    )
    async with at_work(tmp_path, chat) as running:
        run_id = await running.work(a_message(1))
        output = await output_of(running, run_id)
    assert (output["turns"][0]["tokens"], output["turns"][0]["cost"]) == ([120, 7], 0.5)


# --- the end of the work, as the agent's own calls ask for it


@asynccontextmanager
async def closing(
    path: Path, chat: Any, sending: Sending | None = None, **fields: Any
) -> AsyncIterator[Engine]:
    tools = (*TOOLS, *closing_tools())
    build = agent_flow(chat, tools, a_profile(tools, **fields), sending=sending)
    async with engine(path / "loop.db", build, tools=tools) as running:
        yield running


def reply(body: str) -> dict[str, Any]:
    return {"subject": "Your parcel", "body": body}


async def test_a_reply_that_was_handed_in_leaves_when_the_work_ends(tmp_path: Path) -> None:
    chat = by_turn(
        asks(("find_parcel", {"number": "P-1"})),
        asks(("send_reply", reply("Thank you for writing."))),
        says("Done."),
    )
    async with closing(tmp_path, chat) as running:
        run_id = await running.work(a_message(1))
        run, output = await running.store.run(run_id), await output_of(running, run_id)
    assert (run.status, output["end"]) == (RunStatus.SENT, "handed_in")
    assert [(sent.subject, sent.text) for _, sent in running.outbox.sent] == [
        ("Your parcel", "Thank you for writing.")
    ]


async def test_escalating_ends_the_work_at_once_and_a_retry_goes_on(tmp_path: Path) -> None:
    chat = by_turn(
        asks(("escalate", {"reason": "a medical question"}), ("open_return", {"number": "P-1"})),
        says("Thank you for writing."),
    )
    async with closing(tmp_path, chat) as running:
        run_id = await running.work(a_message(1))
        run, output = await running.store.run(run_id), await output_of(running, run_id)
        assert (run.status, run.reason, chat.calls) == (
            RunStatus.NEEDS_REVIEW,
            "a medical question",
            1,
        )
        assert SHOP == [], "what stands after it in the same turn is not made"
        assert [one["tool"] for one in output["results"]] == ["escalate", "open_return"]
        await decide(running, run_id, Decision.RETRY, "it is not medical")
        run = await running.store.run(run_id)
    assert run.status is RunStatus.SENT
    assert "it is not medical" in str(chat.requests[-1].messages[-1]["content"])
    assert [sent.text for _, sent in running.outbox.sent] == ["Thank you for writing."]


async def test_a_draft_waits_and_may_be_sent_back_with_a_wish(tmp_path: Path) -> None:
    chat = by_turn(
        asks(("create_draft", reply("It comes."))),
        says("Drafted."),
        says("It comes soon."),
        says("It comes very soon."),
    )
    async with closing(tmp_path, chat) as running:
        run_id = await running.work(a_message(1))
        assert (await running.store.run(run_id)).status is RunStatus.WAITING_REVIEW
        (drafted,) = await running.store.find_reviews(ReviewFilter(run_id=run_id))
        assert drafted.payload["reply"]["subject"] == "Your parcel"
        await decide(running, run_id, Decision.REVISE, "be kinder")
        (review,) = await running.store.find_reviews(
            ReviewFilter(run_id=run_id, state=ReviewState.OPEN)
        )
        assert review.payload["reply"]["text"] == "It comes soon."
        assert review.payload["reply"]["subject"] == drafted.payload["reply"]["subject"]
        assert "be kinder" in str(chat.requests[-1].messages[-1]["content"])
        offered = [spec["function"]["name"] for spec in chat.requests[-1].tools]
        assert not {"send_reply", "create_draft"} & set(offered)
        await decide(running, run_id, Decision.REVISE, "kinder still")
        assert running.outbox.sent == []
        await decide(running, run_id, Decision.APPROVE)
        run = await running.store.run(run_id)
    assert (run.status, chat.calls) == (RunStatus.SENT, 4)
    assert [sent.text for _, sent in running.outbox.sent] == ["It comes very soon."]


async def _draft(category: str | None) -> str:
    return "draft"


async def test_last_words_wait_in_draft_mode(tmp_path: Path) -> None:
    chat = by_turn(says("It comes."))
    async with closing(tmp_path, chat, Sending(mode_for=_draft)) as running:
        run_id = await running.work(a_message(1))
        assert (await running.store.run(run_id)).status is RunStatus.WAITING_REVIEW
        assert running.outbox.sent == []
        await decide(running, run_id, Decision.APPROVE)
        run = await running.store.run(run_id)
    assert run.status is RunStatus.SENT
    assert len(running.outbox.sent) == 1


async def test_a_reply_and_no_end_is_for_a_person(tmp_path: Path) -> None:
    chat = by_turn(
        asks(("send_reply", reply("Thank you for writing."))),
        *[asks(("find_parcel", {"number": "P-1"}))] * 2,
    )
    async with closing(tmp_path, chat, max_iterations=3) as running:
        run = await running.store.run(await running.work(a_message(1)))
    assert run.status is RunStatus.NEEDS_REVIEW
    assert running.outbox.sent == []
