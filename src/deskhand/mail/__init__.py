"""Pure functions over the bytes and the text of a mail."""

from typing import TYPE_CHECKING, Any

from deskhand.lazy_names import LazyNames

if TYPE_CHECKING:
    from deskhand.mail.forward import Forwarded as Forwarded
    from deskhand.mail.forward import forwarded as forwarded
    from deskhand.mail.mailboxes import Mailbox as Mailbox
    from deskhand.mail.message_parser import parse as parse
    from deskhand.mail.reply import visible_reply as visible_reply

_NAMES = LazyNames(
    globals(),
    {
        "forward": ("Forwarded", "forwarded"),
        "mailboxes": ("Mailbox",),
        "message_parser": ("parse",),
        "reply": ("visible_reply",),
    },
)

__all__ = _NAMES.names


def __getattr__(name: str) -> Any:
    return _NAMES.find(name)


def __dir__() -> list[str]:
    return _NAMES.all_names()
