"""The composition root: the only package that knows which adapter stands behind which port."""

from typing import TYPE_CHECKING

from deskhand.wiring.channels import DeskChannel, check_channels, desk_channels, mailboxes, offers
from deskhand.wiring.databases import (
    Database,
    DeskStore,
    Erased,
    api_keys,
    channel_store,
    copy_database,
    database_file,
    desks_in,
    erase_person,
    exchanges_of,
    knowledge_store,
    notices_of,
    open_database,
    open_store,
    own_database,
    trust_store,
    user_accounts,
)
from deskhand.wiring.desks import (
    SHIPPED,
    LoadedDesk,
    desk_cases,
    desk_name,
    find_desk,
    read_desk,
    server_tools,
    shipped_desks,
    with_brain,
)
from deskhand.wiring.knowledge import context_sources, open_knowledge, remembers
from deskhand.wiring.models import check_model, embedder, embedder_name, without_models
from deskhand.wiring.office import (
    check_calendar,
    desk_office,
    looking_at_calendar,
    open_calendar,
    open_contacts,
)
from deskhand.wiring.routing import (
    desk_router,
    flow_of,
    hand_in,
    mail_intake,
    mail_trust,
    own_addresses,
    routed_as_said,
    routed_by,
)
from deskhand.wiring.sandbox import Sandbox, judging_brain, open_sandbox
from deskhand.wiring.serving import Desk, DeskDispatcher, open_desk, open_trust
from deskhand.wiring.tools import described, mcp_servers, pin_changes, pin_objection
from deskhand.wiring.workers import join_workers, worker_registry

if TYPE_CHECKING:
    from deskhand.adapters.channels.mail_channel import MailChannel

__all__ = [
    "SHIPPED",
    "Database",
    "Desk",
    "DeskChannel",
    "DeskDispatcher",
    "DeskStore",
    "Erased",
    "LoadedDesk",
    "MailChannel",
    "Sandbox",
    "api_keys",
    "channel_store",
    "check_calendar",
    "check_channels",
    "check_model",
    "context_sources",
    "copy_database",
    "database_file",
    "described",
    "desk_cases",
    "desk_channels",
    "desk_name",
    "desk_office",
    "desk_router",
    "desks_in",
    "embedder",
    "embedder_name",
    "erase_person",
    "exchanges_of",
    "find_desk",
    "flow_of",
    "hand_in",
    "join_workers",
    "judging_brain",
    "knowledge_store",
    "looking_at_calendar",
    "mail_intake",
    "mail_trust",
    "mailboxes",
    "mcp_servers",
    "notices_of",
    "offers",
    "open_calendar",
    "open_contacts",
    "open_database",
    "open_desk",
    "open_knowledge",
    "open_sandbox",
    "open_store",
    "open_trust",
    "own_addresses",
    "own_database",
    "pin_changes",
    "pin_objection",
    "read_desk",
    "remembers",
    "routed_as_said",
    "routed_by",
    "server_tools",
    "shipped_desks",
    "trust_store",
    "user_accounts",
    "with_brain",
    "without_models",
    "worker_registry",
]
