"""What a planned call is made with: what earlier calls found, and what the customer said."""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.config.sections.plans import REFERENCE, RESULTS
from deskhand.model.understanding import SLOTS


def filled_from(
    results: Sequence[Mapping[str, Any]],
    parameters: Mapping[str, Any],
    slots: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:
    """The parameters with every lone `{results.TOOL.FIELD}` and `{slots.NAME}` replaced; None
    where one leads to nothing.

    It only ever brings what this run's own calls returned and what the customer said; the gate
    judges the call with it like any other.
    """
    filled: dict[str, Any] = {}
    for name, value in parameters.items():
        reference = REFERENCE.fullmatch(value) if isinstance(value, str) else None
        root, *path = ("",) if reference is None else reference[1].split(".")
        if root in (RESULTS, SLOTS):
            value = _value_at(results, path) if root == RESULTS else (slots or {}).get(path[0])
            if value is None:
                return None
        filled[name] = value
    return filled


def _value_at(results: Sequence[Mapping[str, Any]], path: Sequence[str]) -> Any:
    """A text or number in the newest successful result of a tool; None where there is none."""
    tool, *fields = path
    made = [
        result
        for result in results
        if result.get("tool") == tool and result.get("status") == "success"
    ]
    here: Any = made[-1].get("data") if made and fields else None
    for name in fields:
        here = here.get(name) if isinstance(here, Mapping) else None
    return here if isinstance(here, str | int | float) else None
