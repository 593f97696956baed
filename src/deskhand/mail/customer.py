"""The customer behind a mail that a helpdesk such as Crisp passed on: name, address and words."""

import re
from dataclasses import dataclass

from deskhand.mail.forward import forwarded, plain_lines
from deskhand.model.message import Message

_ADDRESS = r"[^\s<>()\[\]@,;:\"]{1,100}@[^\s<>()\[\]@,;:\"]{1,200}"
_HEADLINES = re.compile(
    rf"""^\W{{0,4}}(?:
        (?:New|You\ have\ a\ new|You\ received\ a\ new)\ (?:message|conversation|inquiry|chat)\ (?:from|by)
      | (?:Message|Conversation|Inquiry)\ from
      | (?:Nová|Máte\ novou|Obdrželi\ jste\ novou)\ (?:zpráva|zprávu|konverzace|konverzaci|poptávka)\ od
      | (?:Zpráva|Konverzace|Dotaz)\ od
    )\s*:?\s*(?P<name>[^<(\[:\n]{{0,100}}?)\s*[<(\[]?(?P<address>{_ADDRESS})[>)\]]?\s*:?\s*$""",
    re.I | re.X,
)
_LABELS = {
    "name": ("name", "customer", "visitor", "from", "jméno", "zákazník", "návštěvník", "od", "uživatel"),
    "address": ("email", "e-mail", "email address", "customer email", "e-mailová adresa", "emailová adresa"),
    "message": ("message", "question", "zpráva", "dotaz", "text"),
}
_FOOTERS = re.compile(
    r"""^\W{0,4}(?:
        Reply\ to\ this\ (?:e-?mail|message) | View\ (?:the\ )?(?:full\ )?conversation | Open\ in\ Crisp | Powered\ by
      | Sent\ (?:by|via|with)\ Crisp | You\ (?:are\ )?receiv | Unsubscribe | Odpovězte\ na\ tento | Odpovědět\ na
      | Zobrazit\ konverzaci | Otevřít\ v\ Crisp | Odesláno\ (?:přes|z)\ Crisp | Tento\ e-?mail\ jste | Odhlásit
      | crisp\.chat
    )""",
    re.I | re.X,
)
_ALONE = re.compile(rf"^[<(\[]?({_ADDRESS})[>)\]]?$")
_NAMED = re.compile(rf"^(?P<name>[^<(\[]{{0,100}}?)\s*[<(\[](?P<address>{_ADDRESS})[>)\]]$")
_HEAD = 25
"""Lines in which a helpdesk names the customer; what stands further down is the customer's own text."""


@dataclass(frozen=True, slots=True)
class Customer:
    name: str
    address: str
    message: str


def customer_in(message: Message) -> Customer | None:
    """Who wrote what a helpdesk passed on; nobody where it is not said plainly.

    The helpdesk's own lines come first: a name and an address that the customer wrote into his text do not count.
    """
    found = forwarded(message.body, message.subject)
    if found is not None and found.from_.address and found.message is None:
        return Customer(found.from_.name or "", found.from_.address, found.body)
    lines = plain_lines(message.body[:100_000])
    name, address, start = "", "", 0
    for number, line in enumerate(lines[:_HEAD]):
        text = line.strip().strip("*_ ").strip()
        if headline := _HEADLINES.match(text):
            return Customer(headline["name"].strip(' "'), headline["address"], _words(lines[number + 1 :]))
        label, value = _labelled(text)
        if label == "name" and not name:
            named = _NAMED.match(value)
            name, address = (named["name"].strip(' "'), named["address"]) if named else (value, address)
        elif label == "address" and not address and (alone := _ALONE.match(value)):
            address = alone[1]
        elif label == "message" and address:
            return Customer(name, address, _words([value, *lines[number + 1 :]]))
        elif text and not label:
            break
        start = number + 1
    return Customer(name, address, _words(lines[start:])) if address else None


def _labelled(text: str) -> tuple[str, str]:
    label, colon, value = text.partition(":")
    known = next((name for name, labels in _LABELS.items() if label.strip("* ").casefold() in labels), "")
    return (known, value.strip().strip("* ")) if colon and known else ("", "")


def _words(lines: list[str]) -> str:
    end = next((number for number, line in enumerate(lines) if _FOOTERS.match(line.strip())), len(lines))
    kept = [line.rstrip() for line in lines[:end]]
    while kept and not kept[-1].strip("-_= "):
        kept.pop()
    return "\n".join(kept).strip()
