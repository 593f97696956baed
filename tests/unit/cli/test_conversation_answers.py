"""Colleagues in chats from the command line: `deskhand conversations lines`, `answer`, `take-over`
and `give-back`."""

import asyncio
from pathlib import Path

import pytest

from deskhand.wiring import chats_of, open_database
from tests.cli_kit import Cli

DATABASE = "chats.db"


@pytest.fixture
def chat(cli: Cli, tmp_path: Path) -> str:
    """A chat in which a visitor asks for a person."""
    message = tmp_path / "said.json"

    async def say() -> str:
        async with open_database(str(tmp_path / DATABASE)) as database:
            chats = chats_of(database, "orders")
            opened = await chats.open("a" * 43, None, "192.0.2.1")
            await chats.say(opened.id, f"{opened.id}/1", "visitor", "Is \x1b[31manybody there?")
            return opened.id

    opened = asyncio.run(say())
    message.write_text(
        f'{{"channel": "chat", "from": "{opened}", "conversation": "{opened}", "id": "{opened}/1",'
        ' "body": "a human please"}'
    )
    done = cli("run", str(message), "--desk", "orders", "--live", "--database", tmp_path / DATABASE)
    assert done.code == 1, done.err  # a person is asked
    return opened


def test_a_colleague_answers_and_gives_back(cli: Cli, chat: str, tmp_path: Path) -> None:
    where = ("--database", str(tmp_path / DATABASE))
    [line] = cli("conversations", "lines", chat, "--json", *where).json["lines"]
    assert (line["author"], line["number"]) == ("visitor", 1)
    assert "\x1b" not in cli("conversations", "lines", chat, *where).out
    assert cli("conversations", "take-over", chat, "--by", "ida", *where).code == 0
    for words in ("Good morning.", "What can I do for you?"):
        said = cli("conversations", "answer", chat, words, "--name", "Ida", "--by", "ida", *where)
        assert (said.code, "give-back" in said.out) == (0, True)
    lines = cli("conversations", "lines", chat, "--json", *where).json["lines"]
    people = [(line["name"], line["text"]) for line in lines if line["author"] == "person"]
    assert people == [("Ida", "Good morning."), ("Ida", "What can I do for you?")]
    assert cli("conversations", "give-back", chat, *where).code == 0
    assert cli("conversations", "give-back", chat, *where).code == 1
    assert cli("conversations", "answer", "chat_nobody", "Hello?", *where).code != 0
