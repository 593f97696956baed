"""Where the answer to a message goes, and why a person must confirm that first.

By itself an answer goes to the proven sender, to addresses of his own domain, and to the customer
whom a listed forwarder names. Whatever else a message asks for is shown to a person.
"""

from collections.abc import Iterator

from deskhand.mail.authentication import MailTrust
from deskhand.mail.automatic import passed_on
from deskhand.mail.crisp import is_crisp
from deskhand.mail.reply_to import domain_of, is_daemon, is_nobody, is_whole, plain, reply_to
from deskhand.model.message import UNCHANGED, Message, ReplyAddresses
from deskhand.model.principal import PrincipalKind

MOST_COPIES = 20
"""People in Cc whom an answer goes to as well."""


def reply_addresses(message: Message, trust: MailTrust) -> ReplyAddresses:
    """Where the answer goes; what somebody wrote into the message is never believed alone."""
    principal = message.principal
    if principal.kind is PrincipalKind.FORWARDED and principal.address:
        if not trust.is_own(principal.address):
            return ReplyAddresses(to=principal.address)
        words = f"{message.sender.address} names our own address, {principal.address}"
        return ReplyAddresses(doubt=words)
    of_helpdesk = _from_helpdesk(message, trust)
    if of_helpdesk is not None:
        return of_helpdesk

    asked = _asked_for(message, trust)
    copies = [address for address in _copies(message, trust) if address not in asked]
    to, *more = asked or [_sender(message, trust)]
    cc = tuple([*more, *copies][:MOST_COPIES])
    doubts = [*_doubts_about_to(message, trust, asked, to), *_doubts_about_copies(message, copies)]
    return ReplyAddresses(to=to, cc=cc, doubt="; ".join(doubts) or None)


def _from_helpdesk(message: Message, trust: MailTrust) -> ReplyAddresses | None:
    """For mail that a helpdesk passed on without proof of who wrote; None for any other.

    Its own address is nobody's, so a person says where the answer goes.
    """
    sender = message.sender.address
    named = _named_by_preprocessor(message)
    listed = trust.is_forwarder(sender)
    if not listed and not is_crisp(message) and named is None:
        return None
    if listed:
        why = message.principal.how
    else:
        why = f"{sender} is not among the desk's `forwarders`"
    if message.prepared is not None and message.prepared.failed is not None:
        why = f"{why}; {message.prepared.by} could not read it: {message.prepared.failed}"
    doubt = f"{sender} passes on what customers write, and nobody knows for sure who wrote: {why}"
    return ReplyAddresses(to=named or "", doubt=doubt)


def _named_by_preprocessor(message: Message) -> str | None:
    """The customer whom a preprocessor found in somebody else's mail."""
    prepared = message.prepared
    if prepared is None or prepared.failed is not None or prepared.by in ("", UNCHANGED):
        return None
    address = prepared.address.strip()
    is_other = plain(address) != plain(message.sender.address)
    return address if is_other and is_whole(address) else None


def _asked_for(message: Message, trust: MailTrust) -> list[str]:
    """Addresses in Reply-To, without the sender's own and ours."""
    sender = plain(message.sender.address)
    addresses = [person.address for person in reply_to(message)]
    return [
        address
        for address in addresses
        if plain(address) != sender and not trust.is_own(address) and not is_nobody(address)
    ]


def _sender(message: Message, trust: MailTrust) -> str:
    """The sender's address; empty where no person reads what is sent there."""
    sender = message.sender.address
    unread = trust.is_own(sender) or is_nobody(sender) or is_daemon(sender)
    return "" if unread else sender


def _copies(message: Message, trust: MailTrust) -> list[str]:
    """The people in Cc, each once, without the sender, us and programs."""
    seen = {plain(message.sender.address)}
    copies: list[str] = []
    for person in message.cc:
        address = person.address
        unread = trust.is_own(address) or is_nobody(address) or is_daemon(address)
        if unread or plain(address) in seen or not is_whole(address):
            continue
        seen.add(plain(address))
        copies.append(address)
    return copies


def _doubts_about_to(
    message: Message, trust: MailTrust, asked: list[str], to: str
) -> Iterator[str]:
    sender = message.sender.address
    if not to:
        yield f"nobody reads {sender}, and the message names no other address"
        return
    foreign = [address for address in asked if not _is_of_sender(message, address)]
    if not foreign:
        return
    if passed_on(message, trust.own) is not None:
        yield f"{sender} passed this on for {foreign[0]}, and nobody has proven who wrote"
    else:
        why = _why_foreign(message)
        yield f"{sender} wrote, and asks for answers at {', '.join(foreign)} (Reply-To): {why}"


def _doubts_about_copies(message: Message, copies: list[str]) -> Iterator[str]:
    foreign = [address for address in copies if not _is_of_sender(message, address)]
    if foreign:
        why = _why_foreign(message)
        yield f"{message.sender.address} asks for a copy to {', '.join(foreign)} (Cc): {why}"


def _is_of_sender(message: Message, address: str) -> bool:
    """Whether an address lies in the domain of the sender, who is proven."""
    proven = message.principal.address
    return proven is not None and domain_of(proven) == domain_of(address)


def _why_foreign(message: Message) -> str:
    if message.principal.address is None:
        return "nobody has proven who wrote"
    return "that is another domain than the sender's"
