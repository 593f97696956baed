"""An effect runs on what was read exactly or confirmed; what was mended or guessed at waits."""

from typing import Any

from deskhand.model.message import OWN_TOOLS
from deskhand.model.value_readings import Reading
from deskhand.tools.gate_call import GateCall, Ruling, Terms, hold

UNSURE_READING = "unsure_reading"
_CERTAIN: frozenset[Reading] = frozenset(("exact", "confirmed"))
UNSURE: frozenset[Reading] = frozenset(("corrected", "guessed"))
"""Readings that only the customer can settle."""
_SAY = "Nobody has confirmed what is meant. Ask the customer first."


def unsure_reading(call: GateCall, terms: Terms) -> Ruling | None:
    """Of arguments whose reading a stage declared. A default counts where the tool itself has it:
    then the tool's author says what is done where the customer leaves it open."""
    tool = call.admitted_tool
    if not tool.changes_something or call.name in OWN_TOOLS:
        return None  # a reply may say what was understood: so the customer is asked
    doubtful = [
        f"{name} ({reading}: {call.canonical[name]!r})"
        for name, reading in call.said_to_be_read.items()
        if reading not in _CERTAIN and not _is_own_default(call, name, reading)
    ]
    if not doubtful:
        return None
    reason = f"{tool.name} would act on what nobody has confirmed: {', '.join(doubtful)}"
    return hold(UNSURE_READING, reason, _SAY)


def _is_own_default(call: GateCall, name: str, reading: Reading) -> bool:
    if reading != "default":
        return False
    properties: Any = call.admitted_tool.signature.schema.get("properties", {})
    schema = properties.get(name)
    return (
        isinstance(schema, dict)
        and "default" in schema
        and schema["default"] == call.canonical[name]
    )
