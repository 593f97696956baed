"""Deskhand works a company's inbound customer messages; see README.md.

What a desk's author or an embedding program needs is here by name. Importing is silent and quick:
each name brings its module along when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deskhand.lazy_names import LazyNames

if TYPE_CHECKING:
    from deskhand import mail as mail
    from deskhand.agent_router.flow_runner import FlowResult as FlowResult
    from deskhand.agent_router.flow_runner import FlowRunner as FlowRunner
    from deskhand.agent_router.memory import (
        InMemoryConversationMemory as InMemoryConversationMemory,
    )
    from deskhand.agent_router.policies import NullPolicyEngine as NullPolicyEngine
    from deskhand.agent_router.policies import YAMLPolicyEngine as YAMLPolicyEngine
    from deskhand.agent_router.router import AgentRouter as AgentRouter
    from deskhand.agents.agent import Agent as Agent
    from deskhand.agents.loop import AgentLoop as AgentLoop
    from deskhand.agents.parts import Parts as Parts
    from deskhand.agents.profiled import Agents as Agents
    from deskhand.agents.prompts import PromptRegistry as PromptRegistry
    from deskhand.agents.standalone import Standalone as Standalone
    from deskhand.agents.unknown_intent import FixedFallback as FixedFallback
    from deskhand.brain.cascade import CascadeBrain as CascadeBrain
    from deskhand.brain.chat_script import ChatScript as ChatScript
    from deskhand.brain.chat_script_file import load_chat_script as load_chat_script
    from deskhand.brain.embedded import EmbeddedBrain as EmbeddedBrain
    from deskhand.brain.embedded_desk import EmbeddedDesk as EmbeddedDesk
    from deskhand.brain.llm import LlmBrain as LlmBrain
    from deskhand.brain.redacting_chat import RedactingChatModel as RedactingChatModel
    from deskhand.brain.scripted import ScriptedBrain as ScriptedBrain
    from deskhand.brain.scripted import ScriptedChatModel as ScriptedChatModel
    from deskhand.brain.scripted import ScriptedRule as ScriptedRule
    from deskhand.brain.scripted import ScriptedWhen as ScriptedWhen
    from deskhand.brain.scripted import load_scripted as load_scripted
    from deskhand.config.desk import DeskSpec as DeskSpec
    from deskhand.config.desk import load_desk as load_desk
    from deskhand.engine.triage_service import TriageService as TriageService
    from deskhand.errors import ConfigError as ConfigError
    from deskhand.errors import ConfigErrors as ConfigErrors
    from deskhand.errors import DeskhandError as DeskhandError
    from deskhand.errors import PermanentError as PermanentError
    from deskhand.errors import RetryableError as RetryableError
    from deskhand.errors import ToolError as ToolError
    from deskhand.evals.scorers import Score as Score
    from deskhand.evals.scorers import scorer as scorer
    from deskhand.language.intents import IntentModel as IntentModel
    from deskhand.language.intents import Prediction as Prediction
    from deskhand.language.sentiment import read_sentiment as read_sentiment
    from deskhand.model.causes import Cause as Cause
    from deskhand.model.chat import ChatRequest as ChatRequest
    from deskhand.model.chat import Chunk as Chunk
    from deskhand.model.chat import Completion as Completion
    from deskhand.model.chat import ToolRequest as ToolRequest
    from deskhand.model.chat import Usage as Usage
    from deskhand.model.codes import ErrorCode as ErrorCode
    from deskhand.model.envelope import Ask as Ask
    from deskhand.model.envelope import Delta as Delta
    from deskhand.model.envelope import Envelope as Envelope
    from deskhand.model.envelope import ErrorNote as ErrorNote
    from deskhand.model.envelope import StageResult as StageResult
    from deskhand.model.events import LoopEnded as LoopEnded
    from deskhand.model.events import TextDelta as TextDelta
    from deskhand.model.events import TextDropped as TextDropped
    from deskhand.model.events import ToolAnswered as ToolAnswered
    from deskhand.model.events import ToolAsked as ToolAsked
    from deskhand.model.events import ToolJudged as ToolJudged
    from deskhand.model.events import TurnBegun as TurnBegun
    from deskhand.model.interaction import AgentResponse as AgentResponse
    from deskhand.model.interaction import Classification as Classification
    from deskhand.model.interaction import Interaction as Interaction
    from deskhand.model.interaction import PolicyDecision as PolicyDecision
    from deskhand.model.loop import AgentResult as AgentResult
    from deskhand.model.loop import AgentToolCall as AgentToolCall
    from deskhand.model.message import Address as Address
    from deskhand.model.message import Attachment as Attachment
    from deskhand.model.message import Message as Message
    from deskhand.model.message import Prepared as Prepared
    from deskhand.model.message import Reply as Reply
    from deskhand.model.money import Money as Money
    from deskhand.model.outcome import EffectClass as EffectClass
    from deskhand.model.outcome import IdempotencyClass as IdempotencyClass
    from deskhand.model.outcome import Outcome as Outcome
    from deskhand.model.outcome import RiskLevel as RiskLevel
    from deskhand.model.outcome import ToolStatus as ToolStatus
    from deskhand.model.outcome import ValidationSeverity as ValidationSeverity
    from deskhand.model.plan import AskUser as AskUser
    from deskhand.model.plan import Plan as Plan
    from deskhand.model.plan import Respond as Respond
    from deskhand.model.plan import ToolCall as ToolCall
    from deskhand.model.principal import Principal as Principal
    from deskhand.model.principal import PrincipalKind as PrincipalKind
    from deskhand.model.profile import Budget as Budget
    from deskhand.model.profile import ProfileSpec as ProfileSpec
    from deskhand.model.results import DiscoveredItem as DiscoveredItem
    from deskhand.model.results import Evidence as Evidence
    from deskhand.model.results import ToolErrorDetails as ToolErrorDetails
    from deskhand.model.results import ToolResult as ToolResult
    from deskhand.model.results import ToolResultData as ToolResultData
    from deskhand.model.results import normalize_tool_result as normalize_tool_result
    from deskhand.model.run import Decision as Decision
    from deskhand.model.run import Review as Review
    from deskhand.model.run import ReviewKind as ReviewKind
    from deskhand.model.run import Run as Run
    from deskhand.model.run import RunStatus as RunStatus
    from deskhand.model.share import Share as Share
    from deskhand.model.spec import AgentSpec as AgentSpec
    from deskhand.model.spec import FlowSpec as FlowSpec
    from deskhand.model.spec import RoutingRule as RoutingRule
    from deskhand.model.tasks import Answer as Answer
    from deskhand.model.tasks import Task as Task
    from deskhand.model.tasks import TaskKind as TaskKind
    from deskhand.model.telemetry import TelemetryEvent as TelemetryEvent
    from deskhand.own_tables import OwnTables as OwnTables
    from deskhand.policy.rule_policy import NullPolicy as NullPolicy
    from deskhand.policy.rule_policy import policy_of as policy_of
    from deskhand.ports import Brain as Brain
    from deskhand.ports import ChatModel as ChatModel
    from deskhand.ports import DeskDatabase as DeskDatabase
    from deskhand.ports import Outbox as Outbox
    from deskhand.ports import StageContext as StageContext
    from deskhand.routing import Router as Router
    from deskhand.routing.intents_registry import IntentsRegistry as IntentsRegistry
    from deskhand.telemetry.sinks import JsonLinesSink as JsonLinesSink
    from deskhand.telemetry.sinks import ListSink as ListSink
    from deskhand.telemetry.sinks import PrintSink as PrintSink
    from deskhand.tools.authority import Authority as Authority
    from deskhand.tools.authority import Customer as Customer
    from deskhand.tools.authority import CustomerId as CustomerId
    from deskhand.tools.authority import Owned as Owned
    from deskhand.tools.authority import OwnedOrder as OwnedOrder
    from deskhand.tools.authority import SenderAddress as SenderAddress
    from deskhand.tools.authority import Slot as Slot
    from deskhand.tools.authority import resolver as resolver
    from deskhand.tools.context import Context as Context
    from deskhand.tools.delivery import delivery_tool as delivery_tool
    from deskhand.tools.gate import Gate as Gate
    from deskhand.tools.gate_call import GateAnswer as GateAnswer
    from deskhand.tools.gate_call import Terms as Terms
    from deskhand.tools.memory_effects import MemoryEffects as MemoryEffects
    from deskhand.tools.message_facts import message_fact as message_fact
    from deskhand.tools.registry import Tool as Tool
    from deskhand.tools.registry import ToolRegistry as ToolRegistry
    from deskhand.tools.registry import tool as tool
    from deskhand.tools.registry import tool_probe as tool_probe
    from deskhand.tools.services import ServiceResult as ServiceResult
    from deskhand.tools.services import after as after
    from deskhand.tools.services import before as before
    from deskhand.tools.services import preprocessor as preprocessor
    from deskhand.tools.services import service as service
    from deskhand.wiring import Desk as Desk
    from deskhand.wiring import open_database as open_database
    from deskhand.wiring import open_desk as open_desk
    from deskhand.wiring import open_models as open_models
    from deskhand.wiring import read_desk as read_desk

__version__ = "0.1.0"

_MODULES = {
    "agent_router.flow_runner": ("FlowResult", "FlowRunner"),
    "agent_router.memory": ("InMemoryConversationMemory",),
    "agent_router.policies": ("NullPolicyEngine", "YAMLPolicyEngine"),
    "agent_router.router": ("AgentRouter",),
    "agents.unknown_intent": ("FixedFallback",),
    "model.interaction": ("AgentResponse", "Classification", "Interaction", "PolicyDecision"),
    "model.share": ("Share",),
    "model.telemetry": ("TelemetryEvent",),
    "routing.intents_registry": ("IntentsRegistry",),
    "telemetry.sinks": ("JsonLinesSink", "ListSink", "PrintSink"),
    "agents.agent": ("Agent",),
    "agents.parts": ("Parts",),
    "agents.loop": ("AgentLoop",),
    "agents.profiled": ("Agents",),
    "agents.prompts": ("PromptRegistry",),
    "agents.standalone": ("Standalone",),
    "brain.cascade": ("CascadeBrain",),
    "brain.chat_script": ("ChatScript",),
    "brain.chat_script_file": ("load_chat_script",),
    "brain.embedded": ("EmbeddedBrain",),
    "brain.llm": ("LlmBrain",),
    "brain.embedded_desk": ("EmbeddedDesk",),
    "brain.redacting_chat": ("RedactingChatModel",),
    "brain.scripted": (
        "ScriptedBrain",
        "ScriptedChatModel",
        "ScriptedRule",
        "ScriptedWhen",
        "load_scripted",
    ),
    "config.desk": ("DeskSpec", "load_desk"),
    "engine.triage_service": ("TriageService",),
    "errors": (
        "ConfigError",
        "ConfigErrors",
        "DeskhandError",
        "PermanentError",
        "RetryableError",
        "ToolError",
    ),
    "evals.scorers": ("Score", "scorer"),
    "language.intents": ("IntentModel", "Prediction"),
    "language.sentiment": ("read_sentiment",),
    "model.causes": ("Cause",),
    "model.chat": ("ChatRequest", "Chunk", "Completion", "ToolRequest", "Usage"),
    "model.codes": ("ErrorCode",),
    "model.envelope": ("Ask", "Delta", "Envelope", "ErrorNote", "StageResult"),
    "model.events": (
        "LoopEnded",
        "TextDelta",
        "TextDropped",
        "ToolAnswered",
        "ToolAsked",
        "ToolJudged",
        "TurnBegun",
    ),
    "model.loop": ("AgentResult", "AgentToolCall"),
    "model.message": ("Address", "Attachment", "Message", "Prepared", "Reply"),
    "model.outcome": (
        "EffectClass",
        "IdempotencyClass",
        "Outcome",
        "RiskLevel",
        "ToolStatus",
        "ValidationSeverity",
    ),
    "model.plan": ("AskUser", "Plan", "Respond", "ToolCall"),
    "model.principal": ("Principal", "PrincipalKind"),
    "model.profile": ("Budget", "ProfileSpec"),
    "model.results": (
        "DiscoveredItem",
        "Evidence",
        "ToolErrorDetails",
        "ToolResult",
        "ToolResultData",
        "normalize_tool_result",
    ),
    "model.run": ("Decision", "Review", "ReviewKind", "Run", "RunStatus"),
    "model.spec": ("AgentSpec", "FlowSpec", "RoutingRule"),
    "model.tasks": ("Answer", "Task", "TaskKind"),
    "ports": ("Brain", "ChatModel", "DeskDatabase", "Outbox", "StageContext"),
    "routing": ("Router",),
    "model.money": ("Money",),
    "own_tables": ("OwnTables",),
    "policy.rule_policy": ("NullPolicy", "policy_of"),
    "tools.authority": (
        "Authority",
        "Customer",
        "CustomerId",
        "Owned",
        "OwnedOrder",
        "SenderAddress",
        "Slot",
        "resolver",
    ),
    "tools.gate_call": ("GateAnswer", "Terms"),
    "tools.context": ("Context",),
    "tools.delivery": ("delivery_tool",),
    "tools.gate": ("Gate",),
    "tools.memory_effects": ("MemoryEffects",),
    "tools.message_facts": ("message_fact",),
    "tools.registry": ("Tool", "ToolRegistry", "tool", "tool_probe"),
    "tools.services": ("ServiceResult", "after", "before", "preprocessor", "service"),
    "wiring": ("Desk", "open_database", "open_desk", "open_models", "read_desk"),
}
_NAMES = LazyNames(globals(), _MODULES)

__all__ = [*_NAMES.names, "__version__"]


def __getattr__(name: str) -> Any:
    return import_module("deskhand.mail") if name == "mail" else _NAMES.find(name)


def __dir__() -> list[str]:
    return _NAMES.all_names()
