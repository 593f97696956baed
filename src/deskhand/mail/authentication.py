"""Who a mail is from, as the receiving server vouches for it (RFC 8601); else nobody."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from deskhand.mail.forwarded_customer import Customer, customer_in
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
    """Whom a desk believes: the receiving server that checks its mail, and helpdesks that pass
    customers' mail on."""

    servers: Sequence[str] = ()
    forwarders: Sequence[str] = ()

    def is_forwarder(self, address: str) -> bool:
        return address.strip().lower() in {one.strip().lower() for one in self.forwarders}


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
    """Of a mail whose sender's address is proven: the sender, or the customer whom a trusted
    forwarder names."""
    if trust.is_forwarder(proven):
        return _passed_on(message, proven)
    return Principal(kind=PrincipalKind.SENDER, address=proven, how=why)


def _passed_on(message: Message, forwarder: str) -> Principal:
    customer: Customer | None = customer_in(message)
    if customer is None:
        return ANONYMOUS.model_copy(update={"how": f"{forwarder} is trusted but names no customer"})
    return Principal(
        kind=PrincipalKind.FORWARDED,
        address=customer.address,
        how=f"named by {forwarder}, a trusted forwarder",
    )


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
    if server not in {one.strip().lower() for one in trust.servers}:
        return (
            None,
            f"the topmost Authentication-Results is by {server or 'nobody'}, who is not trusted",
        )
    how = _vouched(results, domain.lower())
    return (
        (address, f"{how}, says {server}")
        if how
        else (None, f"{server} found no proof that this is from {domain}")
    )


def _vouched(results: Sequence[AuthenticationResult], domain: str) -> str | None:
    """DMARC's verdict where there is one, else a passing signature or SPF in the sender's own
    domain."""
    verdicts = [one for one in results if one.method == "dmarc"]
    if any(one.result != "pass" for one in verdicts if one.result not in ("none", "temperror")):
        return None
    for one in verdicts:
        if one.result == "pass" and one.properties.get("header.from", "").lower() == domain:
            return f"DMARC passed for {domain}"
    for one in results:
        if one.result == "pass" and one.method == "dkim" and _covers(_signer(one), domain):
            return f"signed by {_signer(one)} (DKIM)"
    for one in results:
        envelope = one.properties.get("smtp.mailfrom", "").rpartition("@")[2].lower()
        if one.result == "pass" and one.method == "spf" and _covers(envelope, domain):
            return f"sent from a server of {envelope} (SPF)"
    return None


def _signer(result: AuthenticationResult) -> str:
    return (
        result.properties.get("header.d")
        or result.properties.get("header.i", "").rpartition("@")[2]
    ).lower()


def _covers(authority: str, domain: str) -> bool:
    """Whether whoever holds `authority` speaks for the domain: itself or its parent, never its
    child or neighbour."""
    return authority.count(".") >= 1 and (domain == authority or domain.endswith(f".{authority}"))


# --- RFC 8601


def read_results(value: str) -> tuple[str, list[AuthenticationResult]]:
    """The server that signs with its name, and what it checked; a header that cannot be read
    says nothing."""
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
    """Tokens between semicolons."""
    group: list[str] = []
    at = 0
    while match := _TOKEN.match(value, at):
        at = match.end()
        if match[1]:
            yield group
            group = []
        else:
            group.append("=" if match[2] else match[3] if match[3] is not None else match[4])
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
