"""IMAP's words: whatever a server says becomes mails or an error of ours, never anything else."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from imapclient.imap_utf7 import encode

from deskhand.adapters.channels.imap import Imap, uid_ranges
from deskhand.adapters.channels.imap_client import _folder_name, quoted
from deskhand.adapters.channels.mail_connection import ServerUnavailable
from deskhand.errors import DeskhandError
from tests.scripted_imap import scripted_imap, scripted_spec

PIECES = (
    *("* 1 FETCH (UID 7 FLAGS (\\Seen) BODY[]<0> {3}\r\nabc)", "* SEARCH 1 2", "* 3 EXISTS"),
    *("(((((", ")", '"', "{5}", "{999999999}", "{-1}", "NIL", "* ", "*", "+ ", "\\", "[", "]", " "),
    *("* OK [UIDNEXT", "* FLAGS (\\Seen", "* BYE", "TAG OK", "TAG NO", "\r\n", "\x00", "ž", "7"),
)


async def test_nothing_a_server_says_is_more_than_an_error(tmp_path: Path) -> None:
    chance = random.Random(17)
    for _ in range(120):
        said = "".join(chance.choices(PIECES, k=chance.randint(1, 8)))
        answers = {"UID FETCH": said + "\r\nTAG OK done!", "LIST": said + "\r\nTAG OK done!"}
        async with scripted_imap(answers) as server:
            imap = await Imap.connect(scripted_spec(server.port, tmp_path))
            for ask in (imap.folders, lambda imap=imap: imap.fetch([7], most=100)):
                try:
                    assert isinstance(await ask(), list)
                except DeskhandError:
                    break
            await imap.close()


async def test_lists_within_lists_without_end_are_an_error(tmp_path: Path) -> None:
    answers = {"UID FETCH": "* 1 FETCH " + "(" * 100_000 + "\r\nTAG OK done", "SELECT": "TAG OK x"}
    async with scripted_imap(answers) as server:
        imap = await Imap.connect(scripted_spec(server.port, tmp_path))
        with pytest.raises(DeskhandError):
            await imap.fetch([7], most=100)
        await imap.close()


async def test_a_server_that_says_more_before_tls_is_up_is_not_trusted(tmp_path: Path) -> None:
    """Whoever sits between could have said it, to be taken for the server's word."""
    answers = {"STARTTLS": "TAG OK go ahead\r\n* CAPABILITY IMAP4rev1 AUTH=PLAIN"}
    async with scripted_imap(answers, capabilities="IMAP4rev1 STARTTLS") as server:
        spec = scripted_spec(server.port, tmp_path).model_copy(update={"security": "starttls"})
        with pytest.raises(ServerUnavailable, match="spoke before TLS"):
            await Imap.connect(spec)
    assert "LOGIN" not in server.verbs


@pytest.mark.parametrize("security", ["none", "starttls"])
async def test_a_server_that_lets_everybody_in_is_not_trusted(
    tmp_path: Path, security: str
) -> None:
    async with scripted_imap(
        greeting="* PREAUTH welcome", capabilities="IMAP4rev1 STARTTLS"
    ) as server:
        spec = scripted_spec(server.port, tmp_path).model_copy(update={"security": security})
        with pytest.raises(ServerUnavailable, match="PREAUTH"):
            await Imap.connect(spec)


async def test_a_server_without_starttls_hears_no_password(tmp_path: Path) -> None:
    async with scripted_imap(capabilities="IMAP4rev1") as server:
        spec = scripted_spec(server.port, tmp_path).model_copy(update={"security": "starttls"})
        with pytest.raises(ServerUnavailable, match="STARTTLS"):
            await Imap.connect(spec)
    assert "LOGIN" not in server.verbs


@given(st.text(st.characters(codec="utf-8")))
def test_folder_names_survive_the_way_to_the_server_and_back(name: str) -> None:
    assert encode(name).isascii()
    assert _folder_name(encode(name)) == name


def test_a_folder_name_that_is_not_encoded_stays_as_it_is() -> None:
    assert _folder_name(b"Tom & Jerry") == "Tom & Jerry"
    assert _folder_name("Entwürfe".encode()) == "Entwürfe"
    assert encode("Entwürfe") == b"Entw&APw-rfe"


def test_what_cannot_be_quoted_is_not_sent() -> None:
    assert quoted('a "b" \\') == '"a \\"b\\" \\\\"'
    for words in ("žluť", "two\r\nlines", "\x00"):
        with pytest.raises(ValueError, match="line break"):
            quoted(words)


def test_uids_are_said_in_ranges() -> None:
    assert uid_ranges([7, 1, 2, 3, 3]) == "1:3,7"
    assert uid_ranges([5]) == "5"
    assert uid_ranges([]) == ""
