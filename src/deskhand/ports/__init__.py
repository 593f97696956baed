"""Every Protocol of the engine: what it needs from the outside and from its exchangeable parts.

Start here to see what stands behind the engine. Adapters implement these; the wiring chooses which.
"""

from typing import TYPE_CHECKING, Any

from deskhand.lazy_names import LazyNames

if TYPE_CHECKING:
    from deskhand.ports.brain import Brain as Brain
    from deskhand.ports.brain import ChatModel as ChatModel
    from deskhand.ports.brain import PromptSource as PromptSource
    from deskhand.ports.brain import SearchesWeb as SearchesWeb
    from deskhand.ports.channels import Channel as Channel
    from deskhand.ports.channels import Drafts as Drafts
    from deskhand.ports.channels import Intake as Intake
    from deskhand.ports.channels import Outbox as Outbox
    from deskhand.ports.channels import Threads as Threads
    from deskhand.ports.database import ApiKeys as ApiKeys
    from deskhand.ports.database import Archive as Archive
    from deskhand.ports.database import ConsoleActions as ConsoleActions
    from deskhand.ports.database import DeskDatabase as DeskDatabase
    from deskhand.ports.database import Users as Users
    from deskhand.ports.dispatch import Clock as Clock
    from deskhand.ports.dispatch import Dispatcher as Dispatcher
    from deskhand.ports.dispatch import Lease as Lease
    from deskhand.ports.knowledge import Embeds as Embeds
    from deskhand.ports.knowledge import Exchanges as Exchanges
    from deskhand.ports.knowledge import KnowledgeStore as KnowledgeStore
    from deskhand.ports.knowledge import SearchesKnowledge as SearchesKnowledge
    from deskhand.ports.office import Calendar as Calendar
    from deskhand.ports.office import ContactChange as ContactChange
    from deskhand.ports.office import Contacts as Contacts
    from deskhand.ports.stages import GateAnswer as GateAnswer
    from deskhand.ports.stages import Held as Held
    from deskhand.ports.stages import MockHandler as MockHandler
    from deskhand.ports.stages import PostHook as PostHook
    from deskhand.ports.stages import PreHook as PreHook
    from deskhand.ports.stages import Sink as Sink
    from deskhand.ports.stages import StageContext as StageContext
    from deskhand.ports.stages import Stepped as Stepped
    from deskhand.ports.stages import StepWork as StepWork
    from deskhand.ports.stages import ToolGate as ToolGate
    from deskhand.ports.stages import Work as Work
    from deskhand.ports.store import AgentRecords as AgentRecords
    from deskhand.ports.store import Effects as Effects
    from deskhand.ports.store import Files as Files
    from deskhand.ports.store import Journal as Journal
    from deskhand.ports.store import Reviews as Reviews
    from deskhand.ports.store import Store as Store
    from deskhand.ports.telemetry import TelemetryFeed as TelemetryFeed
    from deskhand.ports.telemetry import TelemetrySink as TelemetrySink
    from deskhand.ports.tickets import ActiveTickets as ActiveTickets
    from deskhand.ports.tickets import TicketArchive as TicketArchive
    from deskhand.ports.tickets import TicketStore as TicketStore
    from deskhand.ports.trust import SpotChecks as SpotChecks
    from deskhand.ports.trust import TrustRecords as TrustRecords
    from deskhand.ports.trust import TrustStore as TrustStore

_NAMES = LazyNames(
    globals(),
    {
        "brain": (
            "Brain",
            "ChatModel",
            "PromptSource",
            "SearchesWeb",
        ),
        "channels": (
            "Channel",
            "Drafts",
            "Intake",
            "Outbox",
            "Threads",
        ),
        "database": (
            "ApiKeys",
            "Archive",
            "DeskDatabase",
            "ConsoleActions",
            "Users",
        ),
        "dispatch": (
            "Clock",
            "Dispatcher",
            "Lease",
        ),
        "knowledge": (
            "Embeds",
            "Exchanges",
            "KnowledgeStore",
            "SearchesKnowledge",
        ),
        "office": (
            "Calendar",
            "ContactChange",
            "Contacts",
        ),
        "stages": (
            "GateAnswer",
            "Held",
            "MockHandler",
            "PostHook",
            "PreHook",
            "Sink",
            "StageContext",
            "Stepped",
            "StepWork",
            "ToolGate",
            "Work",
        ),
        "store": (
            "AgentRecords",
            "Effects",
            "Files",
            "Journal",
            "Reviews",
            "Store",
        ),
        "telemetry": (
            "TelemetryFeed",
            "TelemetrySink",
        ),
        "tickets": (
            "ActiveTickets",
            "TicketArchive",
            "TicketStore",
        ),
        "trust": (
            "SpotChecks",
            "TrustRecords",
            "TrustStore",
        ),
    },
)
__all__ = _NAMES.names


def __getattr__(name: str) -> Any:
    return _NAMES.find(name)


def __dir__() -> list[str]:
    return _NAMES.all_names()
