"""Checks what a reply contains: hosts, addresses, accounts, secrets, other customers' data."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from itertools import islice

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots import SlotExtractor
from deskhand.language.slots.phone import may_hold_phone
from deskhand.language.slots.slot_value import SlotMatch
from deskhand.model.message import Reply
from deskhand.outgoing.accounts import accounts_in
from deskhand.outgoing.content_finding import AllowedContent, ContentFinding, ContentRule
from deskhand.outgoing.links import ascii_host, is_allowed_host, links_in
from deskhand.outgoing.secrets import canaries_in, keys_in
from deskhand.outgoing.unproven_names import repeated_names
from deskhand.outgoing.visible_text import VisibleText

MOST_TEXT = 200_000
_HEADERS = ("to", "subject", "in_reply_to", "language")
_IN_HEADER = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""Not those above 0x7f: they are common in misread names."""
_TURNING = re.compile(
    r"[\u202a-\u202e\u2066-\u2069]|(?<!\U0001f3f4)(?<![\U000e0020-\U000e007f])[\U000e0020-\U000e007f]+"
)
_LOADING = re.compile(
    r"<\s*/?\s*(?:img|image|picture|source|script|iframe|frame|object|embed|applet|video|audio|track|link|meta|base|form|"
    r"input|button|svg|math|style|portal|body|table\s[^>]*background)\b[^>]{0,300}>?|"
    r"<[a-z][^>]{0,300}\s(?:on[a-z]{3,20}|style|src|srcset|background|poster|data|formaction|ping)\s*=|"
    r"!\[[^\]]{0,300}\]\s*[\[(]|\burl\(\s*[\"']?\s*(?:https?:|//|data:)|@import\b"
)
_TOKEN = re.compile(r"[^\s,;:!?()\[\]{}<>\"'|]{3,200}")
_PHONES = SlotExtractor([SlotSpec(name="phone", type="phone")])
_MARKS = "_*~|\u00b7\u2022\u2219\u30fb"
"""Marks that a telephone number may be written with, or that may stand behind one."""
_BETWEEN_DIGITS = str.maketrans(_MARKS, " " * len(_MARKS))
_AFTER_DIGITS = str.maketrans(_MARKS, ";" * len(_MARKS))
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LIKELY_PHONE, _SURE_PHONE = 0.6, 0.8
_REGISTERED = re.compile(r"\b(?:siren|siret|ičo?|ico?|dič|hrb|kvk|vat|tva)\W{1,3}$", re.I)
"""What stands before the number of a company in a register."""
_TRACKED = re.compile(
    r"\b(?:tracking|parcel|consignment|sendungs|paket|zásilk|zásilek|sledovac|seguimiento)\w*"
    r"(?: (?:number|no|nummer|číslo|número|code|is|ist|je|es|zní|lautet))*\W{1,3}$",
    re.I,
)
"""What stands before the number of a parcel."""
_LONG_NUMBER = re.compile(r"\+?\(?\d(?:[\s()./\u2010-\u2015-]{0,3}\d){5,19}")


def check_reply(reply: Reply, allowed: AllowedContent) -> list[ContentFinding]:
    """Everything in a reply that may not simply leave, in the order of the text; pure."""
    findings: list[ContentFinding] = []
    for name in _HEADERS:
        value = getattr(reply, name)
        if isinstance(value, str) and (broken := _IN_HEADER.search(value)):
            reason = f"a line break or control character in `{name}` could forge a header"
            findings.append(
                ContentFinding(
                    "header_injection", reason, repr(value[:80]), name, *broken.span(), refused=True
                )
            )
    for name in ("subject", "text"):
        findings += check_text(getattr(reply, name), allowed, field=name)
    return findings


def check_text(text: str, allowed: AllowedContent, *, field: str = "text") -> list[ContentFinding]:
    """Everything in one text that may not simply leave, in the order of the text."""
    if len(text) > MOST_TEXT:
        reason = f"longer than {MOST_TEXT:,} characters: nobody looks through it"
        return [ContentFinding("too_long", reason, "", field)]
    findings = _Check(text, allowed, field).findings()
    distinct = {(finding.rule, finding.start, finding.end): finding for finding in findings}
    return sorted(distinct.values(), key=lambda finding: (finding.start, finding.end))


class _Check:
    def __init__(self, text: str, allowed: AllowedContent, field: str) -> None:
        self._allowed, self._field = allowed, field
        self._reading = VisibleText(text)

    @cached_property
    def _own(self) -> set[str]:
        return {_folded(value) for value in self._allowed.own}

    @cached_property
    def _hosts(self) -> frozenset[str]:
        return frozenset(host.lower().rstrip(".") for host in self._allowed.hosts)

    def findings(self) -> Iterator[ContentFinding]:
        yield from self._hidden()
        yield from self._links()
        yield from self._loading()
        yield from self._accounts()
        yield from self._phones()
        yield from self._names()
        yield from self._secrets()
        yield from self._others()

    def _hidden(self) -> Iterator[ContentFinding]:
        given = self._reading.given
        beyond_ascii = "" if given.isascii() else given
        for match in _TURNING.finditer(beyond_ascii):
            reason = "characters that nobody sees change what is read"
            yield ContentFinding(
                "hidden_text", reason, repr(match.group()[:40]), self._field, *match.span()
            )
        for match in islice(_CONTROL.finditer(given), 1):
            yield ContentFinding(
                "control_characters",
                "a control character",
                repr(match.group()),
                self._field,
                *match.span(),
            )

    def _links(self) -> Iterator[ContentFinding]:
        for link in links_in(self._reading):
            if link.kind == "userinfo":
                yield self._finding(
                    "foreign_host",
                    "a link that hides where it leads behind an @",
                    link.start,
                    link.end,
                )
            elif link.kind == "script":
                yield self._finding(
                    "script_link", "a link that runs something", link.start, link.end
                )
            elif link.kind == "address":
                yield from self._address(link.value, link.start, link.end)
            elif not is_allowed_host(link.value, self._hosts):
                yield self._finding("foreign_host", self._why(link.value), link.start, link.end)

    def _why(self, host: str) -> str:
        skeleton = VisibleText(_unicode_host(host)).skeleton
        for own_host in self._hosts:
            meant = own_host.removeprefix("*.")
            if skeleton == meant:
                return f"the host looks like {meant} but is {ascii_host(host) or 'none'}"
        return f"the host {host[:80]} is not among the desk's own"

    def _address(self, address: str, start: int, end: int) -> Iterator[ContentFinding]:
        expected = {_folded(own) for own in self._allowed.addresses} | self._own
        variants = {_folded(address), _folded(address.lstrip(".-_'/=#&?*{|}~"))}
        host = address.rpartition("@")[2]
        if not variants & expected and not is_allowed_host(host, self._hosts):
            reason = f"the address {address[:80]} is neither the desk's own nor the customer's"
            yield self._finding("foreign_address", reason, start, end)

    def _loading(self) -> Iterator[ContentFinding]:
        for match in _LOADING.finditer(self._reading.skeleton):
            yield self._finding(
                "remote_content", "it would load or run something at the reader's", *match.span()
            )

    def _accounts(self) -> Iterator[ContentFinding]:
        accounts = list(accounts_in(self._reading.plain))
        if not accounts:
            return
        own = (*self._allowed.accounts, *self._allowed.own)
        expected = set(map(_digits_and_letters, own))
        expected |= {f"PL{number}" for number in expected if number.isdecimal()}
        for account in accounts:
            if _digits_and_letters(account.number) in expected:
                continue
            if account.kind == "card":
                yield self._finding(
                    "card_number", "a card number", account.start, account.end, hide=True
                )
            elif account.kind == "crypto":
                yield self._finding(
                    "crypto_address", "an address for crypto money", account.start, account.end
                )
            else:
                reason = f"the account {account.number} is not among the desk's own"
                yield self._finding("foreign_account", reason, account.start, account.end)

    def _phones(self) -> Iterator[ContentFinding]:
        if not may_hold_phone(self._reading.plain):
            return
        matches = [match for match in self._phone_matches() if self._is_phone(match)]
        if not matches:
            return
        expected = set(map(_digits, (*self._allowed.phones, *self._allowed.numbers)))
        for text in (*self._allowed.texts, *self._allowed.said):
            expected |= _numbers_in(text)
        for match in matches:
            number = _digits(str(match.value))
            if not any(_same_number(number, own) for own in expected):
                reason = f"the telephone number {match.text} is not among the desk's own"
                yield self._finding("foreign_phone", reason, match.start, match.end)

    def _phone_matches(self) -> list[SlotMatch]:
        """Phone numbers, with the marks between digits read as spaces; and as ends, where such a
        mark parts a number from other digits."""
        plain = self._reading.plain
        whole_numbers = list(_phones_in(plain.translate(_BETWEEN_DIGITS)))
        apart = plain.translate(_AFTER_DIGITS)
        if apart == plain:
            return whole_numbers
        taken: set[int] = set()
        for match in whole_numbers:
            taken.update(range(match.start, match.end))
        free = (
            match for match in _phones_in(apart) if taken.isdisjoint(range(match.start, match.end))
        )
        return [*whole_numbers, *free]

    def _is_phone(self, match: SlotMatch) -> bool:
        lead = self._reading.plain[max(0, match.start - 40) : match.start]
        if match.text.isdecimal() and _TRACKED.search(lead):
            return False
        if match.confidence >= _SURE_PHONE:
            return True
        before = self._reading.plain[max(0, match.start - 10) : match.start]
        return match.confidence >= _LIKELY_PHONE and not _REGISTERED.search(before)

    def _names(self) -> Iterator[ContentFinding]:
        """The subject is the sender's in any case: only the text is looked at."""
        if self._field != "text" or not self._allowed.unproven_names:
            return
        for start, end in repeated_names(self._reading.plain, self._allowed.unproven_names):
            reason = "the sender calls himself so, and nobody has proven who wrote"
            yield self._finding("unproven_name", reason, start, end)

    def _secrets(self) -> Iterator[ContentFinding]:
        for secret in keys_in(self._reading.plain):
            yield self._finding("secret", "this has the shape of a key", *secret, hide=True)
        for secret in canaries_in(self._reading.plain, self._allowed.canaries):
            yield self._finding("canary", "words that never leave", *secret, hide=True)

    def _others(self) -> Iterator[ContentFinding]:
        is_other = self._other_customers()
        if is_other is None:
            return
        for match in _TOKEN.finditer(self._reading.plain):
            token = match.group().rstrip(".")
            if not is_other(token):
                continue
            reason = "this belongs to another customer, or nobody could say whose it is"
            end = match.start() + len(token)
            yield self._finding("other_customer", reason, match.start(), end)

    def _other_customers(self) -> Callable[[str], bool] | None:
        """Tells whether a word identifies another customer; None where no other is named."""
        others = self._allowed.others
        if callable(others):
            return others
        if not others:
            return None
        identifiers = set(map(_folded, others))
        return lambda token: _folded(token) in identifiers

    def _finding(
        self, rule: ContentRule, reason: str, start: int, end: int, *, hide: bool = False
    ) -> ContentFinding:
        first, last = self._reading.span(start, end)
        written = self._reading.given[first:last]
        shown = f"{written[:4]}…" if hide else written[:200]
        return ContentFinding(rule, reason, shown, self._field, first, last)


def identifiers_in(text: str) -> list[str]:
    """What may be the number of an order, a customer or the like: words with a digit, each once."""
    words = (match.group().rstrip(".") for match in _TOKEN.finditer(VisibleText(text).plain))
    return list(dict.fromkeys(word for word in words if _has_digit(word)))


def _has_digit(word: str) -> bool:
    return any(letter.isdigit() for letter in word)


def _folded(text: str) -> str:
    return text.strip().casefold()


def _digits_and_letters(text: str) -> str:
    return "".join(letter for letter in text.upper() if letter.isalnum())


def _digits(text: str) -> str:
    return "".join(letter for letter in text if letter.isdecimal()).removeprefix("00")


def _phones_in(text: str) -> Sequence[SlotMatch]:
    return _PHONES.extract(text, now=_EPOCH)["phone"].matches


@lru_cache(maxsize=2048)
def _numbers_in(text: str) -> frozenset[str]:
    """The digits of everything in a text that may be a telephone number."""
    return frozenset(_digits(match.group()) for match in _LONG_NUMBER.finditer(text))


def _same_number(number: str, other: str) -> bool:
    """Whether two numbers are the same, with or without the country's code."""
    shorter, longer = sorted((number.lstrip("0"), other.lstrip("0")), key=len)
    return len(shorter) >= 7 and longer.endswith(shorter)


def _unicode_host(host: str) -> str:
    try:
        return host.encode("ascii").decode("idna") if "xn--" in host.lower() else host
    except UnicodeError:
        return host
