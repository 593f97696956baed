"""What tests of the command line share: running a command in this process, and small desks on
disk."""

import json
import shutil
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SAMPLES = Path(__file__).parent.parent / "src" / "deskhand" / "desks" / "sample" / "samples"


@dataclass(frozen=True)
class Said:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Stdout as the one JSON document it must be."""
        return json.loads(self.out)


Cli = Callable[..., Said]
Begin = Callable[[Callable[[], Any]], Any]
"""Does the work that a test begins with, once for all of them."""


@dataclass(frozen=True)
class Left:
    """A copy of the folder that some work was done in, and what the work returned."""

    folder: Path
    told: Any


_left: dict[str, Left] = {}


def done_once(
    name: str, work: Callable[[], Any], folder: Path, keep: pytest.TempPathFactory
) -> Any:
    """What the work returns; in the folder lies what it left there.

    It is done once in a process. Whoever asks for it again gets copies: tests that look at a
    worked desk need not have it worked anew for each.
    """
    if name in _left:
        shutil.copytree(_left[name].folder, folder, dirs_exist_ok=True)
    else:
        told = work()
        kept = keep.mktemp("left") / "folder"
        shutil.copytree(folder, kept)
        _left[name] = Left(kept, told)
    return deepcopy(_left[name].told)


def write_desk(folder: Path, desk: str, rules: str, tools: str = "") -> Path:
    folder.mkdir(parents=True)
    (folder / "desk.yaml").write_text(desk, encoding="utf-8")
    (folder / "brain.yaml").write_text(rules, encoding="utf-8")
    if tools:
        (folder / "tools.py").write_text(tools, encoding="utf-8")
    return folder


def write_message(path: Path, **fields: Any) -> Path:
    message: Mapping[str, Any] = {
        "from": "ann@example.com",
        "subject": "Hello",
        "body": "Hello",
        **fields,
    }
    path.write_text(json.dumps(message), encoding="utf-8")
    return path


TOOL_DESK = """
desk: tooled
brain: {scripted: brain.yaml}
flows:
  main:
    stages:
      decide: {task: decide, output: plan, next: act}
      act: {tools: [give_money]}
"""
TOOL_RULES = """
rules:
  - when: {stage: decide, contains: [forbidden]}
    answer: {steps: [{tool: burn_down, parameters: {}}]}
  - when: {stage: decide}
    answer: {steps: [{tool: give_money, parameters: {amount: 5}}]}
"""
TOOL_CODE = '''
from deskhand import tool


@tool(effect="irreversible", risk="high")
async def give_money(amount: int) -> dict:
    """Give money away."""
    return {"given": amount}
'''
BROKEN_DESK = """
desk: failing
brain: {scripted: brain.yaml}
flows:
  main:
    stages:
      classify: {task: classify, categories: [a, b], attempts: 1}
"""
BROKEN_RULES = """
rules:
  - when: {contains: [a word that nobody writes]}
    answer: {category: a, confidence: 1}
"""
