"""Request bodies in the OpenAPI document: we read them ourselves, so FastAPI does not know them."""

from typing import Any

from pydantic import BaseModel


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """What `openapi_extra` wants for a route that takes this model as JSON."""
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})
    content = {"application/json": {"schema": _inlined(schema, definitions)}}
    return {"requestBody": {"required": True, "content": content}}


def _inlined(part: Any, definitions: dict[str, Any]) -> Any:
    """References inside one schema point nowhere once it is part of a larger document."""
    if isinstance(part, list):
        return [_inlined(one, definitions) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _inlined(definitions[part["$ref"].rsplit("/", 1)[-1]], definitions)
    return {key: _inlined(value, definitions) for key, value in part.items()}
