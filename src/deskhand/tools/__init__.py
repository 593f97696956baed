"""Tools and the gate: what a model may ask for, and the only way it can happen."""

from deskhand.tools.authority import (
    Authority,
    Customer,
    CustomerId,
    Owned,
    OwnedOrder,
    SenderAddress,
    Slot,
    resolver,
)
from deskhand.tools.context import Context
from deskhand.tools.desk_code import DeskCode, load_tools
from deskhand.tools.gate import Gate
from deskhand.tools.gate_call import GateAnswer, Ruling, Terms
from deskhand.tools.registry import Tool, ToolRegistry, tool, tool_probe
from deskhand.tools.schema import parse_arguments
from deskhand.tools.services import ServiceResult, after, before, service

__all__ = [
    "Authority",
    "Context",
    "Customer",
    "CustomerId",
    "DeskCode",
    "Gate",
    "GateAnswer",
    "Owned",
    "OwnedOrder",
    "Ruling",
    "SenderAddress",
    "ServiceResult",
    "Slot",
    "Terms",
    "Tool",
    "ToolRegistry",
    "after",
    "before",
    "load_tools",
    "parse_arguments",
    "resolver",
    "service",
    "tool",
    "tool_probe",
]
