"""What agents did, as an auditor's SQL sees it: the same on every database."""

import asyncio
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.chat_models.recording import RecordingChatModel
from deskhand.engine.worker import Worker
from deskhand.errors import ModelRefused
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, ReviewState, Verdict
from deskhand.tools.closing import closing_tools
from deskhand.tools.delivery import delivery_tool
from deskhand.tools.gate import Gate
from deskhand.tools.registry import ToolRegistry, tool
from tests.conformance.adapters import Stores
from tests.kit import MemoryOutbox, TestClock, a_message
from tests.loop_kit import a_profile, agent_flow, asks, by_turn, says
from tests.waiting import PATIENCE


@tool(effect="read")
async def search_drugs(query: str, limit: int = 5) -> dict[str, Any]:
    """Search."""
    if query == "x":
        raise ValueError("down")
    return {"drugs": [{"name": query, "note": '50 % "sleva" ěšč'}]}


async def worked(store: Any, number: int, *turns: Any) -> str:
    """A run of an agent that says these things, worked to rest."""
    clock, tools = TestClock(), (search_drugs, *closing_tools())
    gate = Gate(ToolRegistry((*tools, delivery_tool(MemoryOutbox()))), store, desk=store.desk)
    chat = RecordingChatModel(by_turn(*turns), store.record_call, clock)
    flow = agent_flow(chat, tools, a_profile(tools, name="pharmacy", max_iterations=3))(gate)
    run_id: str = (await store.accept(a_message(number), flow="pharmacy")).run_id
    worker = Worker(store, {"pharmacy": flow}, clock)
    await asyncio.wait_for(worker.work(run_id), PATIENCE)
    for review in await store.find_reviews(ReviewFilter(run_id=run_id, state=ReviewState.OPEN)):
        if review.payload.get("reply"):
            await store.decide(
                review.id, Verdict(Decision.APPROVE, "eve", review.version, review.payload_hash)
            )
            await asyncio.wait_for(worker.work(run_id), PATIENCE)
    return run_id


async def test_a_finished_agent_is_one_row_with_its_calls_in_order(stores: Stores) -> None:
    store = await stores()
    draft = {"subject": "Ibuprofen", "body": "We have it."}
    run_id = await worked(
        store,
        1,
        asks(("search_drugs", {"query": "ibuprofen"}), ("search_drugs", {"query": "x"})),
        asks(("create_draft", draft)),
        says("Drafted."),
    )
    (row,) = await store.agent_runs(run_id)
    assert (row["profile"], row["status"], row["iterations"], row["error"]) == (
        "pharmacy",
        "completed",
        3,
        None,
    )
    assert row["final_message"] == "Drafted."
    assert row["tool_calls_log"] == [
        {
            "tool": "search_drugs",
            "arguments": {"query": "ibuprofen", "limit": 5},
            "result": {"drugs": [{"name": "ibuprofen", "note": '50 % "sleva" ěšč'}]},
            "iteration": 1,
        },
        {
            "tool": "search_drugs",
            "arguments": {"query": "x", "limit": 5},
            "result": {"error": "down"},
            "iteration": 1,
        },
        {
            "tool": "create_draft",
            "arguments": {**draft, "to": None, "sources": None},
            "result": {"status": "created"},
            "iteration": 2,
        },
    ]
    assert list(row["tool_calls_log"][0]) == ["tool", "arguments", "result", "iteration"]
    assert [call.call_type for call in await store.calls(run_id)] == ["agent"] * 3
    events = {event["event_type"]: event["detail"] for event in await store.email_events(run_id)}
    assert events["agent_completed"] == "pharmacy: completed after 3 turns"
    assert "review.approve" in events


async def test_the_limit_and_a_fault_are_told_as_such(stores: Stores) -> None:
    store = await stores()
    looping = await worked(store, 1, *[asks(("search_drugs", {"query": "a"}))] * 3)
    refused = await worked(store, 2, ModelRefused("wrong key"))
    waiting = await worked(store, 3, asks(("search_drugs", {"query": "a"})), ModelRefused("gone"))
    rows = {row["run_id"]: row for row in await store.agent_runs()}
    assert (rows[looping]["status"], rows[looping]["iterations"]) == ("max_iterations", 3)
    assert "3 turns" in rows[looping]["error"]
    assert (rows[refused]["status"], rows[refused]["error"], rows[refused]["iterations"]) == (
        "error",
        "wrong key",
        0,
    )
    assert rows[refused]["tool_calls_log"] == []
    assert (rows[waiting]["status"], rows[waiting]["error"], rows[waiting]["iterations"]) == (
        "error",
        "gone",
        1,
    )
    events = await store.email_events(refused)
    assert [event["event_type"] for event in events] == ["agent_error"]


async def test_another_desk_sees_none_of_it_and_an_erasure_takes_it_along(stores: Stores) -> None:
    store, other = await stores(), await stores(desk="other")
    run_id = await worked(store, 1, asks(("search_drugs", {"query": "a"})), says("Done, Ann."))
    assert await other.agent_runs(run_id) == []
    assert (await store.agent_runs(run_id))[0]["final_message"] == "Done, Ann."
    await store.erase("ann@example.com", "eve")
    (row,) = await store.agent_runs(run_id)
    assert (row["final_message"], row["tool_calls_log"]) == (None, [])


async def test_the_views_are_there_for_anybodys_sql(stores: Stores, tmp_path: Path) -> None:
    store = await stores()
    await worked(store, 1, says("Done."))
    query = sa.text(
        "SELECT a.profile, count(*) FROM agent_runs a JOIN llm_calls c ON c.run_id = a.run_id GROUP"
        " BY 1"
    )
    rows = await store._database.read_core(lambda core: [tuple(row) for row in core.execute(query)])
    assert rows == [("pharmacy", 1)]
