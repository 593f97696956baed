"""Where a mail asks for answers: its Reply-To, and the person whom a contact form names there.

Anybody can write any address into a Reply-To, so it proves nothing about who wrote.
"""

import re
from collections.abc import Collection

from deskhand.mail.header_text import addresses
from deskhand.model.message import Address, Message

LONGEST = 2000
_DAEMONS = ("mailer-daemon", "postmaster", "mail-daemon", "mailerdaemon", "bounce", "bounces")
_NOBODY = re.compile(r"^(?:do[-_.]?not[-_.]?reply|no[-_.]?reply|noreply|donotreply)(?:[-+_.].*)?$")
_WHOLE = re.compile(r"[^\s@<>,;:\"()\[\]]{1,100}@[^\s@<>,;:\"()\[\]]{1,200}")


def is_daemon(address: str) -> bool:
    """Whether a mail server writes from this address."""
    return address.strip().partition("@")[0].lower() in _DAEMONS


def is_nobody(address: str) -> bool:
    """Whether the address says itself that nobody reads what is sent there."""
    return _NOBODY.match(address.strip().partition("@")[0].lower()) is not None


def is_whole(address: str) -> bool:
    """Whether this is one mail address and nothing else."""
    return _WHOLE.fullmatch(address) is not None


def reply_to(message: Message) -> tuple[Address, ...]:
    """The people in a mail's Reply-To, each once; of several such headers the first counts."""
    written = message.headers.get("reply-to", "").partition("\n")[0][:LONGEST]
    people = [person for person in addresses(written) if is_whole(person.address)]
    return tuple({plain(person.address): person for person in people}.values())


def person_behind(message: Message, own_addresses: Collection[str] = ()) -> Address | None:
    """The person for whom a contact form or another program passes words on; None where there is
    none.

    It is the one address in Reply-To, of another organisation than the sender's. An address of the
    sender's own organisation is one more address of the program's.
    """
    people = reply_to(message)
    if len(people) != 1 or not message.words.strip():
        return None
    address = plain(people[0].address)
    if address in map(plain, own_addresses) or is_nobody(address) or is_daemon(address):
        return None
    if _same_organisation(domain_of(address), domain_of(message.sender.address)):
        return None
    return people[0]


def plain(address: str) -> str:
    """An address as it is compared with others."""
    return address.strip().lower()


def domain_of(address: str) -> str:
    return plain(address).rpartition("@")[2]


def _same_organisation(first: str, other: str) -> bool:
    return first == other or first.endswith(f".{other}") or other.endswith(f".{first}")
