"""What a planned call takes from the calls before it."""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.config.sections.plans import REFERENCE, RESULTS


def filled_from(
    results: Sequence[Mapping[str, Any]], parameters: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The parameters with every `{results.TOOL.FIELD}` replaced that stands alone; None where one
    leads to nothing.

    It only ever brings what this run's own calls returned; the gate judges the call with it like
    any other.
    """
    filled: dict[str, Any] = {}
    for name, value in parameters.items():
        reference = REFERENCE.fullmatch(value) if isinstance(value, str) else None
        root, *path = reference[1].split(".") if reference is not None else ("",)
        if root != RESULTS:
            filled[name] = value
            continue
        found = _found(results, path)
        if found is None:
            return None
        filled[name] = found
    return filled


def _found(results: Sequence[Mapping[str, Any]], path: Sequence[str]) -> Any:
    tool, *fields = path
    made = [one for one in results if one.get("tool") == tool and one.get("status") == "success"]
    here: Any = made[-1].get("data") if made and fields else None
    for field in fields:
        here = here.get(field) if isinstance(here, Mapping) else None
    return here if isinstance(here, str | int | float) else None
