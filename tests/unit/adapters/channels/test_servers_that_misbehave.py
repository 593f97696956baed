"""Mail servers that refuse, hang up or talk nonsense: said in words, without a secret, and never
taken for success."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.channels.imap import Imap, ImapRefused
from deskhand.adapters.channels.imap_client import ImapProtocolError
from deskhand.adapters.channels.mail_connection import MailLoginRefused, ServerUnavailable
from deskhand.adapters.channels.smtp import submit
from deskhand.config.sections.channels import Login, Security, ServerSpec
from deskhand.errors import ConfigError, ToolError

SECRET = "open sesame"
Lines = list[str]


@asynccontextmanager
async def server(*said: str) -> AsyncIterator[tuple[int, Lines]]:
    """Says these lines one after the other, each but the first after a line it was told; `!`
    hangs up."""
    heard: Lines = []
    talks: list[asyncio.Task[Any]] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (this_talk := asyncio.current_task()) is not None:
            talks.append(this_talk)
        for number, line in enumerate(said):
            if number:
                heard.append((await reader.readline()).decode().strip())
            if line == "!":
                break
            writer.write(
                line.replace("TAG", heard[-1].split()[0] if heard else "").encode() + b"\r\n"
            )
            await writer.drain()
        writer.close()

    listening = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield listening.sockets[0].getsockname()[1], heard
    finally:
        listening.close()
        await asyncio.gather(*talks, return_exceptions=True)


def spec(port: int, folder: Path, security: Security = "none") -> ServerSpec:
    (folder / "secret").write_text(SECRET)
    login = Login(user="support@acme.test", password_file=folder / "secret")
    return ServerSpec(host="127.0.0.1", port=port, security=security, ca_file=None, login=login)


GREETING, CAPABILITIES = "* OK hello", "* CAPABILITY IMAP4rev1\r\nTAG OK done"


@pytest.mark.parametrize(
    ("said", "error", "words"),
    [
        (["!"], ServerUnavailable, "hung up"),
        (["* BYE too busy"], ServerUnavailable, "too busy"),
        (["what?"], ServerUnavailable, "what"),
        ([GREETING, "* BYE later"], ServerUnavailable, "later"),
        (
            [GREETING, CAPABILITIES, "TAG NO wrong"],
            MailLoginRefused,
            "does not let support@acme.test in",
        ),
        (
            [GREETING, "* CAPABILITY IMAP4rev1 LOGINDISABLED\r\nTAG OK done"],
            MailLoginRefused,
            "starttls",
        ),
        ([GREETING, "* (((\r\nTAG OK"], ServerUnavailable, "unexpected"),
        ([GREETING, "* X {999999999999}"], ImapProtocolError, "at once"),
    ],
)
async def test_a_mailbox_that_cannot_be_opened_says_why(
    tmp_path: Path, said: list[str], error: type[Exception], words: str
) -> None:
    async with server(*said) as (port, _):
        with pytest.raises(error, match=words) as raised:
            await Imap.connect(spec(port, tmp_path))
    assert SECRET not in str(raised.value)


async def test_a_line_break_in_an_argument_never_becomes_a_command(tmp_path: Path) -> None:
    async with server(GREETING, CAPABILITIES, "TAG OK in", CAPABILITIES, "* NO") as (port, heard):
        imap = await Imap.connect(spec(port, tmp_path))
        with pytest.raises(ValueError, match="line break"):
            await imap.search("ALL\r\nx LOGOUT")
        await imap.close()
    assert not any("LOGOUT" in line for line in heard)


async def test_an_answer_of_no_is_told(tmp_path: Path) -> None:
    async with server(GREETING, CAPABILITIES, "TAG OK in", CAPABILITIES, "TAG NO [X] gone") as (
        port,
        _,
    ):
        imap = await Imap.connect(spec(port, tmp_path))
        with pytest.raises(ImapRefused, match="SELECT was refused: NO \\[X\\] gone"):
            await imap.select("Nowhere")
        await imap.close()


async def test_a_folder_without_numbers_cannot_be_read(tmp_path: Path) -> None:
    async with server(
        GREETING, CAPABILITIES, "TAG OK in", CAPABILITIES, "* 3 EXISTS\r\nTAG OK"
    ) as (port, _):
        imap = await Imap.connect(spec(port, tmp_path))
        with pytest.raises(ImapProtocolError, match="UIDVALIDITY"):
            await imap.select("INBOX")
        await imap.close()


async def test_a_missing_secret_says_which_file(tmp_path: Path) -> None:
    async with server(GREETING, CAPABILITIES) as (port, _):
        wanted = spec(port, tmp_path)
        (tmp_path / "secret").unlink()
        with pytest.raises(ConfigError, match="secret: the secret cannot be read"):
            await Imap.connect(wanted)


# --- SMTP: did it leave?

HELLO, IN = "220 hello", ["250-x\r\n250 AUTH PLAIN", "235 in"]


async def must_not_be_noted() -> None:
    raise AssertionError("it was noted as leaving before its last line was due")


async def sent(tmp_path: Path, *said: str, to: str = "ann@example.test") -> Lines:
    async with server(HELLO, *IN, *said) as (port, heard):
        await submit(
            spec(port, tmp_path),
            None,
            "support@acme.test",
            [to],
            None,
            b"Subject: x\r\n\r\nx\r\n",
            must_not_be_noted,
        )
        return heard


def failing(
    words: str, kind: type[Exception] = ToolError
) -> Callable[[Coroutine[Any, Any, Lines]], Any]:
    async def check(work: Coroutine[Any, Any, Lines]) -> Exception:
        with pytest.raises(kind, match=words) as raised:
            await work
        assert SECRET not in str(raised.value)
        return raised.value

    return check


@pytest.mark.parametrize(
    ("said", "words", "recoverable"),
    [
        (["550 no"], "550 no", False),
        (["450 later"], "450 later", True),
        (["250 ok", "550 no such user"], "no such user", False),
        (["250 ok", "452 full"], "full", True),
        (["250 ok", "250 ok", "554 never"], "never", False),
        (["250 ok", "250 ok", "!"], "hung up", True),
        (["!"], "hung up", True),
        (["hello?"], "the server says", True),
    ],
)
async def test_until_the_last_line_a_fault_means_it_did_not_leave(
    tmp_path: Path, said: list[str], words: str, recoverable: bool
) -> None:
    error = await failing(words)(sent(tmp_path, *said))
    assert isinstance(error, ToolError)
    assert error.recoverable is recoverable


async def test_a_line_that_breaks_after_the_last_line_leaves_it_open(tmp_path: Path) -> None:
    noted: list[str] = []

    async def note() -> None:
        noted.append("leaving")

    async with server(HELLO, *IN, "250 ok", "250 ok", "354 go", "", "", "", "!") as (port, _):
        with pytest.raises(ConnectionError, match="after it had been given the mail"):
            await submit(
                spec(port, tmp_path),
                None,
                "a@b.c",
                ["ann@example.test"],
                None,
                b"Subject: x\r\n\r\nx\r\n",
                note,
            )
    assert noted == ["leaving"]


async def test_what_cannot_be_noted_is_not_sent(tmp_path: Path) -> None:
    async def note() -> None:
        raise ToolError("not_noted", "the database is away")

    async with server(HELLO, *IN, "250 ok", "250 ok", "354 go", "", "", "", "") as (port, heard):
        with pytest.raises(ToolError, match="the database is away"):
            await submit(
                spec(port, tmp_path),
                None,
                "a@b.c",
                ["ann@example.test"],
                None,
                b"Subject: x\r\n\r\nx\r\n",
                note,
            )
    assert "." not in heard


@pytest.mark.parametrize(
    "to", ["ann@example.test>\r\nRCPT TO:<eve@evil.test", "a b@c.d", "<x@y.z>", ""]
)
async def test_an_address_never_becomes_a_command(tmp_path: Path, to: str) -> None:
    async with server(HELLO, *IN, "250 ok", "250 ok") as (port, heard):
        with pytest.raises(ToolError, match="not a mail address"):
            await submit(
                spec(port, tmp_path), None, "support@acme.test", [to], None, b"x", must_not_be_noted
            )
    assert not any("RCPT" in line for line in heard)


async def test_a_wrong_password_is_told_without_it(tmp_path: Path) -> None:
    async with server(HELLO, IN[0], "535 wrong") as (port, _):
        with pytest.raises(ToolError, match=r"does not let support@acme\.test in") as raised:
            await submit(
                spec(port, tmp_path),
                None,
                "a@b.c",
                ["ann@example.test"],
                None,
                b"x",
                must_not_be_noted,
            )
    assert SECRET not in str(raised.value)


async def test_an_unreachable_server_means_it_did_not_leave(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="cannot be reached"):
        await submit(
            spec(1, tmp_path), None, "a@b.c", ["ann@example.test"], None, b"x", must_not_be_noted
        )
