"""The composition root: the only package that knows which adapter stands behind which port."""

from typing import TYPE_CHECKING

from deskhand.wiring.channels import (
    check_channels,
    mailboxes,
)
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
    with_brain,
)
from deskhand.wiring.knowledge import (
    open_knowledge,
)
from deskhand.wiring.models import (
    check_model,
    embedder,
    embedder_name,
    without_models,
)
from deskhand.wiring.office import (
    check_calendar,
    looking_at_calendar,
    open_calendar,
    open_contacts,
)
from deskhand.wiring.routing import (
    desk_intake,
    desk_router,
    flow_of,
    hand_in,
    mail_trust,
    routed_by,
)
from deskhand.wiring.sandbox import (
    judging_brain,
    open_sandbox,
)
from deskhand.wiring.serving import (
    Desk,
    open_desk,
    open_trust,
)
from deskhand.wiring.tools import (
    described,
    pin_changes,
    pin_objection,
)
from deskhand.wiring.workers import (
    join_workers,
    worker_registry,
)

if TYPE_CHECKING:
    from deskhand.adapters.channels.mail_channel import MailChannel

__all__ = [
    "SHIPPED",
    "Database",
    "Desk",
    "DeskStore",
    "Erased",
    "LoadedDesk",
    "MailChannel",
    "api_keys",
    "channel_store",
    "check_calendar",
    "check_channels",
    "check_model",
    "copy_database",
    "database_file",
    "described",
    "desk_cases",
    "desk_intake",
    "desk_name",
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
    "mail_trust",
    "mailboxes",
    "notices_of",
    "open_calendar",
    "open_contacts",
    "open_database",
    "open_desk",
    "open_knowledge",
    "open_sandbox",
    "open_store",
    "open_trust",
    "own_database",
    "pin_changes",
    "pin_objection",
    "read_desk",
    "routed_by",
    "server_tools",
    "user_accounts",
    "with_brain",
    "without_models",
    "worker_registry",
]
