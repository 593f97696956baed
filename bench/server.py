"""The OpenAI-shaped server of the tests, which here also asks for a tool while it is offered one.

`python -m bench.server [--delay SECONDS] [--iterations N]` prints its base URL.
"""

import argparse
import asyncio
from typing import Any

from tests.fake_openai import FakeOpenAI, Reply, completion, regular, tool_call


def answers(iterations: int) -> Any:
    """A call of the first tool until the conversation holds `iterations` results, then a
    sentence."""
    plain: dict[str, Reply] = {}

    def answer(request: dict[str, Any]) -> Reply:
        done = sum(1 for said in request["messages"] if said.get("role") == "tool")
        if request.get("tools") and done < iterations:
            name = request["tools"][0]["function"]["name"]
            asked = tool_call(name, '{"order_id": "A-10423"}', f"call_{done}")
            return completion(None, tool_calls=[asked], finish_reason="tool_calls")
        if "response_format" not in request and not request.get("stream"):
            return plain.setdefault("", regular(request))
        return regular(request)

    return answer


async def serve(delay: float, iterations: int) -> None:
    server = FakeOpenAI(otherwise=answers(iterations), delay=delay)
    server.keep_requests = False
    async with server:
        print(server.base_url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description="An OpenAI-shaped server that answers without thinking."
    )
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument(
        "--iterations", type=int, default=10, help="tool calls asked for before the last answer"
    )
    options = parser.parse_args()
    asyncio.run(serve(options.delay, options.iterations))


if __name__ == "__main__":
    main()
