"""The check of a reply's content: hosts, addresses, account numbers, secrets, other customers,
and what hides."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots import SlotExtractor
from deskhand.model.message import Reply
from deskhand.outgoing.accounts import accounts_in
from deskhand.outgoing.content_finding import AllowedContent, ContentFinding, ContentRule
from deskhand.outgoing.links import ascii_host, is_allowed_host, links_in
from deskhand.outgoing.secrets import canaries_in, keys_in
from deskhand.outgoing.visible_text import VisibleText

MOST_TEXT = 200_000
_HEADERS = ("to", "subject", "in_reply_to", "language")
_IN_HEADER = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)  # those above 0x7f are common in misread names
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
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
    """The same for one text."""
    if len(text) > MOST_TEXT:
        return [
            ContentFinding(
                "too_long",
                f"longer than {MOST_TEXT:,} characters: nobody looks through it",
                "",
                field,
            )
        ]
    check = _Check(text, allowed, field)
    found = {(one.rule, one.start, one.end): one for one in check.findings()}
    return sorted(found.values(), key=lambda finding: (finding.start, finding.end))


class _Check:
    def __init__(self, text: str, allowed: AllowedContent, field: str) -> None:
        self._allowed, self._field = allowed, field
        self._reading = VisibleText(text)
        self._own = {_folded(value) for value in allowed.own}
        self._hosts = frozenset(host.lower().rstrip(".") for host in allowed.hosts)

    def findings(self) -> Iterator[ContentFinding]:
        yield from self._hidden()
        yield from self._links()
        yield from self._loading()
        yield from self._accounts()
        yield from self._phones()
        yield from self._secrets()
        yield from self._others()

    def _hidden(self) -> Iterator[ContentFinding]:
        given = self._reading.given
        for match in _TURNING.finditer(given):
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
        for known in self._hosts:
            if skeleton == (meant := known.removeprefix("*.")):
                return f"the host looks like {meant} but is {ascii_host(host) or 'none'}"
        return f"the host {host[:80]} is not among the desk's own"

    def _address(self, address: str, start: int, end: int) -> Iterator[ContentFinding]:
        known = {_folded(one) for one in self._allowed.addresses} | self._own
        variants = {_folded(address), _folded(address.lstrip(".-_'/=#&?*{|}~"))}
        if not variants & known and not is_allowed_host(address.rpartition("@")[2], self._hosts):
            reason = f"the address {address[:80]} is neither the desk's own nor the customer's"
            yield self._finding("foreign_address", reason, start, end)

    def _loading(self) -> Iterator[ContentFinding]:
        for match in _LOADING.finditer(self._reading.skeleton):
            yield self._finding(
                "remote_content", "it would load or run something at the reader's", *match.span()
            )

    def _accounts(self) -> Iterator[ContentFinding]:
        known = {_digits_and_letters(one) for one in (*self._allowed.accounts, *self._allowed.own)}
        for account in accounts_in(self._reading.plain):
            if _digits_and_letters(account.number) in known:
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
        if not self._allowed.phones:
            return
        known = [_digits(one) for one in (*self._allowed.phones, *self._allowed.own)]
        found = _PHONES.extract(self._reading.plain, now=_EPOCH)["phone"]
        for match in found.matches:
            number = _digits(str(match.value))
            if match.confidence >= 0.8 and not any(_same_number(number, one) for one in known):
                reason = f"the telephone number {match.text} is not among the desk's own"
                yield self._finding("foreign_phone", reason, match.start, match.end)

    def _secrets(self) -> Iterator[ContentFinding]:
        for secret in keys_in(self._reading.plain):
            yield self._finding("secret", "this has the shape of a key", *secret, hide=True)
        for secret in canaries_in(self._reading.plain, self._allowed.canaries):
            yield self._finding("canary", "words that never leave", *secret, hide=True)

    def _others(self) -> Iterator[ContentFinding]:
        others = self._allowed.others
        is_other = others if callable(others) else {_folded(one) for one in others}.__contains__
        if not callable(others) and not others:
            return
        for match in _TOKEN.finditer(self._reading.plain):
            token = match.group().rstrip(".")
            if _folded(token) in self._own:
                continue
            if is_other(token if callable(others) else _folded(token)):
                end = match.start() + len(token)
                yield self._finding(
                    "other_customer",
                    "this is not known to be the customer's own",
                    match.start(),
                    end,
                )

    def _finding(
        self, rule: ContentRule, reason: str, start: int, end: int, *, hide: bool = False
    ) -> ContentFinding:
        first, last = self._reading.span(start, end)
        shown = self._reading.given[first:last]
        return ContentFinding(
            rule, reason, f"{shown[:4]}…" if hide else shown[:200], self._field, first, last
        )


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


def _same_number(one: str, two: str) -> bool:
    """With or without the country's code."""
    shorter, longer = sorted((one.lstrip("0"), two.lstrip("0")), key=len)
    return len(shorter) >= 7 and longer.endswith(shorter)


def _unicode_host(host: str) -> str:
    try:
        return host.encode("ascii").decode("idna") if "xn--" in host.lower() else host
    except UnicodeError:
        return host
