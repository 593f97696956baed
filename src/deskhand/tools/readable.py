"""What a tool returned or raised, as a result that can be stored and shown to a model."""

from typing import Any

from deskhand.model.codes import ErrorCode
from deskhand.model.results import ToolErrorDetails, ToolResult, normalize_tool_result

RESULT_LIMIT = 256 * 1024
"""Bytes of JSON a result may take."""

_TRACEBACK = "Traceback (most recent call last)"
_WORDS_LIMIT = 1000


def readable_result(value: Any) -> ToolResult:
    """Normalise, refuse what is too large, and keep tracebacks out of what is shown."""
    result = normalize_tool_result(value)
    size = len(result.model_dump_json().encode())
    if size > RESULT_LIMIT:
        message = (
            f"the result is too large: {size} bytes of JSON, at most {RESULT_LIMIT} are allowed;"
            " ask for less"
        )
        return ToolResult.failure(
            ToolErrorDetails(error_type=ErrorCode.TOOL_RESULT_INVALID, message=message)
        )
    if result.error is None:
        return result
    error = result.error.model_copy(update={"message": without_traceback(result.error.message)})
    return ToolResult.failure(error, result.message and without_traceback(result.message))


def readable_failure(error: BaseException) -> ToolResult:
    return readable_result(error)


def without_traceback(text: str) -> str:
    """What was said before a traceback, else the traceback's last line, which names the error."""
    if _TRACEBACK in text:
        before = text.partition(_TRACEBACK)[0].strip()
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        text = before or lines[-1]
    return text if len(text) <= _WORDS_LIMIT else text[: _WORDS_LIMIT - 3] + "..."
