"""One LLM stage against a local OpenAI-shaped server: our CPU a call, beside that of others."""

import itertools
from pathlib import Path
from typing import Any

from bench.desks import CATEGORIES, MODEL, chain, chat_model, message, working
from bench.driving import ITERATIONS, MAIL, by_iteration, drive, lookup_order
from bench.harness import Floor, Report, Result, alternate, medians, model_server, spread
from deskhand.adapters.chat_models.recording import RecordingChatModel
from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.brain.llm import LlmBrain
from deskhand.engine.clock import SystemClock
from deskhand.model.envelope import Envelope

STAGES = 4
INSTRUCTIONS = "Decide which category the customer's message belongs to, and how sure you are."
SPEC: dict[str, Any] = {"has_llm": True, "task": "classify", "choices": CATEGORIES}


async def ours_durable(folder: Path, url: str, n: int, in_flight: int) -> Result:
    """A stage's price is what a run of four stages costs more than a run of one; accepting and
    finishing cancel out."""
    chat = chat_model(url)
    flows = {
        "long": chain("long", [f"s{k}" for k in range(STAGES)], **SPEC),
        "short": chain("short", ["s0"], **SPEC),
    }

    def parts(store: Any) -> Parts:
        return Parts(
            brain=LlmBrain(RecordingChatModel(chat, store.record_call, SystemClock()), {}, MODEL)
        )

    async with working(folder, flows, parts, in_flight=64) as desk:
        numbers = itertools.count()

        async def one(flow: str) -> None:
            await desk.one(message(next(numbers), flow=flow))

        runs = max(1, n // STAGES)
        long = await drive(lambda: one("long"), runs, in_flight)
        short = await drive(lambda: one("short"), runs * 2, in_flight)
    await chat.aclose()
    return {
        "cpu_ms": (long["cpu_ms"] - short["cpu_ms"]) / (STAGES - 1),
        "run_cpu_ms": short["cpu_ms"],
    }


async def ours_alone(folder: Path, url: str, n: int, in_flight: int) -> Result:
    chat = chat_model(url)
    spec = chain("one", ["s0"], **SPEC).stages["s0"]
    agent = Agent(spec, Parts(brain=LlmBrain(chat, {}, MODEL)))
    envelope = Envelope.of(message(1), run_id="run_1")
    result = await drive(lambda: agent.process(envelope), n, in_flight)
    await chat.aclose()
    return result


async def bare_client(folder: Path, url: str, n: int, in_flight: int) -> Result:
    """The same request by aiohttp alone: what no engine can save."""
    import aiohttp

    from deskhand.brain.results import schema_of
    from deskhand.brain.task_prompts import messages_for
    from deskhand.model.tasks import Task, TaskKind

    task = Task(kind=TaskKind.CLASSIFY, stage="s0", text=MAIL, choices=CATEGORIES)
    answer = {"name": "answer", "schema": schema_of(task), "strict": False}
    form = {"type": "json_schema", "json_schema": answer}
    body = {"model": "gpt-4o-mini", "messages": messages_for(task), "response_format": form}
    async with aiohttp.ClientSession() as session:

        async def one() -> None:
            async with session.post(f"{url}/chat/completions", json=body) as response:
                await response.json()

        return await drive(one, n, in_flight)


async def pydantic_ai(folder: Path, url: str, n: int, in_flight: int, loop: bool = False) -> Result:
    from pydantic_ai import Agent as PydanticAgent
    from pydantic_ai import NativeOutput
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("gpt-4o-mini", provider=OpenAIProvider(base_url=url, api_key="none"))
    if not loop:
        agent: Any = PydanticAgent(
            model, instructions=INSTRUCTIONS, output_type=NativeOutput(_answer_type())
        )
        return await drive(lambda: agent.run(MAIL), n, in_flight)
    agent = PydanticAgent(model, instructions="You look orders up.")
    agent.tool_plain(lookup_order)
    return by_iteration(await drive(lambda: agent.run(MAIL), n // ITERATIONS, in_flight))


async def langgraph(
    folder: Path, url: str, n: int, in_flight: int, loop: bool = False, saved: bool = False
) -> Result:
    from contextlib import AsyncExitStack
    from typing import TypedDict

    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="gpt-4o-mini", base_url=url, api_key="none")
    if loop:
        from langchain.agents import create_agent
        from langchain_core.tools import tool

        looping: Any = create_agent(
            model, [tool(lookup_order)], system_prompt="You look orders up."
        )
        asked = {"messages": [("user", MAIL)]}
        limit = {"recursion_limit": 4 * ITERATIONS}
        return by_iteration(
            await drive(lambda: looping.ainvoke(asked, limit), n // ITERATIONS, in_flight)
        )

    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.graph import END, START, StateGraph

    structured = model.with_structured_output(_answer_type(), method="json_schema")

    async def classify(state: Any) -> dict[str, Any]:
        answer: Any = await structured.ainvoke([("system", INSTRUCTIONS), ("user", state["mail"])])
        return {"found": answer.model_dump()}

    fields: dict[str, Any] = {"mail": str, "found": dict}
    graph = StateGraph(TypedDict("State", fields, total=False))  # type: ignore[operator]
    graph.add_node("classify", classify)
    graph.add_edge(START, "classify")
    graph.add_edge("classify", END)
    async with AsyncExitStack() as stack:
        saver = None
        if saved:
            path = str(folder / "langgraph.db")
            saver = await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(path))
        compiled = graph.compile(checkpointer=saver)
        numbers = itertools.count()

        async def one() -> None:
            thread: Any = {"configurable": {"thread_id": f"t{next(numbers)}"}}
            await compiled.ainvoke(
                {"mail": MAIL}, thread, **({"durability": "sync"} if saved else {})
            )

        return await drive(one, n, in_flight)


def _answer_type() -> Any:
    from typing import Literal

    from pydantic import BaseModel, Field

    class Classified(BaseModel):
        category: Literal["delivery", "refund", "complaint", "other"]
        confidence: float = Field(ge=0, le=1)

    return Classified


CASES = {
    "ours_durable": ours_durable,
    "ours_alone": ours_alone,
    "bare_client": bare_client,
    "pydantic_ai": pydantic_ai,
    "langgraph": langgraph,
}

ROWS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("Deskhand, stage with its step and llm_calls rows", "ours_durable", {}),
    ("Deskhand, agent + brain + client", "ours_alone", {}),
    ("aiohttp alone, same request", "bare_client", {}),
    ("pydantic-ai, Agent.run", "pydantic_ai", {}),
    ("LangGraph + langchain-openai, one node", "langgraph", {}),
    ("LangGraph + langchain-openai, one node, SQLite saver", "langgraph", {"saved": True}),
    ("pydantic-ai, iteration of a 10-call tool loop", "pydantic_ai", {"loop": True}),
    ("LangGraph, iteration of a 10-call tool loop", "langgraph", {"loop": True}),
)


def bench(*, quick: bool) -> Report:
    report = Report(
        "llm_stage",
        "CPU of the client's process for one structured model call, local server elsewhere",
    )
    n, rounds = (120, 1) if quick else (600, 3)
    with model_server("--iterations", str(ITERATIONS)) as url:
        for in_flight in (1, 16):
            cases = {
                f"{label} @{in_flight}": (
                    f"llm_stage.{case}",
                    {"url": url, "n": n, "in_flight": in_flight, **more},
                )
                for label, case, more in ROWS
            }
            report.runs |= alternate(cases, rounds)
    for label, _, _ in ROWS:
        alone, many = report.runs[f"{label} @1"], report.runs[f"{label} @16"]
        report.table.append(
            {
                "what": label,
                "CPU ms a call, one at a time": medians(alone)["cpu_ms"],
                "(min to max)": spread(alone, "cpu_ms"),
                "16 in flight": medians(many)["cpu_ms"],
            }
        )
    whole = medians(report.runs[f"{ROWS[0][0]} @1"])
    report.notes.append(
        f"a whole run of one such stage, accept to done: {whole['run_cpu_ms']:.2f} ms CPU, one at a"
        " time"
    )
    durable_row, alone_row = report.table[0], report.table[1]
    alone_column = "CPU ms a call, one at a time"
    report.floors = [
        Floor(
            "CPU of an LLM stage with its rows, one at a time",
            durable_row[alone_column],
            most=1,
            unit=" ms",
        ),
        Floor(
            "CPU of an LLM stage with its rows, 16 in flight",
            durable_row["16 in flight"],
            most=1,
            unit=" ms",
        ),
        Floor(
            "CPU of agent + brain + client, one at a time",
            alone_row[alone_column],
            most=1,
            unit=" ms",
        ),
    ]
    return report
