"""A desk's tools, and the servers that bring some of them."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.adapters.channels.folder_outbox import FolderOutbox
from deskhand.adapters.channels.routed_outbox import (
    ChatOutbox,
    HandBackOutbox,
    RoutedOutbox,
    SendingChannel,
)
from deskhand.config.desk import DeskSpec
from deskhand.config.sections.channels import chat_of
from deskhand.config.sections.mcp import McpServerSpec, Pin
from deskhand.errors import DeskhandError
from deskhand.model.attached_files import FileOrigin
from deskhand.model.message import CHAT, HANDED_BACK
from deskhand.tools.closing import MAY_BE_ABSENT, built_in_tools
from deskhand.tools.delivery import delivery_tool, draft_tool
from deskhand.tools.gate_call import Terms
from deskhand.tools.office import Office
from deskhand.tools.pinned import pinned_tool
from deskhand.tools.registry import Tool, ToolRegistry
from deskhand.tools.terms import terms_of
from deskhand.wiring.channels import DeskChannel, sending_channels
from deskhand.wiring.databases import DeskStore
from deskhand.wiring.desks import LoadedDesk, not_asked

if TYPE_CHECKING:
    from deskhand.adapters.mcp import McpServers
    from deskhand.adapters.stores.chats import SqlChats


def tool_registry(
    loaded: LoadedDesk,
    store: DeskStore,
    outbox: Path,
    office: Office,
    channels: "Sequence[DeskChannel]" = (),
    servers: "McpServers | None" = None,
    chats: "SqlChats | None" = None,
) -> ToolRegistry:
    """The desk's tools, those that servers bring, and our own."""
    spec = loaded.spec
    registry = ToolRegistry(loaded.code.tools, absent=MAY_BE_ABSENT)
    for own in (*_built_in(spec, store), *office.tools(beside=registry.names)):
        registry.register(own)
    ask = not_asked if servers is None else servers.ask
    for tool in spec.mcp.tools:
        registry.register(pinned_tool(tool, ask))
    folder = FolderOutbox(outbox, f"{spec.name}@localhost", spec.channels)
    sent_along = partial(store.file, origin=FileOrigin.REPLY)
    carriers: dict[str, SendingChannel] = {**sending_channels(channels)}
    carriers[HANDED_BACK] = HandBackOutbox()
    if chats is not None and chat_of(spec.channels) is not None:
        carriers[CHAT] = ChatOutbox(chats)
    routed = RoutedOutbox(carriers, folder, store.message, sent_along)
    registry.register(delivery_tool(routed))
    registry.register(draft_tool(routed))
    return registry


def mcp_servers(spec: DeskSpec) -> "McpServers | None":
    """The servers that bring tools; each is started when it is first needed."""
    if not spec.mcp.tools:
        return None
    from deskhand.adapters.mcp import McpServers, require_sdk

    require_sdk()
    return McpServers(spec.mcp)


async def described(
    servers: Mapping[str, McpServerSpec],
) -> dict[str, dict[str, Pin] | DeskhandError]:
    """What each server says of its tools now, or why it could not be asked."""
    if not servers:
        return {}
    from deskhand.adapters.mcp import McpServer, require_sdk

    require_sdk()
    descriptions: dict[str, dict[str, Pin] | DeskhandError] = {}
    for name, spec in servers.items():
        server = McpServer(spec, {})
        try:
            descriptions[name] = await server.describe()
        except DeskhandError as error:
            descriptions[name] = error
        finally:
            await server.close()
    return descriptions


def pin_changes(pins: Mapping[str, Pin], current: Mapping[str, Pin]) -> dict[str, str]:
    """What a server says differently from what was accepted, by tool."""
    from deskhand.adapters.mcp import changes

    return changes(pins, current)


def pin_objection(pin: Pin) -> str | None:
    """Why a tool should not be accepted as it is described."""
    from deskhand.adapters.mcp import unacceptable

    return unacceptable(pin)


def _built_in(spec: DeskSpec, store: DeskStore) -> tuple[Tool, ...]:
    per_run = spec.limits.replies_per_run
    web = spec.web_search
    if web is None:
        return built_in_tools(store.effects, per_run)
    from deskhand.adapters.web_search import SearxSearch

    return built_in_tools(
        store.effects, per_run, SearxSearch(web.url, web.timeout), web.limit, web.timeout
    )


def desk_terms(loaded: LoadedDesk, registry: ToolRegistry) -> Terms:
    """What the desk's gate goes by."""
    return terms_of(loaded.spec, registry, loaded.code.message_facts)
