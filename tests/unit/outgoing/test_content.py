"""The content check finds what must not leave, however it is written, and lets honest replies
pass."""

import base64
import html
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.model.message import Reply
from deskhand.outgoing.content import MOST_TEXT, check_reply, check_text
from deskhand.outgoing.content_finding import AllowedContent

REPLIES = Path(__file__).parents[2] / "data" / "honest_replies.txt"
CANARY = "zebra-lantern-42"
DESK = AllowedContent(
    hosts=("acme.example", "*.acme.example"),
    addresses=("support@acme.example",),
    phones=("+420 222 333 444",),
    accounts=("CZ65 0800 0000 1920 0014 5399",),
    canaries=(CANARY,),
    own=("carla@example.com", "P-1001", "4242 4242 4242 4242"),
    others=("P-2002", "bob@acme.example"),
)


def rules(text: str) -> set[str]:
    return {finding.rule for finding in check_text(text, DESK)}


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.com/x",
        "see evil.com for more",
        "Evil.Com",
        "EVIL.COM",
        "hxxp://evil.com",
        "hxxps://evil[.]com",
        "evil(dot)com",
        "evil dot com",
        "http://evil .com",
        "[here](https://evil.com)",
        "[here]: //evil.com",
        "<a href='//evil.com'>x</a>",
        '<a href="https:/\\evil.com">x</a>',
        "https://acme.example@evil.com/",
        "https://evil.com\\@acme.example/",
        "https://acme.example.evil.com",
        "https://notacme.example",
        "http://203.0.113.5/",
        "203.0.113.5",
        "http://3405803781/",
        "http://0xcb.0x0.0x71.0x5/",
        "http://[2001:db8::1]/",
        "ht\u200btps://ev\u2060il.com",
        "https://\nevil.com/login",
        "https://acme.exam\nple.evil.com",
        "https://acme.example\n.evil.com",
        "https://\u0430cme.example",
        "https://xn--cme-5cd.example/",
        "p\u0430ypal.com",
        "evil%2Ecom/path",
        "evil%252Ecom/path",
        "&#104;ttps&#58;//evil&#46;com",
        "&amp;#104;ttps://evil&period;com",
        "https://acme.example/r?u=https%3A%2F%2Fevil.com",
        "\uff48\uff54\uff54\uff50\uff53\uff1a\uff0f\uff0f\uff45\uff56\uff49\uff4c\uff0e\uff43\uff4f\uff4d",
        "https://evil\u3002com",
        "www.evil.banana",
        "evil.banana/pay",
        "ftp://files.evil.com",
    ],
)
def test_a_foreign_host_is_found(text: str) -> None:
    assert "foreign_host" in rules(text)


def test_a_look_alike_is_called_one() -> None:
    [finding] = check_text("https://\u0430cme.example/pay", DESK)
    assert "looks like acme.example" in finding.reason


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("write to eve@evil.com", "foreign_address"),
        ("eve (at) evil.com", "foreign_address"),
        ("mailto:eve@evil.com", "foreign_address"),
        ("carla@example.com.evil.com", "foreign_address"),
        ("pay to DE89 3704 0044 0532 0130 00 please", "foreign_account"),
        ("19-2000145399/0800", "foreign_account"),
        ("178124-4159/0710", "foreign_account"),
        ("JE06ABCD12345612345678", "foreign_account"),
        ("4111-1111-1111-1111", "card_number"),
        ("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "crypto_address"),
        ("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "crypto_address"),
        ("0x52908400098527886E0F7030069857D2E4169EE7", "crypto_address"),
        ("call us at +420 777 888 999", "foreign_phone"),
        ("Call 05222771 about your parcel.", "foreign_phone"),
        ("![logo](https://acme.example/logo.png)", "remote_content"),
        ("<img src='https://acme.example/p.gif'>", "remote_content"),
        ("<div style='background:url(https://acme.example/a)'>", "remote_content"),
        ("<p onclick=go()>", "remote_content"),
        ("<\u200bscript>", "remote_content"),
        ("&lt;iframe src=x&gt;", "remote_content"),
        ("sk-proj-abcdefghijklmnopqrstuvwx", "secret"),
        ("AKIAIOSFODNN7EXAMPLE", "secret"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "secret"),
        ("Zebra Lantern 42", "canary"),
        ("z e b r a l a n t e r n 4 2", "canary"),
        (CANARY[::-1], "canary"),
        ("mroen-ynagrea-42", "canary"),
        (base64.b64encode(CANARY.encode()).decode(), "canary"),
        (CANARY.encode().hex(), "canary"),
        ("Your neighbour's order is P-2002.", "other_customer"),
        ("Bob (bob@acme.example) ordered too", "other_customer"),
        ("javascript:alert(1)", "script_link"),
        ("data:text/html,x", "script_link"),
        ("Invoice \u202efdp.exe", "hidden_text"),
        ("hello \U000e0068\U000e0069", "hidden_text"),
        ("bell \x07", "control_characters"),
        ("x" * (MOST_TEXT + 1), "too_long"),
    ],
)
def test_what_must_not_leave_is_found(text: str, rule: str) -> None:
    assert rule in rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "https://acme.example/a?b=c#d and http://shop.acme.example:443.",
        "ACME.example, \u201ehttps://acme.example\u201c, **www.acme.example**",
        "support@acme.example, carla@example.com",
        "account CZ65 0800 0000 1920 0014 5399",
        "invoice 19/2026 of 08-19/2026",
        "card 4242 4242 4242 4242, order P-1001",
        "The tracking number is 05222771. Die Sendungsnummer lautet 05222771.",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "a < b and c > d, 5 % off, R&D, 100%",
    ],
)
def test_the_desks_and_the_customers_own_pass(text: str) -> None:
    assert check_text(text, DESK) == []


def test_honest_replies_in_five_languages_give_no_finding() -> None:
    lines = [line for line in REPLIES.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) >= 60
    assert {line[:2] for line in lines} == {"en", "cs", "de", "es", "fr"}
    alarms = {line: check_text(line.partition("|")[2], DESK) for line in lines}
    assert {line: found for line, found in alarms.items() if found} == {}


@pytest.mark.parametrize("field", ["to", "subject", "in_reply_to"])
@pytest.mark.parametrize("forged", ["a\r\nBcc: eve@evil.com", "a\nb", "a\rb", "a\x00b", "a\u2028b"])
def test_a_line_break_in_a_header_is_refused_outright(field: str, forged: str) -> None:
    values = {"to": "carla@example.com", "subject": "Re: x", "text": "ok", "in_reply_to": "<1@x>"}
    found = check_reply(Reply.model_validate(values | {field: forged}), DESK)
    assert [finding.rule for finding in found if finding.refused] == ["header_injection"]


def test_the_subject_is_looked_at_as_well() -> None:
    reply = Reply(to="carla@example.com", subject="Re: visit evil.com", text="ok")
    assert [(finding.rule, finding.field) for finding in check_reply(reply, DESK)] == [
        ("foreign_host", "subject")
    ]


def test_a_finding_marks_what_was_written() -> None:
    text = "Dear Carla,\nplease pay at ht\u200btps://evil%2Ecom/x now."
    [finding] = check_text(text, DESK)
    assert text[finding.start : finding.end] == "ht\u200btps://evil%2Ecom"


# --- disguises
# --------------------------------------------------------------------------------------------------------  # noqa: E501

ZERO_WIDTH = ("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad")


def _sprinkled(text: str, gaps: list[int], marks: list[str]) -> str:
    letters = list(text)
    for gap, mark in zip(gaps, marks, strict=False):
        letters.insert(gap % (len(letters) + 1), mark)
    return "".join(letters)


def _entities(text: str, chosen: list[bool]) -> str:
    written = ""
    for letter, on in zip(text, chosen, strict=False):
        written += f"&#{ord(letter)};" if on else html.escape(letter)
    return written


def _percent(text: str, chosen: list[bool]) -> str:
    written = ""
    for letter, on in zip(text, chosen, strict=False):
        written += f"%{ord(letter):02X}" if on else letter
    return written


def _wide(text: str) -> str:
    return text.translate({code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)})


hosts = st.sampled_from(
    ("evil.com", "pay-me.top", "login.evil.co.uk", "acme.example.evil.net", "xn--80ak6aa92e.com")
)
schemes = st.sampled_from(("https://", "http://", "hxxp://", "HTTPS://", "ftp://", "https:\\\\"))
frames = st.sampled_from(
    (
        "{}",
        "See {} now.",
        "[here]({})",
        "<{}>",
        "<a href='{}'>x</a>",
        "({})",
        "\u201e{}\u201c",
        "a\n{}\nb",
        "=> {} <=",
    )
)
flags = st.lists(st.booleans(), min_size=80, max_size=80)


@st.composite
def disguised(draw: st.DrawFn) -> str:
    url = (
        draw(schemes)
        + draw(hosts)
        + draw(st.sampled_from(("", "/", "/login?x=1", ":8080/a", "#b")))
    )
    match draw(st.integers(0, 7)):
        case 0:
            url = _sprinkled(url, draw(st.lists(st.integers(0, 60), max_size=6)), list(ZERO_WIDTH))
        case 1:
            url = _entities(url, draw(flags))
        case 2:
            url = _percent(url, draw(flags))
        case 3:
            url = _wide(url)
        case 4:
            url = quote(quote(url, safe=""), safe="")
        case 5:
            url = _entities(
                _sprinkled(url, draw(st.lists(st.integers(0, 60), max_size=3)), list(ZERO_WIDTH)),
                [True] * 99,
            )
        case 6:
            url = url.replace(
                ".", draw(st.sampled_from(("[.]", "(.)", "\u3002", "\uff0e", "(dot)", "&period;")))
            )
        case _:
            cut = draw(st.integers(0, len(url)))
            url = url[:cut] + draw(st.sampled_from(("\n", "\r\n"))) + url[cut:]
    return draw(frames).format(url)


@given(disguised())
def test_every_disguise_of_a_foreign_link_is_seen_through(text: str) -> None:
    assert rules(text) & {"foreign_host", "foreign_address"}


@given(st.text(max_size=300))
def test_no_text_breaks_the_check(text: str) -> None:
    for finding in check_text(text, DESK):
        assert 0 <= finding.start <= finding.end <= len(text)


@pytest.mark.parametrize(
    "number",
    [
        "DE89 3704 0044 0532 0130 00",
        "GB29NWBK60161331926819",
        "no93-8601-1117-947",
        "AD12 0001 2030 2003 5910 0100",
        "FR14 2004 1010 0505 0001 3M02 606",
        "IT60 X054 2811 1010 0000 0123 456",
        "MT84 MALT 0110 0001 2345 MTLC AST0 01S",
        "MU17 BOMM 0101 1010 3030 0200 000M UR",
        "BR18 0036 0305 0000 1000 9795 493C 1",
        "TR33 0006 1005 1978 6457 8413 26",
        "NE58 NE03 8010 0100 1303 0500 0268",
        "GW04 GW14 3001 0181 8006 3760 1",
    ],
)
def test_account_numbers_of_any_country_are_found(number: str) -> None:
    assert "foreign_account" in rules(f"Please pay to {number} today.")


@pytest.mark.parametrize("number", ["a7916c62-7bb6-49f5-ba56-0a734ddc2a1c", "BA560A734DDC2A1C"])
def test_a_number_too_short_for_its_country_is_no_account(number: str) -> None:
    assert "foreign_account" not in rules(f"Your request {number} is on its way.")


def test_a_part_of_a_uuid_with_the_right_checksum_is_no_account() -> None:
    text = "Your request 0b1c6c3e-ad53-45fd-9eab-ba4038425bb8 is on its way."
    assert "foreign_account" not in rules(text)
