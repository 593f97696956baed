"""Google-style docstrings: what a tool does, and what each parameter means."""

import inspect
import re
from typing import NamedTuple

_SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Returns?|Raises|Yields?|Examples?|Notes?|Attributes):\s*$"
)
_ENTRY = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")


class Docstring(NamedTuple):
    description: str
    parameters: dict[str, str]


def read_docstring(text: str) -> Docstring:
    """Everything before the first section describes the tool; of the sections only the
    parameters are read."""
    description: list[str] = []
    arguments: list[str] = []
    section = ""
    for line in inspect.cleandoc(text).splitlines():
        if heading := _SECTION.match(line):
            section = heading.group(1)
        elif not section:
            description.append(line)
        elif section in ("Args", "Arguments", "Parameters"):
            arguments.append(line)
    return Docstring("\n".join(description).strip(), _entries(arguments))


def _entries(lines: list[str]) -> dict[str, str]:
    entries: dict[str, list[str]] = {}
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(indents, default=0)
    name = ""
    for line in lines:
        entry = _ENTRY.match(line[margin:])
        if entry and not line[margin:].startswith(" "):
            name = entry.group(1)
            entries[name] = [entry.group(2)]
        elif name:
            entries[name].append(line.strip())
    return {name: " ".join(filter(None, parts)) for name, parts in entries.items()}
