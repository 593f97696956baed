"""Message files: what people hand to `deskhand run`, and what is wrong with it in words they can
act on."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.errors import ConfigError
from deskhand.mail.authentication import MailTrust
from deskhand.mail.message_files import MessageInvalid, message_from, read_messages
from deskhand.model.message import Address, Message


def written(folder: Path, content: Any, name: str = "message.json") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def refused(path: Path, **options: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        read_messages(path, **options)
    assert caught.value.file == path
    assert caught.value.fix
    return caught.value


def test_a_mail_file_is_one_message(tmp_path: Path) -> None:
    [message], is_conversation = read_messages(
        written(tmp_path, b"From: ann@example.com\r\n\r\nHello", "a.eml")
    )
    assert (message.channel, message.sender.address, message.body) == (
        "mail",
        "ann@example.com",
        "Hello",
    )
    assert not is_conversation


def test_a_mail_file_is_from_whom_the_trusted_server_proved(tmp_path: Path) -> None:
    proof = b"Authentication-Results: mx.acme.example; dmarc=pass header.from=example.com\r\n"
    path = written(tmp_path, proof + b"From: ann@example.com\r\n\r\nHello", "a.eml")
    found = {
        servers: read_messages(path, trust=MailTrust(servers))[0][0].principal.address
        for servers in (("mx.acme.example",), ("mx.other.example",), ())
    }
    assert found == {("mx.acme.example",): "ann@example.com", ("mx.other.example",): None, (): None}
    assert read_messages(path)[0][0].principal.address is None


def test_headers_have_names_without_case() -> None:
    assert message_from({"from": "a@b.c", "headers": {"Reply-To": "ann@example.com"}}).headers == {
        "reply-to": "ann@example.com"
    }


def test_a_mail_that_is_not_utf_8_is_read_all_the_same(tmp_path: Path) -> None:
    [message], _ = read_messages(
        written(tmp_path, b"Subject: \xff\xfe\r\nFrom: a@b.c\r\n\r\ncaf\xe9 \xff", "a.eml")
    )
    assert message.body == "café ÿ"
    message.model_dump_json()


def test_a_json_message_needs_an_address_and_little_else(tmp_path: Path) -> None:
    [message], is_conversation = read_messages(
        written(tmp_path, {"from": "ann@example.com", "text": "Hi"})
    )
    assert (message.sender, message.body) == (Address(address="ann@example.com"), "Hi")
    assert message.id == message.conversation
    assert not is_conversation


def test_turns_share_sender_and_conversation_and_may_be_bare_texts(tmp_path: Path) -> None:
    turns = [
        "Where is it?",
        {"body": "O-1", "subject": "again"},
        {"from": "bob@example.com", "body": "and mine?"},
    ]
    content = {"from": "ann@example.com", "subject": "parcel", "id": "ignored", "turns": turns}
    messages, is_conversation = read_messages(written(tmp_path, content))
    assert is_conversation
    assert [one.body for one in messages] == ["Where is it?", "O-1", "and mine?"]
    assert [one.sender.address for one in messages] == [
        "ann@example.com",
        "ann@example.com",
        "bob@example.com",
    ]
    assert [one.subject for one in messages] == ["parcel", "again", "parcel"]
    assert len({one.conversation for one in messages}) == 1
    assert len({one.id for one in messages}) == 3


def test_a_bare_list_is_a_conversation_too(tmp_path: Path) -> None:
    messages, is_conversation = read_messages(
        written(tmp_path, [{"from": "ann@example.com", "body": "Hi"}])
    )
    assert (len(messages), is_conversation) == (1, True)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "not NoneType"),
        (5, "not int"),
        ({}, "a message needs `from`"),
        ({"from": ""}, "a message needs `from`"),
        ({"from": "a@b.c", "body": 5}, "message 1, body"),
        ({"from": "a@b.c", "unheard_of": 1}, "message 1, unheard_of"),
        ({"from": "a@b.c", "received_at": "2026-01-01T00:00:00"}, "message 1, received_at"),
        ({"from": "a@b.c", "received_at": "0001-01-01T00:00:00+14:00"}, "before the year 1"),
        ({"from": "a@b.c", "recipients": 5}, "message 1, recipients"),
        ({"from": {"name": "Ann"}}, "message 1, sender.address"),
        ({"from": "a@b.c", "recipients": ["a@b.c"] * 1001}, "at most 1,000 people"),
    ],
)
def test_a_wrong_message_says_which_field_is_wrong(data: Any, words: str) -> None:
    with pytest.raises(MessageInvalid) as caught:
        message_from(data)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        {"from": "a@b.c"},
        {"customer_address": "a@b.c"},
        {"sender": {"address": "a@b.c"}},
        {"from": {"address": "a@b.c"}},
    ],
)
def test_the_sender_may_be_written_in_several_ways(data: dict[str, Any]) -> None:
    assert message_from(data).sender.address == "a@b.c"


@pytest.mark.parametrize("to", ["x@y.z", ["x@y.z"], {"address": "x@y.z"}, [{"address": "x@y.z"}]])
def test_recipients_may_be_one_or_several(to: Any) -> None:
    message = message_from({"from": "a@b.c", "recipients": to, "cc": to})
    assert message.recipients == message.cc == (Address(address="x@y.z"),)


def test_what_is_given_is_not_changed() -> None:
    data = {"from": "a@b.c", "text": "Hi"}
    message_from(data)
    assert data == {"from": "a@b.c", "text": "Hi"}


def test_an_emoji_cut_in_two_and_nul_are_replaced(tmp_path: Path) -> None:
    path = written(
        tmp_path, b'{"from": "a@b.c", "body": "so sad \\ud83d", "conversation": "a\\u0000b"}'
    )
    [message], _ = read_messages(path)
    assert (message.body, message.conversation) == ("so sad ?", "a\N{REPLACEMENT CHARACTER}b")
    message.model_dump_json()


def test_a_wrong_turn_is_named_by_its_number(tmp_path: Path) -> None:
    wrong = {"from": "a@b.c", "turns": ["fine", {"body": 5}]}
    assert "message 2, body" in refused(written(tmp_path, wrong)).problem


@pytest.mark.parametrize("turns", [[], {}, "x", 5])
def test_turns_are_a_list_of_messages(tmp_path: Path, turns: Any) -> None:
    assert (
        "`turns` is a list" in refused(written(tmp_path, {"from": "a@b.c", "turns": turns})).problem
    )


def test_invalid_utf_8_in_json_says_where(tmp_path: Path) -> None:
    assert refused(written(tmp_path, b'{"from": "caf\xe9@b.c"}')).problem == "not UTF-8 at byte 13"


@pytest.mark.parametrize(
    "content", [b"", b"<html>", b'{"from": "a@b.c"', b'{"from": ' + b"1" * 5000 + b"}"]
)
def test_what_is_not_json_is_refused_with_its_line(tmp_path: Path, content: bytes) -> None:
    assert refused(written(tmp_path, content)).problem.startswith("not JSON")
    assert refused(written(tmp_path, b'{\n"from": x}')).line == 2


def test_json_nested_beyond_reason_is_refused(tmp_path: Path) -> None:
    assert refused(written(tmp_path, b"[" * 200_000)).problem == "nested too deeply"


def test_fifty_megabytes_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "big.eml"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    monkeypatch.setattr(Path, "read_bytes", lambda self: pytest.fail("it was read"))
    problem = refused(path)
    assert "50,000,000 bytes are more than the desk takes (25,000,000)" in problem.problem
    assert "max_message_bytes" in (problem.fix or "")


def test_the_limit_is_the_desks_own(tmp_path: Path) -> None:
    path = written(tmp_path, b"From: a@b.c\n\n" + b"x" * 100, "a.eml")
    assert len(read_messages(path, max_bytes=113)[0]) == 1
    refused(path, max_bytes=112)


def test_a_file_that_is_not_there_or_no_file(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "missing.eml").problem
    assert "this is a folder" in refused(tmp_path).problem


Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*Message.model_fields, "from", "text", "turns", "x"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=8,
)


@given(Json)
def test_any_json_is_a_storable_message_or_refused_in_words(data: Any) -> None:
    try:
        message = message_from(data)
    except MessageInvalid:
        return
    message.model_dump_json()


# --- one message, the same everywhere


@pytest.mark.parametrize("sender", ["x", "ann", "ann@", "@example.com", "ann@x y", "a@b@c", ""])
def test_a_sender_that_is_no_address_is_refused(sender: str) -> None:
    with pytest.raises(MessageInvalid) as caught:
        message_from({"from": sender, "body": "Hello"})
    assert caught.value.field == "from"


@pytest.mark.parametrize("written", ["(" * 3000, "a:" * 3000, "http://a.b/ " * 3000, '"' * 9999])
def test_an_address_that_cannot_be_taken_apart_is_refused(written: str) -> None:
    with pytest.raises(MessageInvalid) as caught:
        message_from({"from": f"{written}<ann@example.com>", "body": "Hello"})
    assert caught.value.field == "from"
    people = {"recipients": [f"{written}<ann@example.com>"], "cc": f"{written}>"}
    message = message_from({"from": "ann@example.com", "body": "Hello", **people})
    assert message.recipients[0].address == f"{written}<ann@example.com>"


def test_a_chat_may_call_people_by_a_handle() -> None:
    message = message_from({"from": "ann_77", "body": "Hello", "channel": "chat"})
    assert message.sender.address == "ann_77"


@pytest.mark.parametrize(
    "written",
    [
        {"from": "ann@example.com", "name": "Ann Reed"},
        {"from": "Ann Reed <ann@example.com>"},
        {"from": {"address": "ann@example.com", "name": "Ann Reed"}},
        {"sender": {"address": "ann@example.com"}, "name": "Ann Reed"},
    ],
)
def test_a_senders_name_may_be_written_in_any_of_these_ways(written: dict[str, Any]) -> None:
    message = message_from({**written, "body": "Hello"})
    assert str(message.sender) == "Ann Reed <ann@example.com>"
