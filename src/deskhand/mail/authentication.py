"""Who a mail is from, as the receiving server vouches for it (RFC 8601); else nobody."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from deskhand.mail.automatic import passed_on
from deskhand.mail.crisp import CrispUnreadable, NoCrispHeader, read_crisp
from deskhand.mail.forward import forwarded
from deskhand.mail.public_suffixes import organisational_domain
from deskhand.mail.reply_to import person_behind, plain
from deskhand.model.message import Message
from deskhand.model.principal import ANONYMOUS, Principal, PrincipalKind

HEADER = "authentication-results"
_TOKEN = re.compile(r'\s*(?:(;)|(=)|"((?:[^"\\]|\\.){0,1000})"|([^\s;="()]{1,1000}))')


@dataclass(frozen=True, slots=True)
class AuthenticationResult:
    """One check of the receiving server: `dkim=pass header.d=example.com`."""

    method: str
    result: str
    properties: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MailTrust:
    """Whom a desk believes about a mail's sender."""

    servers: Sequence[str] = ()
    """Receiving servers that check the desk's mail."""
    forwarders: Sequence[str] = ()
    """Helpdesks and contact forms that pass customers' mail on."""
    own: Sequence[str] = ()
    """The addresses that the desk itself writes from."""

    def is_forwarder(self, address: str) -> bool:
        return address.strip().lower() in _plain(self.forwarders)

    def is_own(self, address: str) -> bool:
        return address.strip().lower() in _plain(self.own)


def _plain(names: Sequence[str]) -> set[str]:
    return {name.strip().lower() for name in names}


def principal_of(message: Message, trust: MailTrust) -> Principal:
    """The authenticated sender, a customer whom a trusted forwarder names, or nobody.

    Only the topmost Authentication-Results counts: the receiving server puts its own on top, and
    whatever lies below may have come with the mail.
    """
    proven, why = _proven_sender(message, trust)
    if proven is None:
        return ANONYMOUS.model_copy(update={"how": why})
    return who_wrote(message, proven, why, trust)


def who_wrote(message: Message, proven: str, why: str, trust: MailTrust) -> Principal:
    """The sender, whose address is proven, or the customer whom a trusted forwarder names.

    Nobody, where a program that is no such forwarder passes on what somebody wrote.
    """
    if trust.is_forwarder(proven):
        return _passed_on(message, proven, trust)
    named = passed_on(message, trust.own)
    if named is not None:
        how = f"{proven} passes on what somebody wrote; its Reply-To, {named}, proves nobody"
        return ANONYMOUS.model_copy(update={"how": how})
    return Principal(kind=PrincipalKind.SENDER, address=proven, how=why)


def _passed_on(message: Message, forwarder: str, trust: MailTrust) -> Principal:
    address = _forwarded_address(message, trust)
    if address is None:
        return ANONYMOUS.model_copy(update={"how": f"{forwarder} is trusted but names no customer"})
    return Principal(
        kind=PrincipalKind.FORWARDED,
        address=address,
        how=f"named by {forwarder}, a trusted forwarder",
    )


def _forwarded_address(message: Message, trust: MailTrust) -> str | None:
    """The address of the customer behind a mail that a helpdesk passed on; None if it is unclear.

    The helpdesk's own lines come first: an address that the customer wrote into his text does not
    count. A contact form has no such lines, and names the customer in Reply-To.
    """
    person = person_behind(message, trust.own)
    inner = forwarded(message.body, message.subject)
    if inner is not None and inner.from_.address and inner.message is None:
        named = inner.from_.address
        agreed = person is None or plain(person.address) == plain(named)
        return named if agreed else None
    try:
        return read_crisp(message).patient_email
    except NoCrispHeader:
        return None if person is None else person.address
    except CrispUnreadable:
        return None


def _proven_sender(message: Message, trust: MailTrust) -> tuple[str | None, str]:
    if not trust.servers:
        return None, "the desk names no mail server that it trusts"
    written = message.headers.get("from", "")
    address = message.sender.address.strip()
    local, _, domain = address.rpartition("@")
    if "\n" in written or written.count("@") != address.count("@") + message.sender.name.count("@"):
        return None, "the mail names more than one sender"
    if (
        not local
        or not domain
        or not re.fullmatch(r"[^\s@<>,;:\"]{1,320}", address.replace("@", "", 1))
    ):
        return None, "the sender's address cannot be read"
    topmost = message.headers.get(HEADER, "").partition("\n")[0]
    if not topmost:
        return None, "the receiving server did not check the sender"
    server, results = read_results(topmost)
    if server not in _plain(trust.servers):
        signed_by = server or "nobody"
        return None, f"the topmost Authentication-Results is by {signed_by}, who is not trusted"
    how = _vouched(results, domain.lower())
    if how is None:
        return None, f"{server} found no proof that this is from {domain}"
    return address, f"{how}, says {server}"


def _vouched(results: Sequence[AuthenticationResult], domain: str) -> str | None:
    """How the sender's domain is proven, in words; None when it is not.

    DMARC's verdict counts where there is one, else a passing signature or SPF of the domain.
    """
    verdicts = [check for check in results if check.method == "dmarc"]
    if any(verdict.result not in ("pass", "none", "temperror") for verdict in verdicts):
        return None
    passed = [check for check in results if check.result == "pass"]
    for check in passed:
        named = check.properties.get("header.from", "").lower()
        if check.method == "dmarc" and (named == domain or _same_owner(named, domain)):
            return f"DMARC passed for {named}"
    for check in passed:
        if check.method == "dkim" and _covers(_signer(check), domain):
            return f"signed by {_signer(check)} (DKIM)"
    for check in passed:
        envelope = check.properties.get("smtp.mailfrom", "").rpartition("@")[2].lower()
        if check.method == "spf" and _covers(envelope, domain):
            return f"sent from a server of {envelope} (SPF)"
    return None


def _signer(result: AuthenticationResult) -> str:
    return (
        result.properties.get("header.d")
        or result.properties.get("header.i", "").rpartition("@")[2]
    ).lower()


def _covers(authority: str, domain: str) -> bool:
    """Whether `authority` speaks for the domain: it is the domain, or a parent of it that belongs
    to the same organisation.

    A part of an organisation does not speak for the whole, although DMARC would let it: where
    there is no verdict of DMARC, its owner could not say whether he minds.
    """
    if authority == domain:
        return "." in domain
    return domain.endswith(f".{authority}") and _same_owner(authority, domain)


def _same_owner(domain: str, other: str) -> bool:
    """Whether two domains have one organisational domain; endings like `co.uk` have none."""
    owner = organisational_domain(domain)
    return owner is not None and owner == organisational_domain(other)


# --- RFC 8601


def read_results(value: str) -> tuple[str, list[AuthenticationResult]]:
    """The server that names itself, and its checks; no checks where they cannot be read."""
    groups = list(_groups(_without_comments(value)))
    if not groups or not groups[0] or "=" in groups[0]:
        return "", []
    results: list[AuthenticationResult] = []
    for group in groups[1:]:
        pairs = _pairs(group)
        if pairs is None:
            return groups[0][0].lower(), []
        if pairs:
            (method, result), properties = pairs[0], dict(pairs[1:])
            results.append(
                AuthenticationResult(method.partition("/")[0].lower(), result.lower(), properties)
            )
    return groups[0][0].lower(), results


def _groups(value: str) -> Iterator[list[str]]:
    """Groups of tokens, parted by semicolons."""
    group: list[str] = []
    at = 0
    while match := _TOKEN.match(value, at):
        at = match.end()
        if match[1]:
            yield group
            group = []
        else:
            quoted_or_bare = match[4] if match[3] is None else match[3]
            group.append(match[2] or quoted_or_bare)
    yield group if not value[at:].strip() else []


def _pairs(group: list[str]) -> list[tuple[str, str]] | None:
    """`a = b c.d = e`; None where it is not of that shape."""
    if group in ([], ["none"]):
        return []
    if len(group) % 3 or any(group[index] != "=" for index in range(1, len(group), 3)):
        return None
    return [(group[index].lower(), group[index + 2]) for index in range(0, len(group), 3)]


def _without_comments(value: str) -> str:
    kept: list[str] = []
    depth, quoted, escaped = 0, False, False
    for letter in value:
        if escaped or letter == "\\":
            escaped = not escaped and letter == "\\"
        elif letter == '"' and not depth:
            quoted = not quoted
        elif letter == "(" and not quoted:
            depth += 1
        elif letter == ")" and not quoted and depth:
            depth -= 1
            continue
        if not depth:
            kept.append(letter)
    return "".join(kept)
