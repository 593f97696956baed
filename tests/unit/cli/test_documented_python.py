"""Every Python block of README.md, the tutorial and the guide runs as it stands.

A block that is a fragment names its setup in a comment on the line before:
`<!-- setup: NAME -->`, one of `tests/guide_setups.py`. No block is left out.
"""

import ast
import inspect
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.guide_setups import SETUPS, Names, prepared

ROOT = Path(__file__).parents[3]
PAGES = sorted(
    (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/guide").glob("*.md"))
)
_BLOCK = re.compile(
    r"^(?:<!-- setup: (?P<setup>\w+) -->\n)?```(?P<language>py\w*)[^\n]*\n(?P<code>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
_ANY_PYTHON = re.compile(r"^\s*(?:```|~~~)\s*(?:python|py)\b", re.MULTILINE | re.IGNORECASE)


class Block(NamedTuple):
    """A block as a page shows it."""

    place: str
    code: str
    setup: str | None


def blocks() -> list[Block]:
    shown: list[Block] = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in _BLOCK.finditer(text):
            line = text.count("\n", 0, match.start("code")) + 1
            place = f"{page.relative_to(ROOT)}:{line}"
            shown.append(Block(place, match["code"], match["setup"]))
    return shown


@pytest.mark.parametrize("block", blocks(), ids=lambda block: block.place)
async def test_every_python_block_runs(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: Names = {"__name__": "shown"}
    monkeypatch.setitem(sys.modules, "shown", type(sys)("shown"))
    async with prepared(block.setup, names):
        await run(block, names)


async def run(block: Block, names: Names) -> None:
    """Run the block; one that returns is the end of a function."""
    tree = ast.parse(block.code)
    returned = [node for node in tree.body if isinstance(node, ast.Return)]
    for node in returned:
        assert node.value is not None
        tree.body[tree.body.index(node)] = ast.copy_location(ast.Expr(node.value), node)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code = compile(tree, block.place, "exec", flags=flags)
    outcome = eval(code, names)
    if inspect.iscoroutine(outcome):
        await outcome


def test_no_python_block_is_overlooked() -> None:
    """However its fence is written."""
    counted = sum(len(_ANY_PYTHON.findall(page.read_text(encoding="utf-8"))) for page in PAGES)
    assert counted == len(blocks()) > 15


def test_every_setup_is_used() -> None:
    used = {block.setup for block in blocks()} - {None}
    assert used == set(SETUPS)
