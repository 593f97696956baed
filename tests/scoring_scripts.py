"""The scripts that say what is right, for tests that hold their figures."""

import importlib.util
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[1]


def script_named(name: str) -> Any:
    """A script that says what is right."""
    spec = importlib.util.spec_from_file_location(name, HOME / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script
