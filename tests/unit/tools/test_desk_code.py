import sys
from pathlib import Path

import pytest

from deskhand.errors import ConfigError
from deskhand.model.envelope import Envelope
from deskhand.tools import ServiceResult, load_tools
from tests.memory_ledger import FixedContext

DESK = '''
from __future__ import annotations
from dataclasses import dataclass
from deskhand.tools import Context, ServiceResult, after, before, service, tool

@dataclass
class Size:
    width: int

@tool(effect="read")
async def measure(size: Size, ctx: Context) -> dict:
    """Measure."""
    return {"width": size.width}

@service("greet")
async def greet(envelope, ctx, settings):
    return ServiceResult(output={"text": settings["hello"] + envelope.raw_input})

@before("greet")
def shout(envelope):
    return envelope.model_copy(update={"raw_input": envelope.raw_input.upper()})

@after("greet")
async def note(envelope, output):
    return envelope.with_metadata(noted=output["text"])
'''


def write(folder: Path, text: str) -> Path:
    path = folder / "tools.py"
    path.write_text(text)
    return path


async def test_a_desk_brings_tools_services_and_hooks(tmp_path: Path) -> None:
    code = load_tools(write(tmp_path, DESK))
    assert [tool.name for tool in code.tools] == ["measure"]
    assert code.tools[0].parameters["properties"]["size"]["properties"] == {
        "width": {"type": "integer"}
    }
    envelope = code.before["greet"](Envelope(raw_input="ann"))
    assert isinstance(envelope, Envelope)
    result = await code.services["greet"](envelope, FixedContext(), {"hello": "hi "})
    assert result == ServiceResult(output={"text": "hi ANN"})
    noted = code.after["greet"](envelope, {"text": "x"})
    assert not isinstance(noted, Envelope)
    assert (await noted).metadata == {"noted": "x"}


def test_a_desk_may_have_modules_beside_tools_py_and_shares_them_with_nobody(
    tmp_path: Path,
) -> None:
    codes = []
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "words.py").write_text(f"HELLO = {name!r}\n")
        tools = "from deskhand import tool\nfrom .words import HELLO\n\n"
        tools += (
            '@tool(effect=\'read\', name=HELLO)\ndef greet() -> str:\n    """Greet."""\n    return'
            " HELLO\n"
        )
        codes.append(load_tools(write(folder, tools)))
    assert [code.tools[0].name for code in codes] == ["one", "other"]


def test_two_desks_do_not_share_a_namespace(tmp_path: Path) -> None:
    path = write(tmp_path, DESK)
    first, second = load_tools(path), load_tools(path)
    assert first.tools[0] is not second.tools[0]


def test_an_empty_file_brings_nothing(tmp_path: Path) -> None:
    code = load_tools(write(tmp_path, ""))
    assert (code.tools, code.services, code.before, code.after) == ((), {}, {}, {})


def test_an_imported_tool_counts_and_is_counted_once(tmp_path: Path) -> None:
    text = "from tests.unit.tools.desk_library import shared_tool\nsame = shared_tool\n"
    for _ in range(2):
        assert [tool.name for tool in load_tools(write(tmp_path, text)).tools] == ["shared_tool"]


TOOL = '@tool(effect="read")\ndef look() -> None:\n    """Look."""\n\n'
SERVICE = '@service("greet")\nasync def greet(envelope, ctx, settings): ...\n\n'
HOOK = '@before("greet")\ndef hook(envelope): ...\n\n'
IMPORTS = "from deskhand.tools import before, service, tool\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = 1\ny = 1 / 0\n", 2, "ZeroDivisionError: division by zero"),
        ("def f():\n    raise KeyError('a')\n\nf()\n", 2, "KeyError: 'a'"),
        ("import nowhere_at_all\n", 1, "No module named"),
        ("x = (\n", 1, "not Python"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit: 3"),
        ("\nopen('/nowhere/at/all')\n", 2, "FileNotFoundError"),
        (IMPORTS + '@tool(effect="read")\ndef look(): ...\n', 2, "no docstring"),
        (IMPORTS + TOOL + TOOL, 6, "there is a tool 'look' already"),
        (IMPORTS + SERVICE + SERVICE, 5, "there is a service 'greet' already"),
        (IMPORTS + HOOK + HOOK, 5, "there is a hook before 'greet' already"),
        (
            IMPORTS + '@service("greet")\ndef greet(envelope, ctx, settings): ...\n',
            2,
            "must be an async function",
        ),
        (IMPORTS + '@service("greet")\nasync def greet(envelope): ...\n', 2, "takes 3 argument"),
        (IMPORTS + '@before("greet")\ndef hook(): ...\n', 2, "takes 1 argument"),
    ],
)
def test_a_mistake_names_file_and_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = write(tmp_path, text)
    modules = set(sys.modules)
    with pytest.raises(ConfigError) as caught:
        load_tools(path)
    assert (str(caught.value.file), caught.value.line) == (str(path), line)
    assert words in str(caught.value)
    assert not [name for name in set(sys.modules) - modules if name.startswith("deskhand_desk")]


def test_a_missing_file_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_tools(tmp_path / "tools.py")
