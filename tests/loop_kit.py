"""What tests of the tool loop share: models that answer by a script, a profile, and a flow of
one agent."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from deskhand.agents.parts import Parts
from deskhand.agents.profiled import Agents
from deskhand.agents.replying.sending import Sending
from deskhand.agents.replying.services import dispatch_through, review_through
from deskhand.brain.fencing import data_in
from deskhand.brain.scripted import ScriptedChatModel
from deskhand.config.sections.profiles import own_stages
from deskhand.engine.loop import Flow
from deskhand.model.chat import ChatRequest, Completion, ToolRequest, Usage
from deskhand.model.profile import ProfileSpec
from deskhand.ports import ChatModel, Sink
from deskhand.tools.gate import Gate
from deskhand.tools.registry import Tool
from tests.kit import a_flow

Call = tuple[str, Any]
"""A tool and its arguments, or the text a model wrote in their place."""


def asks(*calls: Call, text: str = "", usage: Usage | None = None) -> Completion:
    """A turn in which the model asks for tools."""
    requests = []
    for place, (tool, arguments) in enumerate(calls, 1):
        text_of = arguments if isinstance(arguments, str) else json.dumps(arguments)
        requests.append(ToolRequest(f"c{place}", tool, text_of))
    return Completion(
        text, "test/model", tuple(requests), "tool_calls", usage or Usage(100, 10, 0.01)
    )


def says(text: str, finish: str = "stop") -> Completion:
    """The model's last word."""
    return Completion(text, "test/model", (), finish, Usage(100, 10, 0.01))


def told(request: ChatRequest) -> list[Any]:
    """What the model was told of its calls, in order."""
    return [
        json.loads(data_in(str(message["content"])))
        for message in request.messages
        if message["role"] == "tool"
    ]


def by_turn(*turns: Completion | Exception) -> ScriptedChatModel:
    """Answers by how often the model has spoken: the same request again gives the same answer,
    as after a crash."""

    def choose(request: ChatRequest) -> Completion | Exception:
        return turns[[message["role"] for message in request.messages].count("assistant")]

    return ScriptedChatModel(choose)


def a_profile(tools: Iterable[Tool] = (), **fields: Any) -> ProfileSpec:
    return ProfileSpec(
        **{
            "name": "helper",
            "system_prompt": "You help customers.",
            "tools": tuple(tool.name for tool in tools),
            "model": "test/model",
            **fields,
        }
    )


def agent_flow(
    chat: ChatModel,
    tools: tuple[Tool, ...] = (),
    profile: ProfileSpec | None = None,
    events: Sink | None = None,
    sending: Sending | None = None,
) -> Callable[[Gate], Flow]:
    """The flow that a profile becomes by itself."""
    profile = profile or a_profile(tools)

    def build(gate: Gate) -> Flow:
        agents = Agents({profile.name: profile}, chat, tools, {}, None, streams=events is not None)
        services = {"review": review_through(gate), "dispatch": dispatch_through(gate, sending)}
        parts = Parts(tools=gate, services=services, agents=agents, events=events, sending=sending)
        return a_flow(own_stages(profile), parts, name=profile.name)

    return build
