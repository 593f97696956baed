"""What a user is told when a command cannot do its work."""

from typing import Any

from deskhand.cli.terminal import complain, print_json
from deskhand.errors import ConfigError, ConfigErrors, DeskhandError

NO, USAGE = 1, 2


def report_failure(error: Exception, *, as_json: bool) -> int | None:
    """Say what went wrong and return the exit code.

    None for a fault of our own: it deserves its traceback.
    """
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
    document: dict[str, Any] = {"code": str(error.code), "message": str(error)}
    if isinstance(error, ConfigError):
        problems = error.problems if isinstance(error, ConfigErrors) else [error]
        document["code"] = "configuration"
        document["problems"] = [problem_document(problem) for problem in problems]
    return document


def problem_document(problem: ConfigError) -> dict[str, Any]:
    """What is wrong, where, and what to do, as a JSON document."""
    return {
        "file": str(problem.file) if problem.file else None,
        "line": problem.line,
        "problem": problem.problem,
        "fix": problem.fix,
    }
