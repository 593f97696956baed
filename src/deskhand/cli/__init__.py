"""The command line. Commands answer on stdout, everything else goes to stderr; exit 0 done, 1
no, 2 wrong usage."""

import atexit
import gc
import os
import sys
from collections.abc import Sequence

_OBJECTS_BETWEEN_COLLECTIONS = 200_000
"""Starting makes a hundred thousand objects that stay: looking through them for garbage every 700
objects, as Python does by itself, is a tenth of the time. `serve` and `worker`, which live on, look
more often (`service_process.py`)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; a user's mistake is words, never a traceback."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, 20, 50)
    # Else pydantic reads what every installed package offers, in search of plugins for itself.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    if arguments is None:
        # The process ends with the command: else Python looks through all objects once more.
        atexit.register(gc.freeze)
    given = list(sys.argv[1:] if arguments is None else arguments)
    from deskhand.cli.app import command_line

    try:
        command_line(given)(args=given, prog_name="deskhand")
    except SystemExit as over:
        return over.code if isinstance(over.code, int) else int(over.code is not None)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        from deskhand.cli.failures import report_failure

        code = report_failure(error, as_json="--json" in given)
        if code is None:
            raise
        return code
    return 0
