"""Every Protocol of the engine: what it needs from the outside and from its exchangeable parts.

Start here to see what stands behind the engine. Adapters implement these; the wiring chooses which.
"""

from deskhand.ports.brain import Brain, ChatModel, PromptSource, SearchesWeb
from deskhand.ports.channels import Channel, Drafts, Intake, Outbox, Threads
from deskhand.ports.database import ApiKeys, Archive, DeskDatabase, Users
from deskhand.ports.dispatch import Clock, Dispatcher, Lease
from deskhand.ports.knowledge import Embeds, Exchanges, KnowledgeStore, SearchesKnowledge
from deskhand.ports.office import Calendar, ContactChange, Contacts
from deskhand.ports.stages import (
    GateAnswer,
    Held,
    MockHandler,
    PostHook,
    PreHook,
    Sink,
    StageContext,
    Stepped,
    StepWork,
    ToolGate,
    Work,
)
from deskhand.ports.store import AgentRecords, Effects, Files, Journal, Reviews, Store
from deskhand.ports.trust import SpotChecks, TrustStore

__all__ = [
    "AgentRecords",
    "ApiKeys",
    "Archive",
    "Brain",
    "Calendar",
    "Channel",
    "ChatModel",
    "Clock",
    "ContactChange",
    "Contacts",
    "DeskDatabase",
    "Dispatcher",
    "Drafts",
    "Effects",
    "Embeds",
    "Exchanges",
    "Files",
    "GateAnswer",
    "Held",
    "Intake",
    "Journal",
    "KnowledgeStore",
    "Lease",
    "MockHandler",
    "Outbox",
    "PostHook",
    "PreHook",
    "PromptSource",
    "Reviews",
    "SearchesKnowledge",
    "SearchesWeb",
    "Sink",
    "SpotChecks",
    "StageContext",
    "StepWork",
    "Stepped",
    "Store",
    "Threads",
    "ToolGate",
    "TrustStore",
    "Users",
    "Work",
]
