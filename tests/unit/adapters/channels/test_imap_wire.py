"""IMAP's words: whatever a server says becomes tokens or a protocol error, never anything else."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.adapters.channels.imap_wire import (
    ImapProtocolError,
    decode_folder,
    encode_folder,
    pairs,
    parse_response,
    quoted,
    uid_ranges,
)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([b"* OK [UIDNEXT 12] next\r\n"], ["*", "OK", "[UIDNEXT 12]", "next"]),
        ([b"* SEARCH 1 2 3\r\n"], ["*", "SEARCH", "1", "2", "3"]),
        ([b'* LIST (\\Sent \\HasNoChildren) "/" "Sent \\"Mail\\""\r\n'],
         ["*", "LIST", ["\\Sent", "\\HasNoChildren"], "/", 'Sent "Mail"']),
        ([b"* 1 FETCH (UID 7 BODY[] {5}\r\n", b"a (b)", b" FLAGS ())\r\n"],
         ["*", "1", "FETCH", ["UID", "7", "BODY[]", b"a (b)", "FLAGS", []]]),
        ([b"* 1 FETCH (BODY[HEADER.FIELDS (DATE)] NIL)\r\n"],
         ["*", "1", "FETCH", ["BODY[HEADER.FIELDS (DATE)]", None]]),
    ],
)  # fmt: skip
def test_responses_become_words(pieces: list[bytes], words: list[object]) -> None:
    assert parse_response(pieces) == words


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=5))
def test_nothing_a_server_says_breaks_the_reader(pieces: list[bytes]) -> None:
    with contextlib.suppress(ImapProtocolError):
        assert isinstance(parse_response([piece + b"\r\n" for piece in pieces]), list)


def test_a_list_that_never_ends_is_an_error() -> None:
    with pytest.raises(ImapProtocolError, match="does not end"):
        parse_response([b"* (a (b\r\n"])
    with pytest.raises(ImapProtocolError, match="too deeply"):
        parse_response([b"(" * 60 + b"\r\n"])


@given(st.text(st.characters(codec="utf-8")))
def test_folder_names_survive_the_way_to_the_server_and_back(name: str) -> None:
    sent = encode_folder(name)
    assert sent.isascii()
    assert decode_folder(sent) == name


def test_a_folder_name_that_is_not_encoded_stays_as_it_is() -> None:
    assert decode_folder("Tom & Jerry") == "Tom & Jerry"
    assert encode_folder("Entwürfe") == "Entw&APw-rfe"


def test_what_cannot_be_quoted_is_sent_as_a_literal() -> None:
    assert quoted('a "b" \\') == '"a \\"b\\" \\\\"'
    assert quoted("žluť") == "žluť".encode()
    assert quoted("two\r\nlines") == b"two\r\nlines"


def test_uids_are_said_in_ranges() -> None:
    assert uid_ranges([7, 1, 2, 3, 3]) == "1:3,7"


def test_pairs_of_an_odd_list_lose_the_last() -> None:
    assert pairs(["UID", "7", "FLAGS"]) == {"UID": "7"}
    assert pairs("NIL") == {}
