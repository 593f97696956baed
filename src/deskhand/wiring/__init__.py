"""The composition root: the only package that knows which adapter stands behind which port."""

from typing import TYPE_CHECKING, Any

from deskhand.lazy_names import LazyNames

if TYPE_CHECKING:
    from deskhand.adapters.channels.mail_channel import MailChannel as MailChannel
    from deskhand.wiring.channels import check_channels as check_channels
    from deskhand.wiring.channels import claimed_mailboxes as claimed_mailboxes
    from deskhand.wiring.channels import mailboxes as mailboxes
    from deskhand.wiring.checkup import DeskState as DeskState
    from deskhand.wiring.checkup import Integrity as Integrity
    from deskhand.wiring.checkup import check_database as check_database
    from deskhand.wiring.database_files import database_file as database_file
    from deskhand.wiring.database_files import looked_into as looked_into
    from deskhand.wiring.databases import Database as Database
    from deskhand.wiring.databases import DeskStore as DeskStore
    from deskhand.wiring.databases import api_keys as api_keys
    from deskhand.wiring.databases import backup_database as backup_database
    from deskhand.wiring.databases import channel_store as channel_store
    from deskhand.wiring.databases import chats_of as chats_of
    from deskhand.wiring.databases import console_actions as console_actions
    from deskhand.wiring.databases import console_feed as console_feed
    from deskhand.wiring.databases import copy_database as copy_database
    from deskhand.wiring.databases import desks_in as desks_in
    from deskhand.wiring.databases import exchanges_of as exchanges_of
    from deskhand.wiring.databases import knowledge_store as knowledge_store
    from deskhand.wiring.databases import notices_of as notices_of
    from deskhand.wiring.databases import open_database as open_database
    from deskhand.wiring.databases import open_store as open_store
    from deskhand.wiring.databases import own_database as own_database
    from deskhand.wiring.databases import user_accounts as user_accounts
    from deskhand.wiring.desk_folders import SHIPPED as SHIPPED
    from deskhand.wiring.desk_folders import SHIPPED_PREFIX as SHIPPED_PREFIX
    from deskhand.wiring.desk_folders import desk_name as desk_name
    from deskhand.wiring.desk_folders import find_desk as find_desk
    from deskhand.wiring.desk_folders import require_folder as require_folder
    from deskhand.wiring.desk_folders import shipped_desks as shipped_desks
    from deskhand.wiring.desks import LoadedDesk as LoadedDesk
    from deskhand.wiring.desks import desk_cases as desk_cases
    from deskhand.wiring.desks import read_desk as read_desk
    from deskhand.wiring.desks import server_tools as server_tools
    from deskhand.wiring.desks import with_brain as with_brain
    from deskhand.wiring.erasing import Erased as Erased
    from deskhand.wiring.erasing import erase_person as erase_person
    from deskhand.wiring.knowledge import open_knowledge as open_knowledge
    from deskhand.wiring.login import openid_logins as openid_logins
    from deskhand.wiring.login import openid_provider as openid_provider
    from deskhand.wiring.models import ModelInfo as ModelInfo
    from deskhand.wiring.models import call_models as call_models
    from deskhand.wiring.models import check_model as check_model
    from deskhand.wiring.models import embedder as embedder
    from deskhand.wiring.models import embedder_name as embedder_name
    from deskhand.wiring.models import known_models as known_models
    from deskhand.wiring.models import open_models as open_models
    from deskhand.wiring.models import require_prices as require_prices
    from deskhand.wiring.models import without_models as without_models
    from deskhand.wiring.modes import first_modes as first_modes
    from deskhand.wiring.modes import open_trust as open_trust
    from deskhand.wiring.modes import opened_modes as opened_modes
    from deskhand.wiring.office import check_calendar as check_calendar
    from deskhand.wiring.office import looking_at_calendar as looking_at_calendar
    from deskhand.wiring.office import open_calendar as open_calendar
    from deskhand.wiring.office import open_contacts as open_contacts
    from deskhand.wiring.routing import desk_intake as desk_intake
    from deskhand.wiring.routing import desk_router as desk_router
    from deskhand.wiring.routing import flow_of as flow_of
    from deskhand.wiring.routing import hand_in as hand_in
    from deskhand.wiring.routing import routed_by as routed_by
    from deskhand.wiring.run_bench import run_bench as run_bench
    from deskhand.wiring.sandbox import judging_brain as judging_brain
    from deskhand.wiring.sandbox import open_sandbox as open_sandbox
    from deskhand.wiring.serving import Desk as Desk
    from deskhand.wiring.serving import open_desk as open_desk
    from deskhand.wiring.telemetry import telemetry_feed as telemetry_feed
    from deskhand.wiring.tickets import open_tickets as open_tickets
    from deskhand.wiring.tools import described as described
    from deskhand.wiring.tools import pin_changes as pin_changes
    from deskhand.wiring.tools import pin_objection as pin_objection
    from deskhand.wiring.webhooks import WebhookTrial as WebhookTrial
    from deskhand.wiring.webhooks import webhook_courier as webhook_courier
    from deskhand.wiring.webhooks import webhook_endpoints as webhook_endpoints
    from deskhand.wiring.workers import join_workers as join_workers
    from deskhand.wiring.workers import worker_list as worker_list
    from deskhand.wiring.workers import worker_registry as worker_registry

_MODULES = {
    "channels": (
        "check_channels",
        "claimed_mailboxes",
        "mailboxes",
    ),
    "checkup": (
        "DeskState",
        "Integrity",
        "check_database",
    ),
    "database_files": ("database_file", "looked_into"),
    "databases": (
        "Database",
        "DeskStore",
        "api_keys",
        "channel_store",
        "backup_database",
        "console_feed",
        "chats_of",
        "copy_database",
        "desks_in",
        "exchanges_of",
        "knowledge_store",
        "notices_of",
        "open_database",
        "open_store",
        "own_database",
        "console_actions",
        "user_accounts",
    ),
    "desk_folders": (
        "SHIPPED",
        "SHIPPED_PREFIX",
        "desk_name",
        "find_desk",
        "require_folder",
        "shipped_desks",
    ),
    "desks": (
        "LoadedDesk",
        "desk_cases",
        "read_desk",
        "server_tools",
        "with_brain",
    ),
    "erasing": ("Erased", "erase_person"),
    "knowledge": ("open_knowledge",),
    "login": ("openid_logins", "openid_provider"),
    "models": (
        "ModelInfo",
        "call_models",
        "check_model",
        "embedder",
        "embedder_name",
        "known_models",
        "open_models",
        "require_prices",
        "without_models",
    ),
    "modes": (
        "first_modes",
        "open_trust",
        "opened_modes",
    ),
    "office": (
        "check_calendar",
        "looking_at_calendar",
        "open_calendar",
        "open_contacts",
    ),
    "routing": (
        "desk_intake",
        "desk_router",
        "flow_of",
        "hand_in",
        "routed_by",
    ),
    "run_bench": ("run_bench",),
    "sandbox": (
        "judging_brain",
        "open_sandbox",
    ),
    "serving": (
        "Desk",
        "open_desk",
    ),
    "telemetry": ("telemetry_feed",),
    "tickets": ("open_tickets",),
    "tools": (
        "described",
        "pin_changes",
        "pin_objection",
    ),
    "webhooks": (
        "WebhookTrial",
        "webhook_courier",
        "webhook_endpoints",
    ),
    "workers": (
        "join_workers",
        "worker_list",
        "worker_registry",
    ),
}
_NAMES = LazyNames(globals(), _MODULES)

__all__ = _NAMES.names


def __getattr__(name: str) -> Any:
    return _NAMES.find(name)


def __dir__() -> list[str]:
    return _NAMES.all_names()
