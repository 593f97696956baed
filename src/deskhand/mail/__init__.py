"""Pure functions over the bytes and the text of a mail."""

from deskhand.mail.forward import Forwarded, forwarded
from deskhand.mail.mailboxes import Mailbox
from deskhand.mail.message_parser import parse
from deskhand.mail.reply import visible_reply

__all__ = ["Forwarded", "Mailbox", "forwarded", "parse", "visible_reply"]
