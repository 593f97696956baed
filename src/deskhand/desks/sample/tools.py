"""What the sample desk can do: a typed function with a docstring is all there is to write."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from deskhand import Context, Envelope, StageContext, ToolError, service, tool

PARCELS = json.loads((Path(__file__).parent / "parcels.json").read_text(encoding="utf-8"))


@service("order_number")
async def order_number(
    envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The parcel's number, if the customer wrote one."""
    subject = envelope.message.subject if envelope.message else ""
    number = re.search(r"\bP-\d{4}\b", f"{subject}\n{envelope.raw_input}", re.IGNORECASE)
    return {"number": number[0].upper()} if number else {}


# public: whoever has the number may know where the parcel is
@tool(effect="read", public=True)
async def find_order(order: str) -> dict[str, Any]:
    """Look up where a parcel is.

    Args:
        order: the parcel's number, as in P-1001
    """
    if order not in PARCELS:
        raise ToolError("not_found", f"There is no parcel {order}.")
    return {"order": order, **PARCELS[order]}


# public: whoever has the number may; money comes only with the parcel
@tool(effect="keyed", risk="medium", public=True)
def open_return(
    order: str, reason: Literal["damaged", "wrong_item", "unwanted"], ctx: Context
) -> dict[str, Any]:
    """Open a return for a parcel.

    Args:
        order: the parcel's number, as in P-1001
        reason: why it comes back
    """
    folder = Path(os.environ.get("SAMPLE_RETURNS", "returns"))
    folder.mkdir(parents=True, exist_ok=True)
    # the same key after a crash: the same file, one return
    note = folder / f"{ctx.effect_key}.json"
    note.write_text(json.dumps({"order": order, "reason": reason}), encoding="utf-8")
    return {"order": order, "return": ctx.effect_key}
