"""What a person wrote, apart from what the program quoted, signed and disclaimed below it."""

import json
from pathlib import Path
from typing import Any

import pytest

from deskhand.config.yaml import read_yaml
from deskhand.mail import visible_reply

SHARED = Path(__file__).parents[4] / "shared" / "data" / "quoted_reply"
CLIENTS = read_yaml(Path(__file__).with_name("client_replies.yaml")).data
ANSWERED = "Dear Ann,\n\nwe have three models in white.\nThe price is 540 EUR.\n\nYour Acme team"
OWN = "The teapot is still broken.\nCan you send a new one?"


def _named(head: dict[str, Any]) -> str:
    return f"{head['client']}-{head['language']}"


@pytest.mark.parametrize(
    "below",
    [
        "On Mon, Oct 25, 2021 at 9:31 AM Shop <shop@example.com> wrote:\n\n> Hello\n> Bye",
        "On Mon, Oct 25, 2021 at 9:31 AM A Shop With A Name <\nshop-with-an-address@example.com> wrote:\n\n> Hello",  # noqa: E501
        "On 03/11/2021 15:51, Shop wrote:\n> Hello",
        "Am 03.11.21 um 15:51 schrieb Shop:\n> Hallo",
        "Le 28/10/2021 à 12:46, Shop a écrit :\n\nBonjour",
        "El mar, 27 oct 2021 a las 9:31, Shop (<shop@example.com>) escribió:\n\n> Hola",
        "Il giorno mer 27 ott 2021 alle ore 09:31 Shop <\nshop@example.com> ha scritto:\n\n> Ciao",
        "st 27. 10. 2021 v 9:31 odesílatel Shop <shop@example.com> napsal:\n\n> Dobrý den",
        "st 27. 10. 2021 o 9:31 Shop <shop@example.com> napísal(a):\n\n> Ahoj",
        "śr., 27 paź 2021 o 09:31 Shop <shop@example.com> napisał(a):\n\n> Cześć",
        "Op wo 27 okt. 2021 om 09:31 schreef Shop <shop@example.com>:\n\n> Hallo",
        "Den ons 27 okt. 2021 kl 09:31 skrev Shop <shop@example.com>:\n\n> Hej",
        "ke 27. lokak. 2021 klo 9.31 Shop (shop@example.com) kirjoitti:\n\n> Hei",
        "Shop <shop@example.com> ezt írta (időpont: 2021. okt. 27., Sze, 9:31):\n\n> Szia",
        "ср, 27 окт. 2021 г. в 09:31, Shop <shop@example.com>:\n\n> Привет",
        "ср, 27 жовт. 2021 р. о 09:31 Shop <shop@example.com> пише:\n\n> Вітаю",
        "2021年10月27日(水) 9:31 Shop <shop@example.com>:\n\n> こんにちは",
        "2021년 10월 27일 (수) 오전 9:31, Shop <shop@example.com>님이 작성:\n\n> 안녕",
        "-----Original Message-----\nFrom: Shop\nSent: Monday\n\nHello",
        "________________________________\nFrom: Shop <shop@example.com>\nSent: Monday\nTo: Ann\nSubject: x\n\nHello",  # noqa: E501
        "*From:* Shop <shop@example.com>\n*Sent:* Monday\n*To:* Ann\n*Subject:* x\n\nHello",
        "Von: Shop <shop@example.com>\nGesendet: Montag\nAn: Ann\nBetreff: x\n\nHallo",
        "Od: Shop <shop@example.com>\nOdesláno: pondělí\nKomu: Ann\nPředmět: x\n\nHallo",
        "-- \nAnn Lee\nPotter",
        "Sent from my phone",
        "Get Outlook for iOS<https://example.com/x>",
        "Best regards,\n\nAnn Lee\nTel. 123 456",
        "S pozdravem\nAnn",
        "This email and any files transmitted with it are confidential and intended solely for the use of whoever.",  # noqa: E501
    ],
)  # fmt: skip
def test_only_the_words_of_the_sender_are_left(below: str) -> None:
    assert visible_reply(f"{OWN}\n\n{below}\n") == OWN


@pytest.mark.parametrize("gap", ["\n\n", "\n"], ids=["blank line", "no blank line"])
@pytest.mark.parametrize("head", CLIENTS["heads"], ids=_named)
def test_what_mail_programs_write_above_an_answered_mail_is_known(
    head: dict[str, Any], gap: str
) -> None:
    above = head["head"].replace("ADDRESS", "support@acme.example")
    mark = "> " if head.get("marked") else ""
    answered = "\n".join(f"{mark}{line}" for line in ANSWERED.splitlines())
    assert visible_reply(f"{OWN}\n\n{above}{gap}{answered}\n") == OWN


@pytest.mark.parametrize("text", CLIENTS["words"])
def test_words_that_look_like_such_a_line_are_kept(text: str) -> None:
    assert visible_reply(text) == text


def test_answers_between_quoted_lines_are_kept() -> None:
    text = (
        "On 03/11/2021 15:51, Shop wrote:\n> Is it broken?\n\nYes.\n\n> In colour?\n\nBlue.\n\n--"
        " \nAnn"
    )
    assert visible_reply(text) == "Yes.\n\n\nBlue."


@pytest.mark.parametrize(
    "text",
    [
        "On your remote host you can run:\n\n     telnet 127.0.0.1 52698",
        "Here is another mail\n\nSent from my desk, is much easier than my mobile phone.",
        "One outstanding question I had:\n\nwhere is it?",
        "I ordered on 12.10.2021 at 10:30:\n- a pot\n- a cup",
        "Cheers\n\nCan I also have a lid?",
        "Regards,\nAnn\n\nPS: the order is P-1002",
        "From: Prague\nI would like to travel to Brno.",
        "My list\n---\none\ntwo",
    ],
)
def test_ordinary_words_are_not_taken_for_quotes(text: str) -> None:
    assert visible_reply(text) == text


@pytest.mark.parametrize("text", ["", "--\nAnn", "Best regards\nAnn", "> all\n> quoted"])
def test_nothing_but_a_signature_is_shown_rather_than_nothing(text: str) -> None:
    assert visible_reply(text) == ("" if text.startswith(">") else text.strip())


def test_a_text_of_endless_lines_is_read_to_a_limit() -> None:
    assert len(visible_reply("\n".join(map(str, range(50_000)))).splitlines()) == 4_000


def test_public_fixtures() -> None:
    if not SHARED.is_dir():
        pytest.skip("needs ../shared/data/quoted_reply")
    expected = json.loads((SHARED / "expected.json").read_text())
    wrong = [
        case["file"]
        for case in expected
        if visible_reply((SHARED / "fixtures" / case["file"]).read_text())
        != case["visible_text"].strip()
    ]
    assert len(wrong) <= len(expected) * 0.1, wrong
