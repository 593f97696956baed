"""Forwarded mail of many programs and languages: who wrote it first, to whom, when, about what."""

import json
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from deskhand.mail import Forwarded, Mailbox, forwarded
from deskhand.mail.mail_phrases import mail_phrases

SHARED = Path(__file__).parents[4] / "shared" / "data" / "forwarded_mail"
TABLE = tomllib.loads((files("deskhand.mail") / "mail_phrases.toml").read_text("utf-8"))
ANN = Mailbox("ann@example.com", "Ann Lee")


def test_gmail() -> None:
    found = forwarded(
        "Please look.\n\nBob\n\n---------- Forwarded message ---------\nFrom: Ann Lee"
        " <ann@example.com>\nDate: Wed, Oct 27, 2021 at 9:31 AM\nSubject: Broken teapot\nTo:"
        " <shop@example.com>, Carl, Jr. <c@example.com>\n\nIt arrived broken.\n\nAnn\n"
    )
    assert found == Forwarded(
        from_=ANN,
        to=(Mailbox("shop@example.com"), Mailbox("c@example.com", "Carl, Jr.")),
        cc=(),
        subject="Broken teapot",
        date="Wed, Oct 27, 2021 at 9:31 AM",
        body="It arrived broken.\n\nAnn",
        message="Please look.\n\nBob",
    )


def test_apple_mail_quotes_what_it_forwards() -> None:
    found = forwarded(
        "> Anfang der weitergeleiteten Nachricht:\n> \n> Von: Ann Lee <ann@example.com>\n> Betreff:"
        " Teekanne\n> Datum: 26. Oktober 2021 um 14:25\n> An: shop@example.com\n> \n> Sie ist"
        " kaputt.\n>> Danke\n"
    )
    assert found is not None
    assert (found.from_, found.subject, found.body) == (ANN, "Teekanne", "Sie ist kaputt.\n> Danke")


def test_yahoo_writes_all_headers_in_one_line() -> None:
    found = forwarded(
        '   ----- Mensaje reenviado ----- De: Ann Lee <ann@example.com>Para: "shop@example.com"'
        " <shop@example.com>CC: Bob <bob@example.com>Enviado: martes, 2 de noviembre de 2021,"
        " 09:26:50 CETAsunto: Tetera\n Rota.\n"
    )
    assert found is not None
    assert (found.from_, found.to, found.cc) == (
        ANN,
        (Mailbox("shop@example.com"),),
        (Mailbox("bob@example.com", "Bob"),),
    )
    assert (found.date, found.subject, found.body) == (
        "martes, 2 de noviembre de 2021, 09:26:50 CET",
        "Tetera",
        "Rota.",
    )


def test_a_word_of_the_subject_is_no_header() -> None:
    found = forwarded(
        "----- Przekazana wiadomość ----- Od: Ann Lee <ann@example.com>Do: shop <shop@example.com>"
        "Wysłano: wtorek, 2 listopada 2021Temat: Twoja Kopia faktury Cc: x\nTreść\n"
    )
    assert found is not None
    assert (found.cc, found.subject, found.date) == (
        (),
        "Twoja Kopia faktury Cc: x",
        "wtorek, 2 listopada 2021",
    )


OUTLOOK = (
    "Zkusíte?\n\nOd: Ann Lee <ann@example.com>\nDatum: čtvrtek 28. října 2021 12:06\nKomu:"
    " shop@example.com\nPředmět: Konvice\n\nRozbitá.\n"
)


def test_outlook_marks_a_forward_in_the_subject_alone() -> None:
    found = forwarded(OUTLOOK, "FW: Konvice")
    assert found is not None
    assert (found.from_, found.message, found.body) == (ANN, "Zkusíte?", "Rozbitá.")
    assert forwarded(OUTLOOK, "Re: Konvice") is None
    assert forwarded(OUTLOOK) is None


def test_a_line_that_says_who_wrote_stands_for_headers_when_the_subject_says_forwarded() -> None:
    text = '\ufeffAm 28.10.2021, 12:46 schrieb "Ann Lee" <ann@example.com>:\n\n    Kaputt.\n'
    found = forwarded(text, "WG: Kanne")
    assert found is not None
    assert (found.from_, found.date, found.subject, found.body) == (
        ANN,
        "28.10.2021, 12:46",
        "Kanne",
        "Kaputt.",
    )
    assert forwarded(text, "AW: Kanne") is None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Ann Lee <ann@example.com>", [ANN]),
        (
            (
                "Ann Lee<mailto:ann@example.com> <ann@example.com<mailto:ann@example.com>> on"
                " behalf of x@y.cz"
            ),
            [ANN],
        ),
        ("Ann Lee [mailto:ann@example.com]", [ANN]),
        ("\"'Ann Lee'\" <ann@example.com>", [ANN]),
        ("ann@example.com <ann@example.com>", [Mailbox("ann@example.com")]),
        ("*Ann Lee <ann@example.com>*", [ANN]),
        ("Ann Lee", [Mailbox(None, "Ann Lee")]),
    ],
)
def test_people_as_programs_write_them(written: str, expected: list[Mailbox]) -> None:
    found = forwarded(
        f"Forwarded message:\n\n> From: {written}\n> To: {written}\n> Date: today\n>\n> Hello\n"
    )
    assert found is not None
    assert (found.from_, found.to[:1]) == (expected[0], tuple(expected))


def test_a_header_that_goes_on_in_the_next_line() -> None:
    found = forwarded(
        "-------- Forwarded Message --------\nFrom: Ann Lee\n<ann@example.com>\n"
        "To: bob@example.com,\n carl@example.com\nSubject: A long\n story\nDate: today\nHello\n"
    )
    assert found is not None
    assert (found.from_, found.subject, found.body) == (ANN, "A long story", "Hello")
    assert found.to == (Mailbox("bob@example.com"), Mailbox("carl@example.com"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I forwarded message: nothing",
        "---------- Forwarded message ---------\n\nI copied this line only.",
        "Forwarded message:\n\nsee the other mail",
        "On 25 Oct 2021, at 11:43, Ann <ann@example.com> wrote:\n> Hello",
        "________________________________\nNot a header",
    ],
)
def test_what_is_no_forward(text: str) -> None:
    assert forwarded(text) is None


@pytest.mark.parametrize(
    "language",
    [
        "cs",
        "da",
        "de",
        "es",
        "fi",
        "fr",
        "hr",
        "hu",
        "it",
        "nl",
        "no",
        "pl",
        "pt",
        "ro",
        "ru",
        "sk",
        "sv",
        "tr",
        "uk",
    ],
)
def test_every_language_has_its_labels(language: str) -> None:
    label = {name: TABLE["labels"][name][language] for name in ("from", "to", "date", "subject")}
    for line in TABLE["separators"][language]:
        for sender in label["from"]:
            text = "\n".join(
                [
                    f"-------- {line} --------",
                    f"{sender}: Ann Lee <ann@example.com>",
                    f"{label['date'][-1]}: 1. 2. 2021",
                    f"{label['to'][0]}: b@example.com",
                    f"{label['subject'][0]}: X",
                    "",
                    "Hello",
                ]
            )
            found = forwarded(text)
            assert found is not None, text
            assert (found.from_, found.subject, found.date, found.body) == (
                ANN,
                "X",
                "1. 2. 2021",
                "Hello",
            )


def test_no_label_stands_for_two_headers() -> None:
    for header, rows in TABLE["labels"].items():
        for label in (one for row in rows.values() for one in row):
            assert mail_phrases().labels[" ".join(label.casefold().split())] == header, label


def test_public_fixtures() -> None:
    """At least 95% wholly right: sender, recipients, copies, subject, date, body and what stands
    above."""
    if not SHARED.is_dir():
        pytest.skip("needs ../shared/data/forwarded_mail")
    expected = json.loads((SHARED / "expected.json").read_text())
    wrong = [case["body_file"] for case in expected if not _is_right(case)]
    assert len(wrong) <= len(expected) * 0.05, wrong


def _is_right(case: dict[str, Any]) -> bool:
    subject = (
        (SHARED / "fixtures" / case["subject_file"]).read_text().strip()
        if case["subject_file"]
        else None
    )
    found, wanted = (
        forwarded((SHARED / "fixtures" / case["body_file"]).read_text(), subject),
        case["expected"],
    )
    if found is None or not wanted["forwarded"]:
        return (found is None) == (not wanted["forwarded"])
    told = {
        "message": found.message,
        "from": _told(found.from_),
        "to": list(map(_told, found.to)),
        "cc": list(map(_told, found.cc)),
        "subject": found.subject,
        "date": found.date,
        "body": found.body,
    }
    return all(told[name] == wanted[name] for name in told if name in wanted)


def _told(one: Mailbox) -> dict[str, str | None]:
    return {"address": one.address, "name": one.name}
