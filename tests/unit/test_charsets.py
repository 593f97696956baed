"""Charsets that a mail names: text is decoded by codecs of text alone, however they are spelt."""

import codecs

import pytest

from deskhand.charsets import CODECS, codec_of
from deskhand.mail import parse

HEAD = b"From: ann@example.com\r\nMessage-ID: <one@example.com>\r\n"


@pytest.mark.parametrize(
    "name",
    [
        *("Punycode_", "punycode.", "-punycode", "IDNA", "idna_", "Unicode.Escape", "ROT13", "zip"),
        *("raw-unicode escape", "hex", "base64_codec", "undefined", "mbcs", "u" * 9999),
    ],
)
def test_a_codec_that_is_not_for_text_is_not_used(name: str) -> None:
    raw = HEAD + f'Content-Type: text/plain; charset="{name}"\r\n\r\n'.encode() + b"Bcher-kva"
    assert parse(raw).body == "Bcher-kva"
    assert codec_of(name) is None


@pytest.mark.parametrize(
    ("name", "raw", "text"),
    [
        ("ISO_8859-1:1987", b"caf\xe9", "café"),
        ("Windows-1250", b"\xe8esk\xfd", "český"),
        ("KOI8-R", "привет".encode("koi8-r"), "привет"),
        ("x-sjis", "茶".encode("cp932"), "茶"),
        ("ks_c_5601-1987", "차".encode("cp949"), "차"),
        ("GB2312", "茶".encode("gb18030"), "茶"),
        ("utf8mb4", "茶".encode(), "茶"),
        ("iso-2022-jp", "茶".encode("iso-2022-jp"), "茶"),
        ("windows-874", "ชา".encode("cp874"), "ชา"),
    ],
)
def test_the_charsets_of_mail_programs_are_read(name: str, raw: bytes, text: str) -> None:
    head = HEAD + f"Content-Type: text/plain; charset={name}\r\n\r\n".encode()
    assert parse(head + raw).body == text


def test_every_codec_on_the_list_is_one_of_text() -> None:
    for name in CODECS:
        assert codecs.lookup(name)._is_text_encoding, name


def test_parameters_of_a_header_are_decoded_by_codecs_of_text_alone() -> None:
    part = b"--b\r\nContent-Disposition: attachment; filename*=%s''Bcher-kva\r\n\r\nx\r\n"
    head = HEAD + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    names = [file.name for file in parse(head + part % b"Punycode_" + part % b"utf-8").attachments]
    assert names == ["Bcher-kva", "Bcher-kva"]
