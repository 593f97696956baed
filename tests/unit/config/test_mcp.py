"""`mcp` of desk.yaml: every mistake with its line and what to write; nothing offered that nobody
accepted."""

from pathlib import Path
from typing import Any

import pytest

from deskhand.config.desk import load_desk
from deskhand.config.sections.mcp import PINS, Pin, read_pins, write_pins
from deskhand.errors import ConfigErrors

BOOK = Pin.model_validate(
    {
        "description": "Book an article.",
        "schema": {
            "type": "object",
            "properties": {"article": {"type": "string"}, "key": {"type": "string"}},
        },
    }
)
DESK = """
desk: shop
flows: {work: {stages: {act: {tools: [TOOL]}}}}
mcp:
  servers: {SERVERS}
  tools: {TOOLS}
"""


def a_desk(
    folder: Path,
    servers: str = "{warehouse: {command: [python, server.py]}}",
    tools: str = "{warehouse.book: {effect: keyed, key: key, as: book_stock}}",
    tool: str = "book_stock",
    pins: dict[str, Pin] | None = None,
) -> Path:
    text = (
        DESK.replace("TOOLS", tools[1:-1]).replace("SERVERS", servers[1:-1]).replace("TOOL", tool)
    )
    (folder / "desk.yaml").write_text(text)
    write_pins(folder, {"warehouse.book": BOOK} if pins is None else pins)
    return folder


def test_a_tool_that_was_accepted_is_one_of_the_desks(tmp_path: Path) -> None:
    spec = load_desk(a_desk(tmp_path)).mcp
    [tool] = spec.tools
    assert (tool.server, tool.tool, tool.name, tool.effect) == (
        "warehouse",
        "book",
        "book_stock",
        "keyed",
    )
    assert list(tool.schema_shown["properties"]) == ["article"], "the key is not a model's to write"
    assert spec.servers["warehouse"].command == ("python", "server.py")


def test_done_once_without_a_key_cannot_be_taken_back(tmp_path: Path) -> None:
    [tool] = load_desk(
        a_desk(tmp_path, tools="{warehouse.book: {effect: keyed}}", tool="warehouse_book")
    ).mcp.tools
    assert (tool.name, tool.effect) == ("warehouse_book", "irreversible")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"pins": {}}, "nobody has accepted `warehouse.book`"),
        ({"servers": "{warehouse: {}}"}, "needs either a `command` or a `url`"),
        (
            {"servers": "{warehouse: {command: [x], url: 'http://x/mcp'}}"},
            "needs either a `command` or a `url`",
        ),
        ({"servers": "{warehouse: {command: [x], key_env: TOKEN}}"}, "has a key but no `url`"),
        ({"servers": "{warehouse: {url: 'http://x/mcp', env: [TOKEN]}}"}, "`env` has no effect"),
        ({"servers": "{warehouse: {url: 'http://x', key_env: A, key_file: b}}"}, "has two keys"),
        ({"servers": "{warehouse: {url: 'http://user:pw@x/mcp'}}"}, "`url` cannot be"),
        ({"servers": "{warehose: {command: [x]}}"}, "there is no server `warehouse`"),
        ({"tools": "{warehouse.book: {as: book_stock}}"}, "`effect` is missing"),
        (
            {"tools": "{warehouse.book: {effect: keyed, key: kee, as: book_stock}}"},
            "has no parameter `kee`",
        ),
        (
            {"tools": "{warehouse.book: {effect: read, key: key, as: book_stock}}"},
            "a key is for something done once",
        ),
        ({"tool": "book_stok"}, "there is no tool `book_stok`"),
    ],
)
def test_a_mistake_is_told(tmp_path: Path, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigErrors, match=words):
        load_desk(a_desk(tmp_path, **settings))


def test_no_two_tools_have_one_name(tmp_path: Path) -> None:
    tools = "{warehouse.book: {effect: keyed, key: key, as: refund}}"
    with pytest.raises(ConfigErrors, match="another tool of the desk is called `refund` as well"):
        load_desk(a_desk(tmp_path, tools=tools, tool="refund"), tools={"refund"})


def test_a_damaged_file_is_told_once(tmp_path: Path) -> None:
    a_desk(tmp_path)
    (tmp_path / PINS).write_text("[1")
    with pytest.raises(ConfigErrors, match=f"{PINS}: cannot be read"):
        load_desk(tmp_path)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    write_pins(tmp_path, {"warehouse.book": BOOK})
    assert read_pins(tmp_path)["warehouse.book"].digest == BOOK.digest
