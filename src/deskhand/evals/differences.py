"""Where two mappings of facts differ, as pairs to be shown side by side."""

from collections.abc import Mapping
from typing import Any

from deskhand.engine.story import Document


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Document]:
    """One entry a fact that differs, in the order of the facts."""
    return [
        {"what": name, "before": before.get(name), "now": after.get(name)}
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]
