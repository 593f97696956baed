"""Policies: the desk's rules, and what the gate would say of a call that somebody makes up."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from deskhand.model.outcome import EffectClass
from deskhand.model.totals import Sums, is_money, shown
from deskhand.tools.call_trial import AssumedCall, TriedCall
from deskhand.tools.registry import Tool
from deskhand.web.api.access import ServedDesk

ARGUMENT = "argument."
"""Stands before the name of an argument in the form's fields."""
EFFECTS = {
    EffectClass.READ: "only reads",
    EffectClass.REVERSIBLE: "can be taken back",
    EffectClass.KEYED: "happens once",
    EffectClass.IRREVERSIBLE: "cannot be taken back",
}
_LONGEST = 500
_LONGEST_WORDS = 4000


async def policy_facts(desk: ServedDesk, params: Mapping[str, str]) -> dict[str, Any]:
    """The rules in their order, the caps, and the call that was tried."""
    spec = desk.spec.policy
    rules = () if spec is None else spec.rules
    tools = desk.trial.tools
    tool = next((each for each in tools if each.name == params.get("tool")), None)
    call = None if tool is None else _assumed(tool, params)
    trial = None
    if call is not None and params.get("judge"):
        trial = await desk.trial.judge(call)
    return {
        "rules": rules,
        "caps": await cap_rows(desk),
        "tools": tools,
        "effects": EFFECTS,
        "tool": tool,
        "fields": [] if tool is None else _fields(tool, params),
        "call": call,
        "trial": trial,
        "number": _number(rules, trial),
    }


async def cap_rows(desk: ServedDesk) -> list[dict[str, str | None]]:
    """Each cap in words; of those for the whole desk also how much of it was used today."""
    today = datetime.now(ZoneInfo(desk.spec.time_zone)).date().isoformat()
    sums = Sums.of(await desk.store.totals({"day": ("", today)}))
    rows: list[dict[str, str | None]] = []
    for cap in desk.spec.safeguards.caps:
        counted = sums.counted_by(cap)
        used = shown(counted) if is_money(cap.unit) else str(counted)
        rows.append({"words": str(cap), "used": used if cap.scope == "day" else None})
    return rows


def _assumed(tool: Tool, params: Mapping[str, str]) -> AssumedCall:
    properties = tool.parameters.get("properties") or {}
    arguments: dict[str, Any] = {}
    for name, schema in properties.items():
        written = params.get(f"{ARGUMENT}{name}", "").strip()[:_LONGEST]
        if written:
            arguments[name] = _value(written, schema)
    return AssumedCall(
        tool.name,
        arguments,
        customer=params.get("customer", "").strip()[:_LONGEST],
        words=params.get("words", "").strip()[:_LONGEST_WORDS],
        category=params.get("category", "").strip()[:100],
        language=params.get("language", "").strip()[:10],
    )


def _value(written: str, schema: Mapping[str, Any]) -> Any:
    """Text stays text; what else a tool takes is written as JSON. What cannot be read is left to
    the gate, which says so."""
    if schema.get("type") == "string":
        return written
    try:
        return json.loads(written)
    except ValueError:
        return written


def _fields(tool: Tool, params: Mapping[str, str]) -> list[dict[str, Any]]:
    """One field for each argument that a model fills in."""
    parameters = tool.parameters
    required = parameters.get("required") or ()
    fields: list[dict[str, Any]] = []
    for name, schema in (parameters.get("properties") or {}).items():
        fields.append(
            {
                "name": name,
                "field": f"{ARGUMENT}{name}",
                "hint": schema.get("description") or "",
                "choices": schema.get("enum") or (),
                "default": schema.get("default"),
                "is_required": name in required,
                "value": params.get(f"{ARGUMENT}{name}", "")[:_LONGEST],
            }
        )
    return fields


def _number(rules: Any, trial: TriedCall | None) -> int | None:
    """Which of the desk's rules decided, or let the call pass."""
    names = [rule.name for rule in rules]
    named = None if trial is None else trial.own_rule
    return names.index(named) + 1 if named in names else None
