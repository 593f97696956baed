"""What a user is told when a command cannot do its work."""

from typing import Any

from deskhand.cli.terminal import complain, print_json
from deskhand.errors import ConfigError, ConfigErrors, DeskhandError

NO, USAGE = 1, 2


def report_failure(error: Exception, *, as_json: bool) -> int | None:
    """Say what went wrong and return the exit code; None for a fault of ours, which deserves its
    traceback."""
    if isinstance(error, DeskhandError):
        complain(str(error))
        if as_json:
            print_json({"error": _document(error)})
        return USAGE if isinstance(error, ConfigError) else NO
    if isinstance(error, OSError):
        words = error.strerror or str(error)
        complain(f"{error.filename}: {words}" if error.filename else words)
        if as_json:
            print_json({"error": {"code": "system", "message": words}})
        return NO
    return None


def _document(error: DeskhandError) -> dict[str, Any]:
    told: dict[str, Any] = {"code": str(error.code), "message": str(error)}
    if isinstance(error, ConfigError):
        problems = error.problems if isinstance(error, ConfigErrors) else [error]
        told["code"] = "configuration"
        told["problems"] = [
            {
                "file": str(one.file) if one.file else None,
                "line": one.line,
                "problem": one.problem,
                "fix": one.fix,
            }
            for one in problems
        ]
    return told
