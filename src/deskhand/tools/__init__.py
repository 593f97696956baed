"""Tools and the gate: what a model may ask for, and the only way it can happen."""

from typing import TYPE_CHECKING, Any

from deskhand.lazy_names import LazyNames

if TYPE_CHECKING:
    from deskhand.tools.authority import Authority as Authority
    from deskhand.tools.authority import Customer as Customer
    from deskhand.tools.authority import CustomerId as CustomerId
    from deskhand.tools.authority import Owned as Owned
    from deskhand.tools.authority import OwnedOrder as OwnedOrder
    from deskhand.tools.authority import SenderAddress as SenderAddress
    from deskhand.tools.authority import Slot as Slot
    from deskhand.tools.authority import resolver as resolver
    from deskhand.tools.context import Context as Context
    from deskhand.tools.desk_code import DeskCode as DeskCode
    from deskhand.tools.desk_code import load_tools as load_tools
    from deskhand.tools.gate import Gate as Gate
    from deskhand.tools.gate_call import GateAnswer as GateAnswer
    from deskhand.tools.gate_call import Ruling as Ruling
    from deskhand.tools.gate_call import Terms as Terms
    from deskhand.tools.registry import Tool as Tool
    from deskhand.tools.registry import ToolRegistry as ToolRegistry
    from deskhand.tools.registry import tool as tool
    from deskhand.tools.registry import tool_probe as tool_probe
    from deskhand.tools.schema import parse_arguments as parse_arguments
    from deskhand.tools.services import ServiceResult as ServiceResult
    from deskhand.tools.services import after as after
    from deskhand.tools.services import before as before
    from deskhand.tools.services import service as service

_MODULES = {
    "authority": (
        "Authority",
        "Customer",
        "CustomerId",
        "Owned",
        "OwnedOrder",
        "SenderAddress",
        "Slot",
        "resolver",
    ),
    "context": ("Context",),
    "desk_code": (
        "DeskCode",
        "load_tools",
    ),
    "gate": ("Gate",),
    "gate_call": (
        "GateAnswer",
        "Ruling",
        "Terms",
    ),
    "registry": (
        "Tool",
        "ToolRegistry",
        "tool",
        "tool_probe",
    ),
    "schema": ("parse_arguments",),
    "services": (
        "ServiceResult",
        "after",
        "before",
        "service",
    ),
}
_NAMES = LazyNames(globals(), _MODULES)

__all__ = _NAMES.names


def __getattr__(name: str) -> Any:
    return _NAMES.find(name)


def __dir__() -> list[str]:
    return _NAMES.all_names()
