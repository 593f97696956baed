"""Hosts and account numbers in a reply that are written so that a check might miss them."""

from pathlib import Path

import pytest

from deskhand.outgoing.accounts import accounts_in
from deskhand.outgoing.content import check_text
from deskhand.outgoing.content_finding import AllowedContent
from tests.kit import lines_run

ENDINGS = Path(__file__).parents[2] / "data" / "top_level_domains.txt"
NOTHING_ALLOWED = AllowedContent(hosts=("acme.example",))


def rules_in(text: str) -> set[str]:
    return {finding.rule for finding in check_text(text, NOTHING_ALLOWED)}


@pytest.mark.parametrize(
    "host",
    [
        *("evil.zuerich", "evil.pl", "evil.rs", "evil.sh", "evil.barclays", "evil.accountants"),
        *(
            "Evil.Cz",
            "Evil.De",
            "my.evil.It",
            "evil-shop.Life",
            "eViL.cZ",
            "EVIL.Zuerich",
            "evil.CO.uk",
            "evil.рф",
            "evil.xn--p1ai",
            "evil.みんな",
            "evil dot cz",
            "evil[.]com",
            "evil (.) com",
            "pay.evil{.}com",
            "x.com",
            "g.co",
            "T.Me/evil",
            "t.me",
            "pay.acme.zip",
            "evil.zip/a",
            "evil dot barclays",
        ),
    ],
)
def test_a_bare_host_is_found_under_any_ending_in_any_case(host: str) -> None:
    assert rules_in(f"Please open {host} today.") == {"foreign_host"}


def test_every_top_level_domain_is_an_ending() -> None:
    lines = ENDINGS.read_text(encoding="ascii").splitlines()
    missed = []
    for ending in " ".join(line for line in lines if not line.startswith("#")).split():
        if ending in ("zip", "mov", "md", "py", "dot"):
            continue
        missed += [
            host for host in (ending, ending.title()) if not rules_in(f"see evil.{host} now")
        ]
    assert missed == []


@pytest.mark.parametrize(
    "text",
    [
        "connect the dot in the list",
        "see returns.md",
        "photos.zip",
        "e.g. this",
        "so.\ud800 on",
    ],
)
def test_words_and_files_are_no_hosts(text: str) -> None:
    assert rules_in(text) == set()


@pytest.mark.parametrize("text", ["Danke.Es geht los.", "Thanks.You can pay."])
def test_two_sentences_without_a_space_may_be_a_host(text: str) -> None:
    assert rules_in(text) == {"foreign_host"}


IBAN, CARD, CZECH = "DE89370400440532013000", "4111111111111111", "19-2000145399/0800"


@pytest.mark.parametrize("number", ["R-KH4KPKG3", "R-JYG6A6TQ", "R-X5QGSIF2", "R-UQAQBYZJ"])
def test_words_beside_a_reference_are_no_account(number: str) -> None:
    text = f"Your reservation is {number}, valid until 18 November 2026."
    assert list(accounts_in(text)) == []


@pytest.mark.parametrize("between", ["", " ", ".", "-", " - ", "\n", "\u2011", "\u00a0", ". "])
@pytest.mark.parametrize("group", [1, 2, 4])
@pytest.mark.parametrize(("number", "rule"), [(IBAN, "foreign_account"), (CARD, "card_number")])
def test_a_number_is_found_with_anything_between_its_digits(
    between: str, group: int, number: str, rule: str
) -> None:
    pieces = [number[place : place + group] for place in range(0, len(number), group)]
    for written in (between.join(pieces), between.join(pieces).lower()):
        assert rules_in(f"Our new account, no 12: {written}\nThank you") >= {rule}


@pytest.mark.parametrize("written", [CZECH, "19 - 2000145399 / 0800", "19-2000 1453 99/0800"])
def test_a_czech_account_is_found_with_spaces(written: str) -> None:
    assert "foreign_account" in rules_in(f"Účet: {written}.")


@pytest.mark.parametrize(
    "text",
    ["Invoices of 12.11.2026, 14.11.2026 and 4.12.2026", "Call +420 601 123 456 or 602 123 457"],
)
def test_dates_and_telephone_numbers_are_no_accounts(text: str) -> None:
    assert rules_in(text) <= {"foreign_phone"}


@pytest.mark.parametrize(
    "piece",
    ["a@b.cz ", "http://a.cz/ ", "&lt;é", "ab.cz ", "4111 1111 ", "DE89 37 ", "212-555-0172|2 "],
)
def test_a_reply_twice_as_long_takes_twice_as_long(piece: str) -> None:
    rules_in(piece * 200)
    once = lines_run(lambda: rules_in(piece * 200))
    twice = lines_run(lambda: rules_in(piece * 400))
    assert twice < 2.5 * once


@pytest.mark.parametrize("between", [" ", ".", "-", "_", "*", "\u00b7", "\u2022", "|", "\u200b"])
def test_a_telephone_number_is_found_however_its_digits_are_set_apart(between: str) -> None:
    for number in ("0900 555 010", "+1 900 555 0100", "7 7 7 1 2 3 4 5 6"):
        written = number.replace(" ", between)
        assert "foreign_phone" in rules_in(f"Please call {written} today."), written


@pytest.mark.parametrize("between", ["|", "_", "*", " | "])
@pytest.mark.parametrize("number", ["212-555-0172", "+1 900 555 0100"])
def test_a_mark_parts_a_telephone_number_from_other_digits(between: str, number: str) -> None:
    for other in ("212-555-0199", "55512345678"):
        written = f"Please call {number}{between}{other} today."
        assert "foreign_phone" in rules_in(written), written


@pytest.mark.parametrize(
    "written",
    [
        "61 1090 1014 0000 0712 1981 2874",
        "61109010140000071219812874",
        "6 1 1 0 9 0 1 0 1 4 0 0 0 0 0 7 1 2 1 9 8 1 2 8 7 4",
        "PL 61 1090 1014 0000 0712 1981 2874",
    ],
)
def test_a_polish_account_is_found_with_and_without_its_country(written: str) -> None:
    [account] = accounts_in(f"Pay to {written}, please.")
    assert account.number == "PL61109010140000071219812874"
    assert account.kind == "iban"
    own = AllowedContent(accounts=(written,))
    assert not list(check_text("Pay to 61 1090 1014 0000 0712 1981 2874, please.", own))
    assert list(accounts_in("Tracking 61 1090 1014 0000 0712 1981 2875.")) == []
