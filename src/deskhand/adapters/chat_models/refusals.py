"""What models have refused in this process: parameters, and schemas for a while."""

import json
import logging
import re
from collections.abc import Mapping
from typing import Any

from deskhand.adapters.chat_models.endpoints import ModelEndpoint
from deskhand.adapters.chat_models.faults import Fault
from deskhand.adapters.chat_models.providers import JsonMode
from deskhand.adapters.chat_models.wire import Json
from deskhand.ports import Clock

log = logging.getLogger("deskhand.models")

SCHEMA_REST = 3600.0
"""Seconds after which a schema that was refused is tried again."""

_ESSENTIAL = frozenset(
    (
        "model",
        "messages",
        "input",
        "instructions",
        "system",
        "tools",
        "stream",
        "store",
        "text",
        "response_format",
        "format",
    )
)
"""Fields that a request is not made without."""
_OTHER_NAME = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
_COMPLAINT = re.compile(
    r"unsupported|not supported|(does|do) not support|unknown|unrecognized|unrecognised|unexpected"
    r"|extra inputs|extra_forbidden|extra fields|not permitted|not allowed|deprecated|cannot find"
    r" field|cannot both be specified|must not be|may only be set|is unavailable"
)
_PLAINER: dict[JsonMode, JsonMode] = {"json_schema": "json_object", "json_object": "none"}


class Refusals:
    """Remembers by model, so that what was refused once is not asked again and again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._dropped: dict[str, dict[str, str | None]] = {}
        """Parameters by model, each with the name to send it by instead, if there is one."""
        self._schemas: dict[str, dict[str, tuple[JsonMode, float]]] = {}
        """By model and schema, how it was asked for in the end, and until when."""

    def json_mode(self, endpoint: ModelEndpoint, schema: Mapping[str, Any] | None) -> JsonMode:
        """How far the model is held to this schema."""
        refused = self._schemas.get(endpoint.name)
        if schema is None or not refused:
            return endpoint.provider.json_mode
        mode, until = refused.get(_written(schema), (endpoint.provider.json_mode, 0.0))
        return mode if self._clock.now() < until else endpoint.provider.json_mode

    def refuse_schema(
        self, endpoint: ModelEndpoint, schema: Mapping[str, Any], mode: JsonMode, fault: Fault
    ) -> JsonMode:
        """Note that this schema was refused in this mode, and return the next plainer one."""
        plainer = _PLAINER[mode]
        refused = self._schemas.setdefault(endpoint.name, {})
        if _written(schema) not in refused:
            log.warning("%s is asked without the schema it refused: %s", endpoint.name, fault.error)
        refused[_written(schema)] = (plainer, self._clock.now() + SCHEMA_REST)
        return plainer

    def refuse_parameter(self, endpoint: ModelEndpoint, fault: Fault, body: Json) -> bool:
        """Note which parameter the fault is about; returns False where it is about none."""
        name = _parameter_in(fault.complaint, body)
        if name is None:
            return False
        dropped = self._dropped.setdefault(endpoint.name, {})
        other = _OTHER_NAME.get(name, "")
        is_proposed = bool(other) and other in fault.complaint and other not in dropped
        instead = other if is_proposed else None
        dropped[name] = instead
        log.warning(
            "%s does not take %r; it is asked %s from now on: %s",
            endpoint.name,
            name,
            f"with {instead!r}" if instead else "without",
            fault.error,
        )
        return True

    def without_refused(self, endpoint: ModelEndpoint, body: Json) -> Json:
        """The request without the parameters that the model does not take."""
        dropped = self._dropped.get(endpoint.name)
        if not dropped:
            return body
        kept: Json = {}
        for name, value in body.items():
            new_name = dropped.get(name, name)
            if new_name is not None:
                kept[new_name] = value
        return kept


def _parameter_in(complaint: str, body: Json) -> str | None:
    """The parameter of the request that a complaint names, if it complains of one."""
    if not _COMPLAINT.search(complaint):
        return None
    own = [name for name in body if name not in _ESSENTIAL]
    for name in own:
        if f'"param": "{name}' in complaint:
            return name
    for name in own:
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", complaint):
            return name
    return None


def _written(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, sort_keys=True)
