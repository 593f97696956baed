"""An iteration of a tool loop (ask the model, run one read tool) against a local server: our CPU
and others'."""

import itertools
import json
from pathlib import Path
from typing import Any

from bench import llm_stage
from bench.desks import MODEL, chat_model, message, working
from bench.driving import ITERATIONS, MAIL, by_iteration, drive, lookup_order
from bench.harness import Floor, Report, Result, alternate, elsewhere, medians, model_server, spread
from deskhand.adapters.chat_models.recording import RecordingChatModel
from deskhand.agents.loop import AgentLoop
from deskhand.agents.parts import Parts
from deskhand.agents.profiled import Agents
from deskhand.engine.clock import SystemClock
from deskhand.model.profile import ProfileSpec
from deskhand.model.spec import AgentSpec, FlowSpec
from deskhand.ports import ChatModel
from deskhand.tools import Gate, ToolRegistry, tool
from deskhand.tools.memory_effects import MemoryEffects

INSTRUCTIONS = "You look orders up."
PROFILE = ProfileSpec(
    name="orders",
    system_prompt=INSTRUCTIONS,
    tools=("lookup_order",),
    model=MODEL,
    max_iterations=4 * ITERATIONS,
)


def tools() -> ToolRegistry:
    @tool(effect="read", name="lookup_order")
    async def find(order_id: str) -> dict[str, Any]:
        """Look an order up."""
        return {"order": order_id, "status": "shipped"}

    return ToolRegistry((find,))


def flow(name: str) -> FlowSpec:
    """The agent's stage alone: what leaves, and through which review, is not the loop's."""
    agent = AgentSpec(name="agent", profile=PROFILE.name, tools=PROFILE.tools, output_key="agent")
    return FlowSpec(name=name, start="agent", stages={"agent": agent}, version="0123456789abcdef")


async def ours_durable(folder: Path, url: str, n: int, in_flight: int) -> Result:
    """A run with all its rows, accepting and finishing included, by its turns."""
    chat, registry = chat_model(url), tools()

    def parts(store: Any) -> Parts:
        recorded: ChatModel = RecordingChatModel(
            chat, store.record_call, SystemClock(), waits=False
        )
        gate = Gate(registry, store, desk="bench", record_event=store.record_event)
        return Parts(
            tools=gate, agents=Agents({PROFILE.name: PROFILE}, recorded, tuple(registry), {})
        )

    async with working(folder, {"loop": flow("loop")}, parts, in_flight=64) as desk:
        numbers = itertools.count()
        result = await drive(lambda: desk.one(message(next(numbers))), n // ITERATIONS, in_flight)
    await chat.aclose()
    return by_iteration(result)


async def ours_alone(folder: Path, url: str, n: int, in_flight: int) -> Result:
    """Loop, gate and client, without a row."""
    chat, registry = chat_model(url), tools()
    loop = AgentLoop(PROFILE, chat, Gate(registry, MemoryEffects(), desk="bench"), registry)
    result = await drive(lambda: loop.run(MAIL), n // ITERATIONS, in_flight)
    await chat.aclose()
    return by_iteration(result)


async def bare_client(folder: Path, url: str, n: int, in_flight: int) -> Result:
    """The same conversation by aiohttp alone, the tool called as the function it is: what no
    loop can save."""
    import aiohttp

    spec = next(iter(tools())).spec
    async with aiohttp.ClientSession() as session:

        async def one() -> None:
            said: list[dict[str, Any]] = [
                {"role": "system", "content": INSTRUCTIONS},
                {"role": "user", "content": MAIL},
            ]
            while True:
                body = {"model": "gpt-4o-mini", "messages": said, "tools": [spec]}
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    answer = (await response.json())["choices"][0]["message"]
                said.append(answer)
                if not answer.get("tool_calls"):
                    return
                for call in answer["tool_calls"]:
                    found = lookup_order(**json.loads(call["function"]["arguments"]))
                    said.append(
                        {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(found)}
                    )

        return by_iteration(await drive(one, n // ITERATIONS, in_flight))


async def pydantic_ai(folder: Path, url: str, n: int, in_flight: int) -> Result:
    return await llm_stage.pydantic_ai(folder, url, n, in_flight, loop=True)


async def langgraph(folder: Path, url: str, n: int, in_flight: int) -> Result:
    return await llm_stage.langgraph(folder, url, n, in_flight, loop=True)


CASES = {
    "ours_durable": ours_durable,
    "ours_alone": ours_alone,
    "bare_client": bare_client,
    "pydantic_ai": pydantic_ai,
    "langgraph": langgraph,
}

OPENAI_AGENTS = "openai_agents.loop"
ROWS = (
    ("Deskhand, through gate and durable rows", "loop.ours_durable"),
    ("Deskhand, through the gate, without rows", "loop.ours_alone"),
    ("aiohttp and the tool's function, by hand", "loop.bare_client"),
    ("pydantic-ai", "loop.pydantic_ai"),
    ("LangGraph (create_agent)", "loop.langgraph"),
    ("openai-agents", OPENAI_AGENTS),
)


def bench(*, quick: bool) -> Report:
    about = (
        f"CPU of an iteration in a loop of {ITERATIONS} tool calls and a last word, local server"
        " elsewhere"
    )
    report = Report("loop", about)
    rows = tuple(
        row for row in ROWS if row[1] != OPENAI_AGENTS or elsewhere(OPENAI_AGENTS).exists()
    )
    if len(rows) < len(ROWS):
        report.notes.append("openai-agents was left out: `make bench` sets its environment up")
    n, rounds = (100, 1) if quick else (500, 3)
    with model_server("--iterations", str(ITERATIONS)) as url:
        for in_flight in (1, 16):
            cases = {
                f"{label} @{in_flight}": (case, {"url": url, "n": n, "in_flight": in_flight})
                for label, case in rows
            }
            report.runs |= alternate(cases, rounds)
    for label, _ in rows:
        row: dict[str, Any] = {"what": label}
        for in_flight in (1, 16):
            runs = report.runs[f"{label} @{in_flight}"]
            row[f"CPU ms @{in_flight}"] = medians(runs)["cpu_ms"]
            row[f"spread @{in_flight}"] = spread(runs, "cpu_ms")
        report.table.append(row)
    for in_flight in (1, 16):
        durable, alone, bare = (
            medians(report.runs[f"{label} @{in_flight}"])["cpu_ms"] for label, _ in rows[:3]
        )
        what = f"CPU that loop and gate add to a bare request and call, {in_flight} in flight"
        report.floors.append(Floor(what, alone - bare, most=1.0, unit=" ms"))
        report.notes.append(
            f"{in_flight} in flight: durable rows add another {durable - alone:.2f} ms an iteration"
        )
    return report
