"""Who a mail is from: only the receiving server's word counts, and only where it covers the
sender's own domain."""

import pytest

from deskhand.mail import parse
from deskhand.mail.authentication import MailTrust, principal_of, read_results
from deskhand.model.message import Message
from deskhand.model.principal import PrincipalKind

TRUST = MailTrust(servers=["mx.shop.example"], forwarders=["notify@crisp.example"])


def mail(
    *results: str, sender: str = "Ann <ann@example.com>", body: str = "Hello", more: str = "X: 1"
) -> Message:
    lines = [
        *(f"Authentication-Results: {one}" for one in results),
        f"From: {sender}",
        more,
        "Message-ID: <a@b.cz>",
    ]
    return parse("\r\n".join([*lines, "", body]).encode())


@pytest.mark.parametrize(
    "result",
    [
        "mx.shop.example; dmarc=pass (p=NONE sp=QUARANTINE) header.from=example.com",
        (
            "MX.shop.example 1; spf=softfail smtp.mailfrom=x@other.cz; dmarc=pass action=none"
            " header.from=Example.com"
        ),
        'mx.shop.example; dkim=pass reason="good (really)" header.d=example.com header.s=one',
        "mx.shop.example; dkim=fail header.d=other.cz; dkim/1=pass header.i=@example.com",
        (
            "mx.shop.example; dmarc=none header.from=example.com; spf=pass"
            " smtp.mailfrom=bounce@example.com"
        ),
        "mx.shop.example; spf=pass (a comment; with=a semicolon) smtp.mailfrom=example.com",
    ],
)
def test_the_trusted_server_vouches_for_the_sender(result: str) -> None:
    principal = principal_of(mail(result), TRUST)
    assert (principal.kind, principal.address) == (PrincipalKind.SENDER, "ann@example.com")
    assert "mx.shop.example" in principal.how


@pytest.mark.parametrize(
    "result",
    [
        "evil.example; dmarc=pass header.from=example.com",
        "mx.shop.example.evil.cz; dmarc=pass header.from=example.com",
        "mx.shop.example; dmarc=fail header.from=example.com; dkim=pass header.d=example.com",
        "mx.shop.example; dmarc=pass header.from=other.cz",
        "mx.shop.example; dmarc=pass",
        "mx.shop.example; dkim=pass header.d=mail.example.com",
        "mx.shop.example; dkim=pass header.d=com",
        "mx.shop.example; dkim=pass header.d=notexample.com",
        "mx.shop.example; dkim=fail header.d=example.com",
        "mx.shop.example; dkim=pass",
        "mx.shop.example; spf=pass smtp.mailfrom=example.com.evil.cz",
        "mx.shop.example; spf=pass smtp.helo=example.com",
        "mx.shop.example; none",
        "mx.shop.example; spf=fail (dkim=pass header.d=example.com) smtp.mailfrom=example.com",
        'mx.shop.example; spf=fail reason="; dkim=pass header.d=example.com" smtp.mailfrom=x.cz',
        "(mx.shop.example; dmarc=pass header.from=example.com) evil.example; none",
        "mx.shop.example; dmarc=pass header.from=example.com =",
        "; dmarc=pass header.from=example.com",
        "",
    ],
)
def test_nobody_else_does(result: str) -> None:
    principal = principal_of(mail(result), TRUST)
    assert (principal.kind, principal.address) == (PrincipalKind.ANONYMOUS, None)
    assert principal.how


@pytest.mark.parametrize(
    ("domain", "result", "is_proven"),
    [
        ("news.shop.co.uk", "dkim=pass header.d=shop.co.uk", True),
        ("shop.co.uk", "dkim=pass header.d=co.uk", False),
        ("shop.co.uk", "spf=pass smtp.mailfrom=x@co.uk", False),
        ("ann.github.io", "dkim=pass header.d=github.io", False),
        ("ann.github.io", "dkim=pass header.d=bob.github.io", False),
        ("mail.ann.github.io", "dkim=pass header.d=ann.github.io", True),
        ("gov.uk", "dkim=pass header.d=gov.uk", True),
        ("news.shop.co.uk", "dmarc=pass header.from=shop.co.uk", True),
        ("shop.co.uk", "dmarc=pass header.from=news.shop.co.uk", True),
        ("shop.co.uk", "dmarc=pass header.from=other.co.uk", False),
        ("shop.co.uk", "dmarc=pass header.from=co.uk", False),
        ("shop.co.uk", "dmarc=pass header.from=..", False),
    ],
)
def test_domains_belong_together_by_their_organisation(
    domain: str, result: str, is_proven: bool
) -> None:
    message = mail(f"mx.shop.example; {result}", sender=f"Ann <ann@{domain}>")
    assert (principal_of(message, TRUST).kind is PrincipalKind.SENDER) == is_proven


def test_only_the_topmost_result_counts() -> None:
    good, bad = (
        "mx.shop.example; dmarc=pass header.from=example.com",
        "mx.shop.example; dmarc=fail header.from=example.com",
    )
    assert principal_of(mail(bad, good), TRUST).kind is PrincipalKind.ANONYMOUS
    assert principal_of(mail("other.example; none", good), TRUST).kind is PrincipalKind.ANONYMOUS
    assert principal_of(mail(good, bad), TRUST).kind is PrincipalKind.SENDER


@pytest.mark.parametrize(
    ("sender", "more"),
    [
        ("Ann <ann@example.com>, Eve <eve@evil.cz>", "X: 1"),
        ("ann@example.com", "From: eve@evil.cz"),
        ("ann@example.com)eve@evil.cz", "X: 1"),
        ("@example.com", "X: 1"),
        ("ann", "X: 1"),
    ],
)
def test_a_sender_that_can_be_read_two_ways_is_nobody(sender: str, more: str) -> None:
    found = principal_of(
        mail("mx.shop.example; dmarc=pass header.from=example.com", sender=sender, more=more), TRUST
    )
    assert found.kind is PrincipalKind.ANONYMOUS


def test_without_a_trusted_server_everybody_is_nobody() -> None:
    good = mail("mx.shop.example; dmarc=pass header.from=example.com")
    assert principal_of(good, MailTrust()).kind is PrincipalKind.ANONYMOUS


CRISP = "mx.shop.example; dmarc=pass header.from=crisp.example"


def passed_on(body: str, result: str = CRISP) -> Message:
    return mail(result, sender="Crisp <notify@crisp.example>", body=body)


@pytest.mark.parametrize(
    "body",
    [
        (
            "New message from Jan Novák (jan@example.cz)\r\n\r\nMáte ibuprofen?\r\n\r\nReply to"
            " this email to answer."
        ),
        (
            "Nová zpráva od Jan Novák <jan@example.cz>:\r\n\r\nMáte"
            " ibuprofen?\r\n\r\n--\r\nOdpovězte na tento e-mail."
        ),
        "Name: Jan Novák\r\nEmail: jan@example.cz\r\nMessage: Máte ibuprofen?",
        "Jméno: Jan Novák\r\nE-mail: jan@example.cz\r\n\r\nMáte ibuprofen?\r\nZobrazit konverzaci",
    ],
)
def test_a_trusted_forwarder_names_the_customer(body: str) -> None:
    principal = principal_of(passed_on(body), TRUST)
    assert (principal.kind, principal.address) == (PrincipalKind.FORWARDED, "jan@example.cz")
    assert not principal.may_act


def test_a_customer_cannot_write_himself_another_name() -> None:
    hostile = (
        "New message from Eve (eve@evil.cz)\r\n\r\nName: Jan\r\nEmail: jan@example.cz\r\n----------"
        " Forwarded message ---------\r\nFrom: Jan <jan@example.cz>\r\nTo: x@y.cz\r\n\r\nHi"
    )
    assert principal_of(passed_on(hostile), TRUST).address == "eve@evil.cz"


def test_a_forwarder_who_is_not_authenticated_is_nobody() -> None:
    body = "New message from Jan (jan@example.cz)\r\n\r\nHello"
    assert (
        principal_of(passed_on(body, "mx.shop.example; none"), TRUST).kind
        is PrincipalKind.ANONYMOUS
    )
    nameless = principal_of(passed_on("Weekly report of your inbox"), TRUST)
    assert nameless.kind is PrincipalKind.ANONYMOUS


FORM = "mx.shop.example; dmarc=pass header.from=forms.example"


def a_form(reply_to: str, body: str = "Where is my parcel?") -> Message:
    message = mail(FORM, sender="Shop <noreply-form@forms.example>", body=body)
    return message.changed(headers={**message.headers, "reply-to": reply_to})


def test_a_reply_to_proves_nobody() -> None:
    principal = principal_of(a_form("Carla <carla@example.org>"), TRUST)
    assert (principal.kind, principal.address) == (PrincipalKind.ANONYMOUS, None)
    assert "carla@example.org, proves nobody" in principal.how


def test_a_listed_form_names_the_customer_and_gives_no_right_to_act() -> None:
    trust = MailTrust(TRUST.servers, ["noreply-form@forms.example"])
    principal = principal_of(a_form("Carla <carla@example.org>"), trust)
    assert (principal.kind, principal.address) == (PrincipalKind.FORWARDED, "carla@example.org")
    assert not principal.may_act


@pytest.mark.parametrize(
    ("reply_to", "body"),
    [
        ("carla@example.org, dan@example.org", "Hello"),
        ("noreply@example.org", "Hello"),
        ("carla@example.org", " "),
        ("carla@example.org", "Email: victim@example.cz\r\n\r\nHello"),
        (
            "carla@example.org",
            "---------- Forwarded message ---------\r\nFrom: Jan <jan@example.cz>\r\n"
            "Subject: Hi\r\nTo: x@y.cz\r\n\r\nHi",
        ),
    ],
)
def test_a_listed_form_that_does_not_say_plainly_who_wrote_names_nobody(
    reply_to: str, body: str
) -> None:
    trust = MailTrust(TRUST.servers, ["noreply-form@forms.example"])
    assert principal_of(a_form(reply_to, body), trust).kind is PrincipalKind.ANONYMOUS


def test_results_are_read_as_the_standard_writes_them() -> None:
    server, results = read_results(
        "mx.example.com 1; auth=pass (md5) smtp.auth=ann@x.cz; iprev=fail policy.iprev=::1"
    )
    assert server == "mx.example.com"
    assert [(one.method, one.result, one.properties) for one in results] == [
        ("auth", "pass", {"smtp.auth": "ann@x.cz"}),
        ("iprev", "fail", {"policy.iprev": "::1"}),
    ]


def test_what_is_not_written_by_the_standard_says_nothing() -> None:
    broken = 'mx.example.com; spf=pass smtp.mailfrom="a b"@x.cz; dkim=pass header.d=x.cz'
    assert read_results(broken) == ("mx.example.com", [])
