"""Desks that send by themselves: what a desk.yaml does not say, they would leave to a person."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

from deskhand.wiring import SHIPPED, LoadedDesk

AUTO = "mode: auto\n"


def automatic(settings: str) -> str:
    """Lines of a desk.yaml with `mode: auto`, unless they name a mode or modes themselves."""
    if re.search(r"^modes?:", settings, re.MULTILINE):
        return settings
    return AUTO + settings


def automatic_copy(name: str, folder: Path) -> Path:
    """A shipped desk copied to a folder, in the mode `auto`; returns the folder."""
    shutil.copytree(SHIPPED / name, folder)
    file = folder / "desk.yaml"
    text = file.read_text(encoding="utf-8")
    assert "\nmode: draft " in text
    file.write_text(text.replace("\nmode: draft ", "\nmode: auto  "), encoding="utf-8")
    return folder


def automatic_desk(loaded: LoadedDesk) -> LoadedDesk:
    """The same desk in the mode `auto`."""
    return replace(loaded, spec=loaded.spec.model_copy(update={"mode": "auto"}))
