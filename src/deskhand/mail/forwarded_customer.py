"""The customer behind a mail that a helpdesk passed on: name, address and words."""

from dataclasses import dataclass

from deskhand.mail.crisp import CrispUnreadable, read_crisp
from deskhand.mail.forward import forwarded
from deskhand.model.message import Message


@dataclass(frozen=True, slots=True)
class Customer:
    name: str
    address: str
    message: str


def customer_in(message: Message) -> Customer | None:
    """Who wrote what a helpdesk passed on; nobody where it is not said plainly.

    The helpdesk's own lines come first: a name and an address that the customer wrote into his text
    do not count.
    """
    found = forwarded(message.body, message.subject)
    if found is not None and found.from_.address and found.message is None:
        return Customer(found.from_.name or "", found.from_.address, found.body)
    try:
        crisp = read_crisp(message)
    except CrispUnreadable:
        return None
    return Customer(crisp.patient_name, crisp.patient_email, crisp.original_message)
