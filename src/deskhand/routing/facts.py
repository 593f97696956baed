"""What routing rules look at, found out once and only when a rule asks."""

import re
from collections.abc import Callable
from email.utils import getaddresses
from functools import cached_property

from deskhand.model.message import Message

LanguageOf = Callable[[Message], str | None]
IntentOf = Callable[[Message], str | None]
_LOOKED_AT = 100_000
_MOST_ADDRESSES = 500
_LEFT = re.compile(r"[\w.+%'-]{1,64}\Z")
_RIGHT = re.compile(r"[\w-]+(?:\.[\w-]+)*")


def unknown(message: Message) -> None:
    """Nobody is there to say."""
    return


class RoutingFacts:
    """One message as the conditions see it."""

    def __init__(
        self, message: Message, language: LanguageOf = unknown, intent: IntentOf = unknown
    ) -> None:
        self.message = message
        self._language, self._intent = language, intent
        self.sender = message.sender.address.strip().lower()
        self.domain = self.sender.rpartition("@")[2] if "@" in self.sender else ""

    @cached_property
    def subject(self) -> str:
        return self.message.subject.casefold()

    @cached_property
    def language(self) -> str | None:
        return self._language(self.message)

    @cached_property
    def intent(self) -> str | None:
        return self._intent(self.message)

    @cached_property
    def forwarded_from(self) -> dict[str, str]:
        """Addresses a forwarded message may be from, and where each was seen; any of them can be
        forged."""
        body = self.message.body[:_LOOKED_AT]
        addresses = dict.fromkeys(addresses_in(body), "the body") if "@" in body else {}
        for name in ("reply-to", "x-forwarded-from"):
            if written := self.header(name):
                addresses |= dict.fromkeys(_written(written), name.title())
        if self.sender:
            addresses[self.sender] = "the sender"
        return addresses

    def header(self, name: str) -> str:
        return self.message.headers.get(name, "")


def addresses_in(text: str) -> list[str]:
    """Whole addresses: `info@shop.cz` does not stand in `info@shop.cz.evil.example`."""
    addresses: list[str] = []
    at = text.find("@")
    while at >= 0 and len(addresses) < _MOST_ADDRESSES:
        left, right = _LEFT.search(text[max(0, at - 64) : at]), _RIGHT.match(text, at + 1)
        if left is not None and right is not None:
            addresses.append(f"{left[0].lstrip('.')}@{right[0]}".lower())
        at = text.find("@", at + 1)
    return addresses


def _written(header: str) -> list[str]:
    try:
        return [
            address.lower() for _, address in getaddresses(header.split("\n")) if "@" in address
        ]
    except (RecursionError, IndexError):
        return addresses_in(header)
