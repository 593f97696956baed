"""When somebody would like to meet, and which of the offered times he takes: read from his own
words."""

from deskhand.language.wishes.picks import pick
from deskhand.language.wishes.wish import read_wish

__all__ = ["pick", "read_wish"]
