"""openai-agents, in an environment of its own: it wants an older `websockets` than the others."""

from pathlib import Path
from typing import Any

from bench.driving import ITERATIONS, MAIL, Result, by_iteration, drive, lookup_order


async def loop(folder: Path, url: str, n: int, in_flight: int) -> Result:
    from agents import (
        Agent,
        OpenAIChatCompletionsModel,
        Runner,
        function_tool,
        set_tracing_disabled,
    )
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel("gpt-4o-mini", AsyncOpenAI(base_url=url, api_key="none"))
    agent: Any = Agent(
        name="orders",
        instructions="You look orders up.",
        model=model,
        tools=[function_tool(lookup_order)],
    )
    turns = 4 * ITERATIONS
    return by_iteration(
        await drive(lambda: Runner.run(agent, MAIL, max_turns=turns), n // ITERATIONS, in_flight)
    )


CASES = {"loop": loop}
